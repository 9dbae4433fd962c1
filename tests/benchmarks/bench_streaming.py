"""Streaming beside the clients that people use: `python -m tests.benchmarks.bench_streaming`.

2,000 tokens from a loopback server, each client warm and asked in turn; what each returns is
compared before anything is timed. The figures to read are the ratios to bare httpx with json.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

import httpx

from jan_magics.notebook.bridge import Bridge
from jan_magics.providers.openai import OpenAIProvider
from tests.benchmarks.bench_first_chat import REQUIRED, TOKENS, ours, rival, server
from tests.benchmarks.claims import RATIO, claimed, left_out
from tests.benchmarks.rounds import installed, interleaved, ratios, scaled

ROUNDS = 9
KEY = "none"
Way = Callable[[], int]


@contextmanager
def engine(address: str) -> Iterator[Way]:
    """Give our engine, reading a stream from another thread."""
    bridge, provider = Bridge(), OpenAIProvider("custom", address, None)
    yield lambda: ours(bridge, provider)
    bridge.call(provider.close)
    bridge.close()


@contextmanager
def bare(address: str) -> Iterator[Way]:
    """Give httpx and json alone."""
    with httpx.Client() as client:
        yield lambda: rival(client, address)


@contextmanager
def openai_sdk(address: str) -> Iterator[Way]:
    """Give OpenAI's own client."""
    client = import_module("openai").OpenAI(base_url=address, api_key=KEY)
    messages = [{"role": "user", "content": "hi"}]

    def read() -> int:
        stream = client.chat.completions.create(model="fixed", messages=messages, stream=True)
        return sum(len(each.choices[0].delta.content or "") for each in stream)

    yield read


@contextmanager
def langchain(address: str) -> Iterator[Way]:
    """Give LangChain's client."""
    # Without a name that it knows it would count tokens with a vocabulary from the network.
    model = import_module("langchain_openai").ChatOpenAI(
        base_url=address, api_key=KEY, model="fixed", stream_usage=False
    )
    yield lambda: sum(len(each.content) for each in model.stream("hi"))


@contextmanager
def chatlas(address: str) -> Iterator[Way]:
    """Give chatlas, with a new chat each time."""
    make = import_module("chatlas").ChatOpenAICompletions
    chat = make(base_url=address, api_key=KEY, model="fixed")

    def read() -> int:
        chat.set_turns([])
        return sum(len(each) for each in chat.stream("hi", echo="none"))

    yield read


WAYS = {"httpx": bare, "jan-magics": engine, "openai": openai_sdk, "langchain-openai": langchain,
        "chatlas": chatlas}  # fmt: skip
MODULES = {"openai": "openai", "langchain-openai": "langchain_openai", "chatlas": "chatlas"}


def main() -> int:
    """Measure those that are installed; 1 when the engine takes too long."""
    with server(0) as address, ExitStack() as opened:
        ways: dict[str, Way] = {}
        for name, make in WAYS.items():
            if name not in MODULES or installed(MODULES[name], name):
                ways[name] = opened.enter_context(make(address))
        for name in [*ways]:
            if (said := ways[name]()) != 6 * TOKENS:
                left_out(name, f"it read {said:,} characters of {6 * TOKENS:,}")
                del ways[name]
        times = interleaved(ways, ROUNDS)
    claimed("httpx and json", scaled(times["httpx"]), "ms")
    kept = True
    for name in [*ways][1:]:
        most = REQUIRED["stream"] if name == "jan-magics" else None
        shares = ratios(times[name], times["httpx"])
        kept &= claimed(f"{name}, of httpx's time", shares, RATIO, most=most)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
