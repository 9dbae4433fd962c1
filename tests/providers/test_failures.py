"""What a server refuses, as typed errors that say the next step."""

import json
import time
import traceback
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import (
    AuthenticationFailed,
    ContextOverflow,
    ModelNotFound,
    ProviderError,
    RateLimited,
    RequestRejected,
    ServerFailed,
)
from jan_magics.providers.complaints import redact
from jan_magics.providers.failures import Asked, failure
from jan_magics.providers.keys import Key
from tests.providers.asking import ASKED
from tests.providers.recordings import load

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - it opens nothing
KEY = Key(SECRET, source="environment OPENAI_API_KEY", origin="http://127.0.0.1:1")


def fail(status: int, body: str | bytes = b"", **headers: str) -> ProviderError:
    data = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure(status, named, data, replace(ASKED, key=KEY), now=NOW)


def words(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, **more}})


@pytest.mark.parametrize(
    ("status", "body", "used", "window"),
    [
        pytest.param(400, load("llama_server-chat_overflow").body, 3031, 1024, id="llama.cpp"),
        pytest.param(400, load("llama_server-chat_overflow_stream").body, 3031, 1024,
                     id="llama.cpp, stream"),
        pytest.param(400, load("llama_cpp_python-chat_overflow").body, 3039, 1024,
                     id="llama-cpp-python"),
        pytest.param(400, words("request (3,031 tokens) exceeds the available context size"
                                " (1,024 tokens), try increasing it"), 3031, 1024,
                     id="llama.cpp, words only"),
        pytest.param(400, words("the request exceeds the available context size. try"),
                     None, None, id="llama.cpp, older"),
        pytest.param(400, words("This model's maximum context length is 4097 tokens. However, your"
                                " messages resulted in 13549 tokens. Please reduce the length of"
                                " the messages.", code="context_length_exceeded"), 13549, 4097,
                     id="OpenAI"),
        pytest.param(400, words("Input exceeds", code="context_length_exceeded"), None, None,
                     id="OpenAI, code only"),
        pytest.param(400, '{"object":"error","message":"This model\'s maximum context length is'
                     ' 2048 tokens. However, you requested 2565 tokens (2053 in the messages, 512'
                     ' in the completion).","type":"BadRequestError","code":400}', 2565, 2048,
                     id="vLLM"),
        pytest.param(400, words("The decoder prompt (length 5000) is longer than the maximum model"
                                " length of 4096."), 5000, 4096, id="vLLM, the prompt alone"),
        pytest.param(400, '{"type":"error","error":{"type":"invalid_request_error","message":'
                     '"prompt is too long: 208310 tokens > 200000 maximum"}}', 208310, 200000,
                     id="Anthropic"),
        pytest.param(400, words("input length and `max_tokens` exceed context limit: 190000 + 20000"
                                " > 200000, decrease input length"), 190000, 200000,
                     id="Anthropic, with the answer"),
        pytest.param(400, '[{"error":{"code":400,"message":"The input token count (1200000) exceeds'
                     ' the maximum number of tokens allowed (1048576).","status":"INVALID"}}]',
                     1200000, 1048576, id="Google"),
        pytest.param(400, words("Prompt contains 40000 tokens and 0 draft tokens, too large for"
                                " model with 32768 maximum context length"), 40000, 32768,
                     id="Mistral"),
        pytest.param(422, words("Input validation error: `inputs` tokens + `max_new_tokens` must be"
                                " <= 8193. Given: 9000 `inputs` tokens"), 9000, 8193,
                     id="Together"),
        pytest.param(400, words("This endpoint's maximum context length is 131072 tokens. However,"
                                " you requested about 150000 tokens (140000 of text input, 10000 in"
                                " the output)."), 150000, 131072, id="OpenRouter"),
        pytest.param(400, '{"error":"Trying to keep the first 6000 tokens when context overflows'
                     '. However, the model is loaded with context length of only 4096 tokens"}',
                     None, 4096, id="LM Studio"),
        pytest.param(400, '{"error":"the input length exceeds the context length"}', None, None,
                     id="Ollama"),
        pytest.param(500, '{"error":"input length exceeds maximum context length"}', None, None,
                     id="Ollama, as its own failure"),
        pytest.param(413, words("Please reduce the length of the messages or completion."), None,
                     None, id="Groq"),
        pytest.param(400, words("This model's maximum prompt length is 131072 but the request"
                                " contains 537812 tokens."), 537812, 131072, id="xAI"),
    ],
)  # fmt: skip
def test_overflow_in_every_wording(
    status: int, body: str | bytes, used: int | None, window: int | None
) -> None:
    error = fail(status, body)
    assert isinstance(error, ContextOverflow)
    assert (error.used, error.window) == (used, window)
    assert "--no-history" in error.next_step


