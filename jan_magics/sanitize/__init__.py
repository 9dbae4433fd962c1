"""Clean: messages become messages that a provider accepts. Pure and idempotent."""
