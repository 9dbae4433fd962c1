"""A real llama-server calls a function, reads its result, and answers with it."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

import jan_magics as jan
from jan_magics.domain.branching import attach
from jan_magics.domain.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from jan_magics.engine.session import Session
from jan_magics.providers import local_files
from tests.conftest import require

TEMPLATE = Path(local_files.__file__).with_name("smollm2.jinja")
EXAMPLES = (("London", "14C"), ("Berlin", "9C"))
ROLES: tuple[Role, Role] = ("user", "assistant")
TOLD = "Call get_weather for the weather of a city, then tell it in one sentence."


@jan.tool(safe=True)
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return {"London": "14C", "Berlin": "9C"}.get(city, "21C")


def show_examples(session: Session) -> None:
    """Write two worked examples into a new thread: this model never calls by itself."""
    thread, parent = session.threads.create("weather"), None
    engine = session.engine
    for city, weather in EXAMPLES:
        call = ToolCallPart(city, "get_weather", f'{{"city": "{city}"}}')
        said = TextPart(f"It is {weather} in {city}.")
        asked = (TextPart(f"What is the weather in {city}?"),)
        answered = (call, ToolResultPart(city, "get_weather", weather), said)
        for role, parts in zip(ROLES, (asked, answered), strict=True):
            message = Message(engine.new_id(), thread.id, role, parts, engine.now(), parent)
            engine.apply(thread, attach(engine.tree(thread), message))
            parent = message.id


def answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/health", timeout=2) as reply:  # noqa: S310 - our own server
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False


@contextmanager
def running(llama_server: str, gguf: Path, *more: str) -> Iterator[str]:
    """Run a llama-server; with `more` as it shall be."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [llama_server, "-m", str(gguf), "--jinja", *more,
               "-c", "4096", "-np", "1", "-t", "2", "--port", str(port)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 90
        while not answers(address) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        require("model", answers(address), "no llama-server runs here")
        yield address
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def server(llama_server: str, gguf: Path) -> Iterator[str]:
    """A llama-server with our template, which knows tools; that of the weights knows none."""
    with running(llama_server, gguf, "--chat-template-file", str(TEMPLATE)) as address:
        yield f"{address}/v1"


def test_a_small_model_calls_and_answers_with_the_result(server: str) -> None:
    with jan.Chat("weather", model=f"{server}#m", system=TOLD) as chat:
        show_examples(chat._host.session())
        chat.use(temperature=0.0, seed=1, max_tokens=60, max_steps=2)
        answer = chat.send("What is the weather in Paris?", tools=[get_weather])
        parts = chat.show().messages[-1].parts
    assert [p.name for p in parts if isinstance(p, ToolCallPart)] == ["get_weather"]
    assert [p.output for p in parts if isinstance(p, ToolResultPart)] == ["21C"]
    assert answer.text == "It is 21C in Paris."
    assert answer.finish == "stop"


def rendered(address: str, messages: list[dict[str, str]]) -> str:
    body = json.dumps({"messages": messages}).encode()
    request = Request(f"{address}/apply-template", body, {"content-type": "application/json"})  # noqa: S310
    with urlopen(request, timeout=10) as reply:  # noqa: S310 - our own server
        prompt: str = json.loads(reply.read())["prompt"]
    return prompt


def test_without_tools_the_prompt_is_that_of_the_weights(
    llama_server: str, gguf: Path, server: str
) -> None:
    system, question = {"role": "system", "content": "Be 简短."}, {"role": "user", "content": "a"}
    answer = {"role": "assistant", "content": "b\n"}
    with running(llama_server, gguf) as plain:
        for messages in ([question], [system, question], [system, question, answer, question]):
            wanted = rendered(plain, messages)
            assert rendered(server.removesuffix("/v1"), messages) == wanted


def test_the_model_of_this_machine_calls_too(llama_server: str, gguf: Path) -> None:
    with jan.Chat("weather", model=f"local:{gguf.stem}", system=TOLD) as chat:
        show_examples(chat._host.session())
        chat.use(temperature=0.0, max_tokens=60, max_steps=2)
        answer = chat.send("What is the weather in Paris?", tools=[get_weather])
    assert answer.text == "It is 21C in Paris."
