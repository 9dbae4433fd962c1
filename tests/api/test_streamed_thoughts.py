"""A stream from Python whose thoughts only show that they are some when they end."""

import jan_magics as jan
from tests.providers.asking import sse
from tests.providers.loopback import Reply, http
from tests.providers.serving import serving_here


def chunk(text: str) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}}]}


def slow(*texts: str) -> Reply:
    """Each text in a piece of its own, and time between them."""
    body = sse(*(chunk(text) for text in texts))
    return http(body, size=len(sse(chunk(texts[0]), done=False)))


def test_what_follows_the_thoughts_is_whole() -> None:
    with (
        serving_here(slow("I count 数", " and count", "</think>", "\n\nIt is", " four.")) as server,
        jan.Chat(model=f"{server.address}#m") as chat,
    ):
        stream = chat.stream("2 + 2?")
        said = "".join(stream)
        assert said.endswith("It is four.")
        assert stream.answer.text == "It is four."
        # What is asked next is asked of the answer, not of the thoughts.
        chat.send("sure?", show=False)
    assert b"I count" not in server.bodies[-1]