@pytest.mark.parametrize(
    ("status", "body", "kind", "said", "step"),
    [
        pytest.param(401, words("Incorrect API key provided"), AuthenticationFailed,
                     "the key from environment OPENAI_API_KEY", "%chat key test", id="401"),
        pytest.param(403, b"", AuthenticationFailed, "does not accept", "%chat key test", id="403"),
        pytest.param(404, words("The model `x` does not exist"), ModelNotFound, "test:model",
                     "%chat models", id="404"),
        pytest.param(400, words("x is not a valid model ID"), ModelNotFound, "valid model",
                     "%chat models", id="no such model, 400"),
        pytest.param(404, '{"error":"model \\"x\\" not found, try pulling it first"}',
                     ModelNotFound, "pulling", "%chat use MODEL", id="Ollama"),
        pytest.param(404, load("llama_server-notfound").body, ModelNotFound, "404",
                     "%chat models", id="llama.cpp"),
        pytest.param(429, words("Rate limit reached"), RateLimited, "no more requests", "Wait",
                     id="429"),
        pytest.param(503, words("Loading model", type="unavailable_error", code=503),
                     ServerFailed, "still being loaded", "Wait a moment", id="loading"),
        pytest.param(400, load("llama_server-n2").body, RequestRejected, "400", "%chat show --sent",
                     id="n=2"),
        pytest.param(400, load("llama_server-two_assistants_end").body, RequestRejected,
                     "2 or more assistant messages", "%chat show --sent", id="two assistants"),
        pytest.param(400, load("llama_server-bad_json_type").body, RequestRejected,
                     "to be an array", "%chat show --sent", id="bad type"),
        pytest.param(500, load("llama_server-image_part").body, RequestRejected,
                     "image input is not supported", "%chat use MODEL", id="no images"),
        pytest.param(500, load("llama_cpp_python-bad_json_type").body, ServerFailed,
                     "valid list", "Run the cell again", id="llama-cpp-python"),
        pytest.param(422, '{"detail":[{"loc":["body"],"msg":"extra fields not permitted"}]}',
                     RequestRejected, "extra fields", "%chat show --sent", id="FastAPI"),
        pytest.param(502, "<html><head><style>p{}</style></head><body><h1>Bad Gateway</h1></body>",
                     ServerFailed, "(502): Bad Gateway", "Run the cell again", id="a proxy's page"),
        pytest.param(500, b"", ServerFailed, "(500)", "Run the cell again", id="no body"),
        pytest.param(402, words("Insufficient Balance"), RequestRejected, "Insufficient Balance",
                     "%chat use MODEL", id="402"),
        pytest.param(302, b"", RequestRejected, "redirect (302)", "https://HOST", id="redirect"),
    ],
)  # fmt: skip
def test_kinds(
    status: int, body: str | bytes, kind: type[ProviderError], said: str, step: str
) -> None:
    error = fail(status, body)
    assert type(error) is kind
    assert said in error.message
    assert step in error.next_step
    assert "\n" not in error.message + error.next_step
    assert (error.status, error.model) == (status, "test:model")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12", 12.0),
        ("0.5", 0.5),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", None),
        ("soon", None),
        ("-3", None),
        ("inf", None),
        ("nan", None),
        ("", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    error = fail(429, b"", retry_after=value)
    assert isinstance(error, RateLimited)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("value", "said"),
    [("7", "Wait 7 s"), ("0.5", "Wait 0.5 s"), ("200", "Wait 4 min"), ("86400", "Wait 24 h"),
     ("soon", "Wait a while")],
)  # fmt: skip
def test_how_long_to_wait_is_told(value: str, said: str) -> None:
    assert fail(429, b"", retry_after=value).next_step.startswith(said)


