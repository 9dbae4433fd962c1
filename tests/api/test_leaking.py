"""A key does not leave the machine: what is stopped, what only warns, what nothing is lost of."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import LeakFound
from jan_magics.domain.models import ChatRequest, ModelRef, Purpose
from jan_magics.engine.deck import Deck
from jan_magics.engine.leaks import Guard
from jan_magics.engine.taped import TapedProvider
from jan_magics.providers.offline import OfflineProvider
from tests.kernel import running_kernel
from tests.leaky import ANTHROPIC, BLOCK, BODY, GITHUB, OPENAI
from tests.providers.loopback import Reply, Server, chunked
from tests.providers.serving import serving_here
from tests.providers.test_embeddings import rows

MODEL = ModelRef("offline", "echo")
WORD = b'data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}\n\n'
GOOD = chunked(WORD, b"data: [DONE]\n\n")
CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":'
    b'{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\n'
)


@contextmanager
def away(*replies: Reply) -> Iterator[Server]:
    """A server on this machine under a name that does not say so: 127.1 is 127.0.0.1."""
    with serving_here(*(replies or (GOOD,))) as server:
        folder = Path(os.environ["JAN_CONFIG_FOLDER"])
        folder.mkdir(parents=True, exist_ok=True)
        address = server.address.replace("127.0.0.1", "127.1")
        (folder / "config.toml").write_text(f'[providers.far]\naddress = "{address}"\n')
        yield server


def sent(server: Server) -> bytes:
    return b"".join(server.bodies)


@pytest.mark.parametrize("secret", [ANTHROPIC, OPENAI, GITHUB, BLOCK], ids=["a", "o", "g", "pem"])
def test_a_prompt_with_a_key_is_stopped(secret: str) -> None:
    with away() as server, jan.Chat("far away", model="far:m") as chat:
        with pytest.raises(LeakFound) as stopped:
            chat.send(f"为什么 {secret} 不行？")
        assert BODY not in str(stopped.value)
        assert "nothing was sent to 127.1: what looks like a" in str(stopped.value)
        assert "stands in the prompt" in str(stopped.value)
        assert str(stopped.value).endswith("send it all the same: --send-anyway")
        assert server.bodies == []
        assert list(chat.messages(all=True).text) == []
    assert "far away" not in list(jan.threads().title)


def test_a_dry_run_says_that_it_would_be_stopped() -> None:
    with away() as server, jan.Chat("t", model="far:m") as chat:
        told = str(chat.send(f"use {OPENAI}", dry_run=True))
        anyway = str(chat.send(f"use {OPENAI}", dry_run=True, send_anyway=True))
    assert "but      nothing would be sent to 127.1: what looks like an OpenAI key" in told
    assert "would be sent to" not in anyway
    assert server.bodies == []


def test_it_is_sent_when_the_user_says_so() -> None:
    with away() as server, jan.Chat("t", model="far:m") as chat:
        answer = chat.send(f"what is {OPENAI}?", send_anyway=True)
    assert answer.text == "one"
    assert OPENAI.encode() in sent(server)


def test_on_this_machine_nothing_is_stopped() -> None:
    with serving_here(GOOD) as server:
        folder = Path(os.environ["JAN_CONFIG_FOLDER"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f'[providers.near]\naddress = "{server.address}"\n')
        with jan.Chat("t", model="near:m") as chat:
            assert chat.send(f"what is {OPENAI}?").text == "one"


def test_instructions_are_looked_through_too() -> None:
    with away() as server, jan.Chat("t", model="far:m", system=f"Use {GITHUB}") as chat:
        with pytest.raises(LeakFound, match=r"a GitHub token, .* stands in the instructions"):
            chat.send("hi")
        assert server.bodies == []


def test_an_attached_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "环境.txt").write_text(f"KEY={ANTHROPIC}\n", "utf-8")
    with away() as server, jan.Chat("t", model="far:m") as chat:
        with pytest.raises(LeakFound, match=r"an Anthropic key, .*the attached 环境\.txt"):
            chat.send("look", attach=[str(tmp_path / "环境.txt")])
        assert server.bodies == []


def test_what_was_said_here_before_does_not_go_elsewhere() -> None:
    with away() as server, jan.Chat("t", model="offline:echo") as chat:
        chat.send(f"remember {OPENAI}")
        chat.use(model="far:m")
        with pytest.raises(LeakFound, match=r"%chat drop [0-9a-f]{8}"):
            chat.send("what was it?")
        assert server.bodies == []
        for message in chat.messages().id:
            chat.drop(message)
        assert chat.send("what was it?").text == "one"
        assert OPENAI.encode() not in sent(server)


def test_what_a_tool_returned_stays_here_and_is_kept() -> None:
    @jan.tool(approval="auto")
    def look() -> str:
        """Look into the settings."""
        return f"token: {GITHUB}"

    replies = (chunked(CALL, b"data: [DONE]\n\n"), GOOD)
    with away(*replies) as server, jan.Chat("t", model="far:m") as chat:
        with pytest.raises(LeakFound, match="the result of look, message") as stopped:
            chat.send("look", tools=[look])
        assert len(server.bodies) == 1
        assert GITHUB.encode() not in sent(server)
        assert list(chat.messages().role) == ["user", "assistant"]
        assert chat.turns().finish.iloc[-1] == "error"
        chat.drop(stopped.value.next_step.split()[4].strip(";"))
        assert chat.send("go on").text == "one"


def test_addresses_of_people_only_warn() -> None:
    with away(), jan.Chat("t", model="far:m") as chat:
        answer = chat.send("write to ada.lovelace@analytical.org")
    assert answer.text == "one"
    shown = answer._repr_mimebundle_()["text/plain"]
    assert "sent to 127.1 with what looks like e-mail a…@a….org in the prompt" in shown


@pytest.mark.parametrize("purpose", ["title", "compaction"])
def test_no_other_request_takes_a_key_along(purpose: Purpose) -> None:
    guard = Guard(lambda _: "far.org")
    provider = TapedProvider(Deck(), MODEL, OfflineProvider, guard)
    with pytest.raises(LeakFound):
        provider.stream(ChatRequest(MODEL, (), f"Sum up: {OPENAI}", purpose=purpose))


def test_no_vectors_of_a_key_are_made_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"The token is {GITHUB}.\n", "utf-8")
    with away(rows([3.0, 4.0])) as server:
        with pytest.raises(LeakFound, match="a text to be embedded") as stopped:
            jan.Collection("c").add([str(tmp_path / "a.md")], embedder="far:e")
        assert "--embedder static" in stopped.value.next_step
        assert GITHUB.encode() not in sent(server)


def test_a_table_tells_what_its_rows_took_along(tmp_path: Path) -> None:
    rows = f"['a 好', 'b {OPENAI}', 'c {GITHUB}']"
    with away(GOOD, GOOD, GOOD) as server, running_kernel(tmp_path) as kernel:
        kernel.ok(f"%load_ext jan_magics\n%chat use -m far:m\nrows = {rows}")
        shown = kernel.ok("%%chat --map rows --send-anyway --concurrency 1\n{{row}}").displays[-1]
    assert len(server.bodies) == 3
    said = shown["text/plain"]
    assert "sent to 127.1 with what looks like OpenAI key" in said
    assert said.endswith("· 1 more row like it")
    assert BODY not in said
