"""Texts that chunking has stumbled over elsewhere, and random ones made of them."""

from hypothesis import strategies as st

from jan_magics.domain.retrieval import Document, Recipe
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import CharacterCounter, Counter, counter_here, estimated
from jan_magics.rag.recipes import recipe_of

FAMILY = "👨‍👩‍👧‍👦"
FLAGS = "🇯🇵🇨🇳🇫🇷"
PIECES = (
    "word ", "another one, ", "The end. ", "Why? ", "\n", "\n\n", "\r\n", "\r\n\r\n", "  ", "\t",
    "\0",
    "你好，世界。", "今天天气很好！", "過擬合；", "日本語の文です。", "……", "　", "한국어 문장. ",
    FAMILY, FLAGS, "👍🏽", "❤️", "e\u0301", "n\u0303o", "Z\u0324\u0351\u0307", "क्षि", "ก็", "각",
    "# Heading\n", "## Second ##\n\n", "```python\n# no heading\n", "```\n", "~~~\n", "| a | b |\n",
    "Title\n=====\n\n", "- item\n", "    indented()\n", "def f(x):\n", "class A:\n", "@decorated\n",
    "<|endoftext|>", "<|im_start|>", ".\n/x", "\n/usr", "a.\n9",
    "http://example.com/a?b=c&d", "x" * 70, "1234567890" * 3,
    "\ufffd", "\u00a0", "\u200b", "\ufeff", "-----\n", "***", "…", "don't ", "(see Fig. 3). ",
)  # fmt: skip
SPLITTERS = ("recursive", "chars", "markdown", "code", "tokens")

texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=60).map("".join)


@st.composite
def recipes(draw: st.DrawFn, counter: Counter | None = None) -> Recipe:
    splitter = draw(st.sampled_from(SPLITTERS))
    size = draw(st.integers(1, 60))
    overlap = draw(st.integers(0, size - 1))
    chars = splitter == "chars" or (splitter != "tokens" and draw(st.booleans()))
    unit = "c" if chars else ""
    return recipe_of(
        counter or counter_here(),
        size=f"{size}{unit}",
        overlap=f"{overlap}{unit}",
        splitter=splitter,
    )


def counter_of(recipe: Recipe) -> Counter:
    if recipe.unit == "chars":
        return CharacterCounter()
    return counter_here() if recipe.exact else estimated()


def pieces(text: str, kind: str = "markdown", **how: int | str) -> list[str]:
    """Return the texts of the chunks of a text."""
    counter = counter_here()
    document = Document("text", text, kind)  # type: ignore[arg-type]  # the tests name real kinds
    found = cut(document, recipe_of(counter, **how), counter)  # type: ignore[arg-type]
    return [text[chunk.start : chunk.end] for chunk in found]
