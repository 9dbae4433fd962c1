"""What a model's text must not carry into a Markdown parser, and how it is written instead.

No parser is trusted to agree with ours on what is code: an output without `<` before a letter,
without `![`, and with literal web addresses only, is harmless under every reading of it.
"""

import re
import string
from typing import Final

_TERMINAL: Final = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TURNS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates of the reading direction: text reads otherwise than it is."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# `$` or a backslash may open math. JupyterLab takes math out before it parses Markdown and puts
# it back into the finished HTML, even into an attribute: after an address neither may stand.
# It marks the place with `@@1@@`, and fails on a mark that it did not write: no two of these
# signs stand together in prose (an invisible joiner is between them).
JOINER: Final = "\u2060"
ADDRESS: Final = re.compile(r"(?:https?|ftp)://|www\.", re.IGNORECASE)
_ADDRESS_RUN: Final = re.compile(r"(?:(?:https?|ftp)://|www\.)\S*+", re.IGNORECASE)
_OPENS_MATH: Final = re.compile(r"[$\\]")

_MACROS: Final = r"(?:href|url|require|style|class|cssId|data|includegraphics|html[A-Za-z]+)"
ACTIVE_MACRO: Final = re.compile(rf"\\(?={_MACROS}(?![A-Za-z]))")

_HAZARD: Final = re.compile(
    r"<[A-Za-z/!?]|!\[|&[#A-Za-z]|@@\d"
    r"|\]\(\s*+<?[^\s()]*?[:&\\%]"  # a link with a scheme
    r"|^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+"  # a reference definition with one
    r"\[(?:\\[\s\S]|[^\[\]\\])*+\]:\s*+<?\S*?[:&\\]"
    r"|\A(?:\\[\s\S]|[^\[\]\\])*+\]:\s*+<?\S*?[:&\\]"  # the end of one that began before
    r"|^[ \t>*+\-0-9.)]*+(?:`{3,}+|~{3,}+)[^\n]*?[$\\\"'&<@]"  # a fence with attributes
    rf"|\\{_MACROS}(?![A-Za-z])",
    re.MULTILINE,
)

_BLOCK_ENTITIES: Final = str.maketrans({c: f"&#{ord(c)};" for c in "$\\`[]~@"})
_INLINE_ENTITIES: Final = str.maketrans(
    {c: f"&#{ord(c)};" for c in string.punctuation} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)

_TWO_AT: Final = re.compile(r"@(?=@)")
_MARK: Final = re.compile(r"@(?=@\d)")

_SCHEME: Final = re.compile(r"(https?://|mailto:)(?=\S)", re.IGNORECASE)
_BACKSLASHED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_NOT_IN_ADDRESS: Final = re.compile(r"[^A-Za-z0-9\-._~:/?#@+,;=%&*\u00a1-\U0010ffff]|\s|(?<=@)@")
_TITLE: Final = re.compile(r"[^\"'$<>&`\\@\[\]()!\s][^\"$<>&`\\@\[\]()!\n]{0,199}")
_BRACES: Final = re.compile(r"\{[^{}]*\}")
_ATTRIBUTES: Final = re.compile(r"""\{[^{}]*\}|(?<!\S)[\w-]+=(?:"[^"]*"|'[^']*'|\S+)""")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")


def printable(text: str) -> str:
    """Return text without terminal sequences, control characters and halves of surrogate pairs."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _TERMINAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def legible(text: str) -> str:
    """Return printable text in which a sign that turns the reading direction is a visible one."""
    return _TURNS.sub(lambda sign: f"‹U+{ord(sign[0]):04X}›", printable(text))


def defused(text: str) -> str:
    """Return text in which a typesetter of the finished page finds no macro that acts."""
    return ACTIVE_MACRO.sub(r"\\ ", text)


def hazardous(code: str) -> bool:
    """Tell whether code would do harm where a parser does not take it for code."""
    if _HAZARD.search(code):
        return True
    return any(_OPENS_MATH.search(run) for run in _ADDRESS_RUN.findall(code))


def read_info(info: str) -> tuple[str, str]:
    """Return the language behind a fence, and its words where they are more than a language.

    A fence that a model meant to close opens a block, with the sentence that goes on behind it;
    attributes (`title=…`, `{…}`) are no words.
    """
    first, *rest = info.split(maxsplit=1) or [""]
    if _LANGUAGE.fullmatch(first) and not _ATTRIBUTES.sub("", "".join(rest)).strip():
        return first, ""
    return "", "" if _BRACES.fullmatch(info.strip()) else info.strip()


def _escape(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def block_code(code: str, language: str, *, one_line: bool) -> str:
    """Write code as HTML that stays code, and stays harmless, under any parser.

    In one line (its line breaks are entities) it also fits into lists and quotes.
    """
    name = f' class="language-{language}"' if language else ""
    # The ampersand goes first, the other entities last: neither may escape the other's.
    body = _escape(code).translate(_BLOCK_ENTITIES)
    return f"<pre><code{name}>{body.replace(chr(10), '&#10;') if one_line else body}</code></pre>"


def inline_text(text: str) -> str:
    """Write every punctuation mark as an entity, so that no parser sees Markdown in it."""
    return _MARK.sub(f"@{JOINER}", text).translate(_INLINE_ENTITIES)


def inline_code(code: str) -> str:
    """Write a code span as HTML, with nothing in it that Markdown knows."""
    if code[:1] == code[-1:] == " " and code.strip():
        code = code[1:-1]
    return f"<code>{inline_text(code.replace(chr(10), ' '))}</code>"


def safe_address(raw: str) -> str:
    """Return a literal http, https or mailto address without active characters, else ''."""
    address = _BACKSLASHED.sub(r"\1", raw)
    scheme = _SCHEME.match(address)
    if scheme is None:
        return ""
    rest = _NOT_IN_ADDRESS.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address[scheme.end() :]
    )
    return scheme[1].lower() + rest


def safe_title(quoted: str | None) -> str:
    """Return a link's title between its quotes, or '' when it is not plain words."""
    inner = quoted[1:-1] if quoted else ""
    return f'"{inner}"' if _TITLE.fullmatch(inner) else ""


def safe_math(content: str) -> str:
    """Return TeX that means the same and holds neither tags, links, images nor active macros."""
    content = content.replace("<", r"\lt ").replace("![", "! [")
    content = content.replace("](", "] (").replace("]:", "] :")
    content = _TWO_AT.sub("@ ", content)
    return _ADDRESS_RUN.sub(lambda run: _OPENS_MATH.sub(r" \g<0>", run[0]), defused(content))
