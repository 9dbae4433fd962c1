"""What counts as a key, a password, an address of a person; and what only looks like one."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.secret_shapes import KEYS
from jan_magics.domain.secrets import PEOPLE, scrubbed, secrets_in
from tests.leaky import ANTHROPIC, AWS, BLOCK, BODY, DATABASE, GITHUB, OPENAI

JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiI0MiJ9." + BODY

FOUND = {
    f"key = {ANTHROPIC}": "Anthropic key",
    f"密钥是{OPENAI}，别告诉别人 🔑": "OpenAI key",
    f"密钥{GITHUB}是我的": "GitHub token",
    "sk-" + BODY: "OpenAI key",
    f"token:{GITHUB};": "GitHub token",
    AWS: "AWS key",
    "AIza" + "Sy" + BODY + "a": "Google key",
    "hf" + "_" + BODY: "Hugging Face token",
    "xox" + "b-123456789012-" + BODY: "Slack token",
    "sk" + "_live_" + BODY: "Stripe key",
    "gsk" + "_" + BODY + BODY: "Groq key",
    "bot 7213456789:A" + "A" + (BODY + BODY)[:33]: "Telegram token",
    "https://discord.com/api/web" + "hooks/123456789012345678/" + BODY + BODY: "Discord webhook",
    BLOCK: "private key",
    BLOCK.partition("\n-----END")[0]: "private key",
    JWT: "JWT",
    DATABASE: "password",
    "Server=db;User Id=ada;Password=Tr0ub4dor;": "password",
    f'{{"client_secret": "{BODY}"}}': "random value",
    f"API_KEY={BODY}": "random value",
    f"Authorization: Bearer {BODY}": "random value",
    "redis://:Tr0ub4dor@cache.lovelace.org:6379": "password",
    "write to ada.lovelace@analytical.org, please": "e-mail",
    "邮箱zhang.wei@qq.com": "e-mail",
    "mailto:ada@analytical.org": "e-mail",
    "tel +49 30 901820 11": "phone",
    "电话+86 10 1234 5678": "phone",
    "call (617) 542-5942": "phone",
    "手机：13812345678": "phone",
    "138-1234-5678": "phone",
}
NOTHING = (
    "sk-learn-contrib-is-a-long-name-with-words",
    "task-" + BODY,
    "AKIAIOSFODNN7" + "EXAMPLE",
    "sk-proj-your-key-goes-here-please-now",
    "sk-" + "x" * 40,
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "https://user:password@example.com",
    "postgresql://ada:{password}@db.lovelace.org",
    "git@github.com:ada/notes.git",
    "ada@example.com and ada@localhost and icon@2x.png and getty@tty1.service",
    "https://ada@host.org/path",
    "test-user@gmail.com and <20110813065417.GV2324@mail.lovelace.org>",
    "token = tokenizer.encode_ordinary_text_of(prompt)",
    "password = getpass.getpass('Password: ')",
    "3.14159265358979 20260309123456 1700000000000",
    "2026-11-30 12:00:00+01:00",
    "call 13812 or 1381234567890123",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
)


@pytest.mark.parametrize("text", FOUND, ids=lambda text: text[:18])
def test_what_is_found(text: str) -> None:
    found = secrets_in(text)
    assert [each.kind for each in found] == [FOUND[text]]
    secret = text[found[0].start : found[0].end]
    assert secret not in repr(found)
    assert BODY not in found[0].sample


@pytest.mark.parametrize("text", NOTHING, ids=lambda text: text[:18])
def test_what_only_looks_like_one(text: str) -> None:
    assert secrets_in(text) == ()


@pytest.mark.parametrize("shape", KEYS, ids=lambda shape: shape.begins)
def test_every_shape_finds_a_key(shape: object) -> None:
    begins = shape.begins  # type: ignore[attr-defined]
    pool = ("0123456789abcdef" * 8, "0123456789abcdef" * 2, BODY * 4, "Q7XZ2MNB4LKJ5PRT",
            "b-" + BODY, "1-" + BODY, f"T{BODY[:9]}/B{BODY[:9]}/{BODY}", f"pt_{BODY.lower()}",
            f"{BODY[:22]}.{BODY}{BODY}", BODY + "a",
            f"123456789012345678/{BODY}{BODY}")  # fmt: skip
    assert any(shape.pattern.fullmatch(begins + body) for body in pool)  # type: ignore[attr-defined]


def test_only_keys_stop() -> None:
    stops = {kind: [e.stops for e in secrets_in(text)] for text, kind in FOUND.items()}
    assert {kind for kind, (each,) in stops.items() if not each} == {
        "JWT", "password", "random value", "e-mail", "phone",
    }  # fmt: skip


def test_the_surer_one_counts_where_two_overlap() -> None:
    assert [e.kind for e in secrets_in(f"api_key = '{ANTHROPIC}'")] == ["Anthropic key"]


def test_an_escaped_line_break_ends_a_word() -> None:
    assert [e.kind for e in secrets_in(rf'"first\n{GITHUB}\nlast"')] == ["GitHub token"]


def test_scrubbing_leaves_the_rest_and_the_people() -> None:
    text = f"ada@analytical.org says 你好 {OPENAI}\n{BLOCK}\nend"
    assert scrubbed(text) == (
        "ada@analytical.org says 你好 [OpenAI key removed]\n[private key removed]\nend"
    )


@given(st.lists(st.sampled_from([*FOUND, *NOTHING, "\n", " ", "猫🐈", '"'])).map("\n".join))
def test_scrubbing_leaves_no_secret_behind(text: str) -> None:
    clean = scrubbed(text)
    assert {each.kind for each in secrets_in(clean)} <= {*PEOPLE}
    assert scrubbed(clean) == clean


@given(st.text())
def test_any_text_can_be_looked_through(text: str) -> None:
    assert all(0 <= e.start < e.end <= len(text) for e in secrets_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----" * 4000,
        "eyJ" * 33_000,
        "a@" * 50_000,
        "token=" * 16_000,
        "1" * 100_000,
        "+1 " * 33_000,
        "://a:b" * 16_000,
        "sk-" * 33_000,
        "server=" * 14_000 + "password=",
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_long(text: str) -> None:
    begun = perf_counter()
    secrets_in(text)
    assert perf_counter() - begun < 2


@pytest.mark.parametrize("mark", ["\x1b", r"\u001b", r"\x1b", r"\033"])
def test_colours_hide_no_key(mark: str) -> None:
    red, plain = f"{mark}[01;31m", f"{mark}[0m"
    within = f"{red}{GITHUB[:9]}{plain}{mark}[K{GITHUB[9:]}"
    for shown in (f"{red}{GITHUB}{plain}", f"错误 🔥 {within}{plain} end", f"{plain}a {within}"):
        (found,) = secrets_in(shown)
        assert found.kind == "GitHub token"
        clean = scrubbed(shown)
        assert GITHUB[9:] not in clean
        assert "[GitHub token removed]" in clean
    assert scrubbed(f"{red}no key{plain}") == f"{red}no key{plain}"
