"""What keys and tokens look like, by who gives them out: data, not code.

A shape is looked for where its beginning stands, so a text without any of these words is read in
no time. Lengths are a little below the real ones: what was cut at a line's end is still a key.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Shape:
    """A key by its literal beginning; `pattern` matches the whole of it from there on."""

    kind: str
    begins: str
    pattern: re.Pattern[str]


def _shape(kind: str, begins: str, rest: str) -> Shape:
    return Shape(kind, begins, re.compile(re.escape(begins) + rest, re.ASCII))


_KEYS: Final = (
    ("Anthropic key", "sk-ant-", r"[\w-]{20,}"),
    ("OpenRouter key", "sk-or-", r"[\w-]{20,}"),
    ("OpenAI key", "sk-proj-", r"[\w-]{20,}"),
    ("OpenAI key", "sk-svcacct-", r"[\w-]{20,}"),
    ("OpenAI key", "sk-admin-", r"[\w-]{20,}"),
    # Many servers give out such keys: a long run makes it one, not words-with-dashes.
    ("OpenAI key", "sk-", r"(?:[a-z]{2,8}-)?[A-Za-z0-9]{20,}(?:[-_][A-Za-z0-9]+)*"),
    ("Google key", "AIza", r"[\w-]{35}"),
    ("Google key", "GOCSPX-", r"[\w-]{20,}"),
    ("Google key", "ya29.", r"[\w-]{30,}"),
    ("GitHub token", "ghp_", r"[A-Za-z0-9]{30,}"),
    ("GitHub token", "gho_", r"[A-Za-z0-9]{30,}"),
    ("GitHub token", "ghu_", r"[A-Za-z0-9]{30,}"),
    ("GitHub token", "ghs_", r"[A-Za-z0-9]{30,}"),
    ("GitHub token", "ghr_", r"[A-Za-z0-9]{30,}"),
    ("GitHub token", "github_pat_", r"\w{30,}"),
    ("GitLab token", "glpat-", r"[\w-]{20,}"),
    ("AWS key", "AKIA", r"[A-Z0-9]{16}"),
    ("AWS key", "ASIA", r"[A-Z0-9]{16}"),
    ("Slack token", "xox", r"[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("Slack token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    ("Slack token", "hooks.slack.com/services/", r"T\w{6,}/B\w{6,}/\w{16,}"),
    ("Hugging Face token", "hf_", r"[A-Za-z0-9]{24,}"),
    ("Stripe key", "sk_live_", r"[A-Za-z0-9]{16,}"),
    ("Stripe key", "sk_test_", r"[A-Za-z0-9]{16,}"),
    ("Stripe key", "rk_live_", r"[A-Za-z0-9]{16,}"),
    ("Stripe key", "rk_test_", r"[A-Za-z0-9]{16,}"),
    ("Stripe key", "whsec_", r"[A-Za-z0-9]{24,}"),
    ("Groq key", "gsk_", r"[A-Za-z0-9]{30,}"),
    ("xAI key", "xai-", r"[A-Za-z0-9]{40,}"),
    ("Perplexity key", "pplx-", r"[A-Za-z0-9]{30,}"),
    ("Replicate token", "r8_", r"[A-Za-z0-9]{30,}"),
    ("Fireworks key", "fw_", r"[A-Za-z0-9]{20,}"),
    ("Together key", "tgp_v1_", r"[\w-]{30,}"),
    ("NVIDIA key", "nvapi-", r"[\w-]{40,}"),
    ("Cerebras key", "csk-", r"[A-Za-z0-9]{30,}"),
    ("Jina key", "jina_", r"[A-Za-z0-9]{30,}"),
    ("Tavily key", "tvly-", r"(?:[a-z]+-)?[A-Za-z0-9]{20,}"),
    ("LangSmith key", "lsv2_", r"(?:pt|sk)_[a-z0-9_]{30,}"),
    ("Databricks token", "dapi", r"[0-9a-f]{32}"),
    ("npm token", "npm_", r"[A-Za-z0-9]{30,}"),
    ("PyPI token", "pypi-AgE", r"[\w-]{40,}"),
    ("SendGrid key", "SG.", r"[\w-]{16,}\.[\w-]{30,}"),
    ("Twilio key", "SK", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("DigitalOcean token", "dop_v1_", r"[0-9a-f]{40,}"),
    ("Shopify token", "shpat_", r"[0-9a-fA-F]{32}"),
    ("Azure key", "AccountKey=", r"[A-Za-z0-9+/]{60,}={0,2}"),
    ("Notion token", "ntn_", r"[A-Za-z0-9]{40,}"),
    ("Linear key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    ("Figma token", "figd_", r"[\w-]{30,}"),
    # The number of the bot stands before it, and is no secret.
    ("Telegram token", ":AA", r"[\w-]{33}(?![\w-])"),
    ("Discord webhook", "discord.com/api/webhooks/", r"\d{17,20}/[\w-]{40,}"),
    ("Discord webhook", "discordapp.com/api/webhooks/", r"\d{17,20}/[\w-]{40,}"),
    ("Vault token", "hvs.", r"[\w-]{24,}"),
)
KEYS: Final = tuple(_shape(*each) for each in _KEYS)
"""Keys that their beginning tells, the more special ones first."""

COLOURS: Final = re.compile(
    r"(?:\x1b|\\(?:u001[bB]|x1[bB]|033))(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))"
)
"""What a terminal reads as a colour or a link, raw or escaped."""
COLOUR_MARKS: Final = ("\x1b", "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033")

PRIVATE: Final = "-----BEGIN "
PRIVATE_HEAD: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_END: Final = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_BODY: Final = re.compile(r"[A-Za-z0-9+/]{16,}")
PRIVATE_REST: Final = re.compile(
    r"(?:\s*[A-Z][\w-]{2,20}: [^\n]{1,80}\n)*(?:(?:\s|\\n)*[A-Za-z0-9+/]{16,76}={0,2})*", re.ASCII
)
"""The lines of a block whose end is missing."""

JWT: Final = re.compile(r"eyJ[\w-]{8,4000}\.eyJ[\w-]{8,9000}\.[\w-]{8,4000}", re.ASCII)
PASSWORD_IN_ADDRESS: Final = re.compile(
    r"://([^\s:/@'\"<>`,]{0,80}):([^\s/@'\"<>`,]{3,200})@([\w.\[-]+)", re.ASCII
)
PASSWORD_IN_DSN: Final = re.compile(
    r"(?:server|host|data source)=[^\n'\"]{1,200}?(?:password|pwd)=([^;\s'\"]{6,})", re.IGNORECASE
)
NAMING: Final = ("api_key", "api-key", "apikey", "secret", "token", "passw", "passphrase")
"""Words in small letters; what they name should not be read by others."""
NAMED: Final = re.compile(
    r"\w+[\w-]{0,24}[\"']?[ \t]*(?::|=>?|:=)[ \t]*[\"']?"
    r"([A-Za-z0-9+/_.~-]{20,200}={0,2})(?![\w(\[])",
    re.ASCII,
)
"""From such a word on: what it names."""
BEARER: Final = re.compile(r"[Bb]earer[ ]+([A-Za-z0-9+/_.~-]{20,400}={0,2})", re.ASCII)
"""What a request shows who it is from."""

MAIL_NAME: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-"
LONGEST_NAME: Final = 64
"""Chars before the @, of which are those above."""
MAIL_HOST: Final = re.compile(
    r"((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.)+([A-Za-z]{2,24}))(?![A-Za-z0-9@/:-])"
)
NO_HOST: Final = re.compile(
    r"(?:^|\.)(?:example(?:\.\w+)?|invalid|test|localhost|local|localdomain|internal|tld|domain"
    r"|noreply\.github\.com|(?:foo|bar|acme|(?:my|your|some)-?dom(?:ain)?|domain|company)\.\w+)$",
    re.IGNORECASE,
)
NO_NAME: Final = re.compile(
    r"(?:test[-_.]?)?user(?:name)?\d?|(?:your|my|first)[-_.]?\w*name|some(?:one|body)|foo|bar"
    r"|\d{8,}[.-].*",  # the number of a message, not who wrote it
    re.IGNORECASE,
)
"""Names that stand for any."""
FILE_ENDINGS: Final = frozenset({
    "png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "py", "js", "ts", "css", "html", "json",
    "yml", "yaml", "toml", "service", "socket", "target", "timer", "mount", "slice", "device",
    "path", "conf", "log", "txt", "gz", "deb", "rpm", "whl", "jar", "exe", "dll", "so",
})  # fmt: skip
PHONES: Final = (
    ("+", re.compile(
        r"\+(?<![\w.+*/^)=-]\+)[1-9]\d{0,2}(?:[ -]?\(0?\d{1,4}\))?"
        r"(?:[ -]\d{2,6}){2,5}(?![\w.-]?\d)",
        re.ASCII,
    )),
    ("(", re.compile(r"\((?<![\w.)]\()[2-9]\d\d\)[ ]?[2-9]\d\d-\d{4}(?![\w-])", re.ASCII)),
    ("-", re.compile(r"[2-9](?<![\w./+-][2-9])\d\d-[2-9]\d\d-\d{4}(?![\w/-]|\.\d)", re.ASCII)),
    ("1", re.compile(r"1(?<![0-9.A-Za-z_-]1)[3-9]\d([ -])\d{4}\1\d{4}(?![\w-])", re.ASCII)),
)  # fmt: skip
"""Telephone numbers, each behind a sign without which a text has none of them."""
BARE_PHONE: Final = re.compile(r"1(?<!\d1)[3-9]\d{9}(?!\d)", re.ASCII)
"""A number of China without a space; only a word before it tells that it is one."""
PHONE_WORD: Final = re.compile(r"(?:手机|电话|微信|联系|tel|phone|mobile|mob|call)", re.IGNORECASE)

_BEGUN: Final = r"\b(?:(?:sk|pk|rk|gsk|xai|pplx|fw|tgp|hf|ghp|glpat)[-_]|AIza)"
TYPED: Final = re.compile(
    rf"{_BEGUN}[A-Za-z0-9_-]{{20,}}"
    r"|https?://\S*[?&][\w-]*(?:key|token|auth|secret|passw)[\w-]*=",
    re.IGNORECASE,
)
"""What looks like a key on a magic line, also in the query of an address."""
BEGUN: Final = re.compile(r"(?:sk|gsk|pk|xai|hf|ghp|glpat)[-_]|AIza")
"""How a name begins that is rather a key."""
REPEATED: Final = re.compile(
    rf"bearer\s+\S+|{_BEGUN}[A-Za-z0-9_*.-]{{12,}}"
    r"|(?<=key=)[^\s&\"']+|(?<=key: )\S+|(?<=token=)[^\s&\"']+",
    re.IGNORECASE,
)
"""What servers repeat of a key in their complaints, often with stars in it."""