def test_a_server_that_is_down_for_a_while_says_so_too() -> None:
    assert fail(503, b"", retry_after="30").next_step.startswith("Wait 30 s and run the cell")
    loading = words("Loading model", type="unavailable_error", code=503)
    assert fail(503, loading, retry_after="5").next_step.startswith("Wait 5 s")


@pytest.mark.parametrize("status", [302, 400, 401, 402, 404, 413, 429, 500, 503])
def test_a_server_without_a_name_is_called_by_its_host(status: int) -> None:
    asked = Asked("https://gpu.example:8443/v1#m", "custom", "https://gpu.example:8443/v1")
    error = failure(status, {}, words("Loading model").encode(), asked, now=NOW)
    assert "custom" not in str(error)
    assert "gpu.example:8443" in error.message


@pytest.mark.parametrize(
    ("key", "step"),
    [
        (None, "Store a key: %chat key https://gpu.example"),
        ("keys.toml", "Store another key: %chat key https://gpu.example"),
        ("environment X_KEY", "Set another X_KEY, or take it away and type: %chat key https://"),
        ("keyring", "Give another key there (keyring)."),
        ("Chat(api_key=…)", "Give another key there (Chat(api_key=…))."),
    ],
)
def test_a_refused_key_is_changed_where_it_is_from(key: str | None, step: str) -> None:
    held = Key(SECRET, source=key, origin="https://gpu.example") if key else None
    asked = Asked("https://gpu.example/v1#m", "custom", "https://gpu.example/v1", held)
    assert failure(401, {}, b"", asked, now=NOW).next_step.startswith(step)


def test_long_words_are_cut_and_read_in_no_time() -> None:
    begun = time.perf_counter()
    for body in (words("maximum context length is 1 " * 3000), words("x" * 60000, code="y" * 9000)):
        for status in (400, 500):
            assert len(str(fail(status, body))) < 600
    assert time.perf_counter() - begun < 1.0


def test_words_of_a_server_steer_nothing() -> None:
    error = fail(400, words("\x1b[31mred \u202eright\x07 过"))
    assert error.message.endswith(": [31mred right 过")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@pytest.mark.parametrize(
    "body",
    [
        words(f"Incorrect API key provided: {SECRET}. You can find"),
        f"<p>Authorization: Bearer {SECRET}</p>",
        words("bad", type=f"x {SECRET}"),
        f'{{"error": "token={SECRET}"}}',
    ],
)
def test_no_error_repeats_the_key(status: int, body: str) -> None:
    error = fail(status, body)
    shown = "".join(
        traceback.TracebackException.from_exception(error, capture_locals=True).format()
    )
    assert SECRET not in f"{error} {error!r} {error.__dict__} {shown}"
    assert SECRET[:12] not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-AbCdEfGhIjKlMnOp",
        "sk-proj-****************abcd",
        "gsk_abcdefghijklmnop",
        "Bearer abc.def",
        "xai-abcdefghijklmnop",
        "hf_abcdefghijklmnop",
    ],
)
def test_whatever_looks_like_a_key_is_replaced(text: str) -> None:
    assert redact(f"a {text} b", None) == "a [key] b"


def test_plain_words_stay() -> None:
    said = "the key is wrong; keyboard-shortcuts, risk-assessment, tokens=12 sk-1"
    assert redact(said, None) == said


@given(st.integers(300, 599), st.binary(max_size=200) | st.text(max_size=200))
def test_any_answer_is_a_typed_error(status: int, body: str | bytes) -> None:
    error = fail(status, body.encode("utf-8", "replace") if isinstance(body, str) else body)
    assert isinstance(error, ProviderError)
    assert error.message
    assert error.next_step


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"message": "Failed after 2 attempts. Last error: no such thing"}, ": no such thing"),
        ({"errors": [{"message": "first"}, {"message": "last"}]}, ": last"),
        ({"message": "\n------------\nWhile executing X at line 3\n  x\n  ^\nError: Jinja: no"},
         ": Jinja: no"),
        ({"message": "While executing" + "\n" * 60_000}, ": While executing"),
    ],
)  # fmt: skip
def test_what_clients_and_templates_say_around_an_error_is_left_out(
    said: object, words: str
) -> None:
    body = json.dumps({"error": said}).encode()
    error = failure(400, {}, body, ASKED, now=NOW)
    assert error.message.endswith(words)
