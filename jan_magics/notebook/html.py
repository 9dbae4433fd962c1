"""A model's Markdown as HTML made of a few harmless tags. Loads nothing before it is called."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Final, Protocol

from jan_magics.domain.source_marks import named_places
from jan_magics.notebook.hazards import defused, legible, read_info, safe_address
from jan_magics.notebook.prose import math_end
from jan_magics.notebook.wide_rows import keep_wide_rows

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

TAGS: Final = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em",
     "strong", "s", "a", "br", "hr", "table", "thead", "tbody", "tr", "th", "td")
)  # fmt: skip


class MathML(Protocol):
    """What makes markup of TeX that may be set as it is, "" where it cannot."""

    def __call__(self, tex: str, *, block: bool) -> str:
        """Return MathML."""
        ...


CITE: Final = "jan-cite"
"""The class of an anchor that leads nowhere: its title is the number of a source."""
_SOURCES: Final = "jan sources"
_CLOSERS: Final = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


def to_html(text: str, mathml: MathML | None = None, sources: Collection[int] = frozenset()) -> str:
    """Return HTML with the tags in `TAGS` only.

    Raw HTML is shown as text, images are links, links lead to http, https or mailto. Math is what
    `mathml` makes of it; where that is nothing, it is left for the front end, in dollar signs.
    A number in brackets that is one of `sources` becomes an anchor of the class `CITE`.
    """
    return str(_parser(mathml).render(legible(text), {_SOURCES: sources}))


def _parser(mathml: MathML | None) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    keep_wide_rows(parser)
    parser.inline.ruler.before("escape", "math", partial(_math, mathml))
    # Every link and image becomes a token, also one with a forbidden address: its words are kept.
    parser.validateLink = lambda url: bool(safe_address(url))  # type: ignore[method-assign]
    for kind, rule in (("text", _text), ("image", _image), ("link_open", _link), ("fence", _fence)):
        parser.add_render_rule(kind, rule)
    return parser


def _math(mathml: MathML | None, state: "StateInline", silent: bool) -> bool:  # noqa: FBT001 (the parser's signature)
    """Take math as one piece, before the parser reads its backslashes and underscores."""
    for opener, closer in _CLOSERS:
        if not state.src.startswith(opener, state.pos):
            continue
        start = state.pos + len(opener)
        end = math_end(state.src, start, closer)
        if end < 0 or (closer == r"\]" and state.src.startswith("(", end + 2)):
            continue
        if not silent:
            sign = "$$" if opener in {"$$", r"\["} else "$"
            content = state.src[start:end]
            made = mathml(content, block=sign == "$$") if mathml else ""
            token = state.push("html_inline" if made else "text", "", 0)
            token.content = made or (
                sign + (content.strip() if opener == r"\(" else content) + sign
            )
        state.pos = end + len(closer)
        return True
    return False


def _text(
    renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, options: Any, env: Any
) -> str:
    known = env.get(_SOURCES)
    named = known and not _inside_link(tokens, index)
    return "".join(_words(tokens[index].content, known if named else ()))


def _words(text: str, sources: Collection[int]) -> Iterator[str]:
    """Yield text as HTML, the numbers of sources as anchors."""
    at = 0
    for n, start, end in named_places(text, sources) if sources else ():
        yield _plain(text[at:start])
        yield f'<a class="{CITE}" title="{n}">{escape(text[start:end])}</a>'
        at = end
    yield _plain(text[at:])


def _plain(text: str) -> str:
    # Typesetters read the finished page: an active macro must not be there outside of code.
    return escape(defused(text))


def _inside_link(tokens: "Sequence[Token]", index: int) -> bool:
    steps = {"link_open": 1, "link_close": -1}
    return sum(steps.get(before.type, 0) for before in tokens[:index]) > 0


def _anchor(address: str, title: str) -> str:
    named = f' title="{escape(title)}"' if title else ""
    return f'<a href="{escape(address)}"{named} rel="noopener noreferrer" target="_blank">'


def _link(
    renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, options: Any, env: Any
) -> str:
    token = tokens[index]
    return _anchor(
        safe_address(str(token.attrGet("href") or "")), str(token.attrGet("title") or "")
    )


def _image(
    renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, options: Any, env: Any
) -> str:
    token = tokens[index]
    words = renderer.renderInlineAsText(token.children, options, env) or "image"
    if _inside_link(tokens, index):
        return escape(defused(words))
    address = safe_address(str(token.attrGet("src") or ""))
    return f"{_anchor(address, str(token.attrGet('title') or ''))}{escape(defused(words))}</a>"


def _fence(
    renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, options: Any, env: Any
) -> str:
    token = tokens[index]
    language, words = read_info(token.info)
    name = f' class="language-{language}"' if language else ""
    content = f"{words}\n{token.content}" if words else token.content
    return f"<pre><code{name}>{escape(content)}</code></pre>\n"
