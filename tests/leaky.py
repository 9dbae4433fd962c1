"""Keys that nobody has, put together here so that no file of the repository holds one."""

BODY = "aB3dE5fG7hI9jK1mN2pQ4rS6tU8vW0xY"
ANTHROPIC = "sk-" + "ant-api03-" + BODY * 2
OPENAI = "sk-" + "proj-" + BODY + BODY[:12]
GITHUB = "ghp" + "_" + BODY + "Zz91"
AWS = "AKI" + "A" + "Q7XZ2MNB4LKJ5PRT"
BLOCK = (
    "-----BEGIN RSA " + "PRIVATE KEY-----\n"
    "MIIEpAIBAAKCAQEAx1v0Zl2b7Yt9dV3sQeHk4nWc8gJ5mR6uP0oT1iLfA2yBzXqE\n"
    "Kd7wNvUj3hGs5rCt9pMxOaF8lYb2eZi4kVqDnW6uJ1cTg0SoHfRm\n"
    "-----END RSA " + "PRIVATE KEY-----"
)
DATABASE = "postgresql://" + "ada:Tr0ub4dor" + "@db.lovelace.org/notes"
