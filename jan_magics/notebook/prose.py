"""Neutralise one paragraph of Markdown: tags, images, links and math. Code blocks: `fences`."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from jan_magics.notebook.hazards import (
    ACTIVE_MACRO,
    ADDRESS,
    JOINER,
    hazardous,
    inline_code,
    inline_text,
    safe_address,
    safe_math,
    safe_title,
)

_TOKEN: Final = re.compile(
    r"`++|~{3,}+|@(?=@)|&(?:#0*64|#x0*40|commat);|\\|\$\$?|<|!(?=\[)|\](?=[(:])|(?:https?|ftp)://|www\.",
    re.IGNORECASE,
)
_BLANK: Final = re.compile(r"(\n(?:[ \t>]*+\n)++)")
_RUN: Final = re.compile(r"\S*+")
_WORDS: Final = re.compile(r"[^\x00-\x7f]")
_TICKS: Final = re.compile(r"`++")
# No code span reaches over the start of a list item, a heading, a quote or a table row.
_NEW_BLOCK: Final = re.compile(r"\n[ \t]*+(?:[-*+][ \t]|[>#|]|\d{1,9}[.)][ \t])")
_AUTOLINK: Final = re.compile(r"<((?:https?://|mailto:)[^\s<>]++)>", re.IGNORECASE)
_ALT: Final = re.compile(r"!\[((?:\\.|[^\[\]\\])*+)(?=\]\()")
_LINK: Final = re.compile(
    r"\]\(\s*+(?:<([^<>\n]*+)>|((?:\\.|[^\s()<>\\]|\((?:\\.|[^\s()<>\\])*+\))*+))"
    r"(?:\s++(\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?+\s*+\)"
)
_DEFINITION: Final = re.compile(
    r"([ \t>]*+\[[^\[\]<>`$\\&!@\n]++\]:)[ \t]*+(?:<([^<>\n]*+)>|([^\s<>]++))"
    r"(?:[ \t]++(\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?+[ \t]*+(?:\n|\Z)"
)
_ENVIRONMENT: Final = re.compile(r"\\begin(\{[A-Za-z]{1,20}\*?\})")
_TEX_MATH: Final = MappingProxyType({"(": (r"\)", "$"), "[": (r"\]", "$$")})
_UNESCAPED: Final = MappingProxyType(
    {"<": "&lt;", "!": "&#33;", "]": "&#93;", "@": f"{JOINER}@{JOINER}"}
)
_MATH_REACH: Final = 4_000
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def safe_prose(text: str) -> str:
    """Neutralise Markdown that holds no code blocks."""
    return "".join(
        piece if odd else _Paragraph(piece).safe()
        for odd, piece in zip(_alternating(), _BLANK.split(text), strict=False)
    )


def _alternating() -> Iterator[bool]:
    while True:
        yield False
        yield True


def math_end(text: str, start: int, closer: str) -> int:
    """Return where the math that begins at `start` ends, or -1 where it is no math.

    A single `$` follows the rule that keeps prices text: no space inside the signs, no digit
    behind the second one.
    """
    end = text.find(closer, start, start + _MATH_REACH)
    content = text[start:end] if end > start else ""
    if not content.strip() or "`" in content or "](http" in content or "\n\n" in content:
        return -1
    if closer == "$":
        spaced = content[0].isspace() or content[-1].isspace() or content[-1] == "\\"
        return -1 if spaced or text[end + 1 : end + 2].isdigit() else end
    return end


class _Walk:
    """A place in a text, what is written so far, and the address that the place lies in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.written: list[str] = []
        # No `$` and no backslash may be written before the address that the walk is in ends.
        # Prose without spaces ends no address for a parser, but for a reader (`words_at`).
        self.address_end = 0
        self.words_at = 0
        self.ticks: dict[int, list[int]] | None = None

    def write(self, piece: str, taken: int) -> None:
        """Write a piece in place of the next characters."""
        self.written.append(piece)
        self.at += taken

    def ends_with(self, sign: str) -> bool:
        """Tell what the last thing written ends with."""
        return next((piece for piece in reversed(self.written) if piece), "").endswith(sign)

    @property
    def in_address(self) -> bool:
        """Tell whether a parser may take the next character for a piece of an address."""
        return self.at < self.address_end

    def enter_address(self, start: int) -> None:
        """Note that an address begins; it reaches up to the next white space."""
        if start >= self.address_end and (run := _RUN.match(self.text, start)):
            self.address_end = run.end()
            words = _WORDS.search(self.text, start, run.end())
            self.words_at = words.start() if words else run.end()

    def leave_address(self) -> None:
        """Note that the next character belongs to no address."""
        self.address_end = 0

    def closing_ticks(self, start: int, length: int) -> int:
        """Return where the next run of exactly so many backticks is, or 0."""
        if self.ticks is None:
            self.ticks = {}
            for run in _TICKS.finditer(self.text, start):
                self.ticks.setdefault(len(run[0]), []).append(run.start())
        places = self.ticks.get(length, [])
        index = bisect_left(places, start)
        return places[index] if index < len(places) else 0


def _keep_definitions(walk: _Walk) -> None:
    """Keep link definitions; they stand only at the start of a paragraph."""
    while found := _DEFINITION.match(walk.text, walk.at):
        address = safe_address(found[2] or found[3] or "")
        if not address:
            return
        # Without a title of its own a definition takes the next line for one.
        title = safe_title(found[4]) or '""'
        line_end = "\n" if found[0].endswith("\n") else ""
        walk.write(f"{found[1]} {address} {title}{line_end}", len(found[0]))


class _Paragraph(_Walk):
    """A walk over one paragraph, from one sign that matters to the next."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.dropped: dict[int, int] = {}

    def safe(self) -> str:
        _keep_definitions(self)
        while token := _TOKEN.search(self.text, self.at):
            self.written.append(self.text[self.at : token.start()])
            self.at = token.start()
            self._take(token[0])
        self.written.append(self.text[self.at :])
        return "".join(self.written)

    def _take(self, token: str) -> None:
        match token[0]:
            case "`":
                self._code(len(token))
            case "~":
                self.write("&#126;" * len(token), len(token))
            case "@":
                self.write(f"@{JOINER}", 1)
            case "&":
                self.write(f"{JOINER}@{JOINER}", len(token))
            case "\\":
                self._backslash()
            case "$":
                self._dollar(token)
            case "<":
                self._angle()
            case "!":
                self._image()
            case "]":
                self._bracket()
            case _:
                self.enter_address(self.at)
                self.write(token, len(token))

    def _code(self, length: int) -> None:
        start = self.at + length
        end = self.closing_ticks(start, length)
        content = self.text[start:end] if end else ""
        if not end or ("\n" in content and _NEW_BLOCK.search(content)):
            # Three of them might begin a fence where what follows is rewritten.
            self.write(("&#96;" if length > 2 else "`") * length, length)
            return
        written = self.text[self.at : end + length]
        # Math that begins inside may swallow the closing marks: after an address, or where three
        # marks might then begin a fence, its signs must not stand.
        opens_math = "$" in content or "\\" in content
        unclear = (opens_math and (self.in_address or length > 2)) or (
            "\n" in content and ("```" in written or "~~~" in written)
        )
        # Unfinished, a link in it would go on behind it: the colon stands for what follows.
        if hazardous(content + ":") or unclear:
            goes_on = self.in_address
            self.write(inline_code(content), len(written))
            if goes_on:  # the space that ended the address may be gone
                self.leave_address()
                self.enter_address(self.at)
            return
        for address in ADDRESS.finditer(content):
            self.enter_address(start + address.start())
        self.write(written, len(written))

    def _backslash(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        opened = _TEX_MATH.get(following)
        if opened and self._math(2, opened[0], opened[1], opened[1]):
            return
        if self.in_address:
            unescaped = bool(following) and following in "_*"
            self.write(following if unescaped else "%5C", 2 if unescaped else 1)
        elif (begun := _ENVIRONMENT.match(self.text, self.at)) and self._math(
            len(begun[0]), rf"\end{begun[1]}", begun[0], rf"\end{begun[1]}"
        ):
            return
        elif ACTIVE_MACRO.match(self.text, self.at):
            self.write("\\ ", 1)
        elif following in _UNESCAPED:
            self.write(_UNESCAPED[following], 2)
        elif following and following in _PUNCTUATION:
            self.write(f"\\{following}", 2)
        else:
            self.write("\\", 1)

    def _dollar(self, sign: str) -> None:
        if not self._math(len(sign), sign, sign, sign):
            self.write("%24" * len(sign) if self.in_address else sign, len(sign))

    def _math(self, skip: int, closer: str, opened: str, closed: str) -> bool:
        """Write math that begins here; inside an address only after words that are no ASCII."""
        start = self.at + skip
        if self.in_address and self.at < self.words_at:
            return False
        end = math_end(self.text, start, closer)
        if end < 0 or (closer == r"\]" and self.text.startswith("(", end + 2)):
            return False
        content = self.text[start:end]
        if opened != closer and "$" in closed:  # \( … \) and \[ … \]
            content = re.sub(r"(?<!\\)\$", r"\\$", content.strip() if closed == "$" else content)
        # Signs and content together: an address just before the closing sign counts too.
        written = opened + safe_math(content + closed)
        self.write(f" {written}" if self.in_address else written, skip + end - start)
        self.at += len(closer)
        self.leave_address()
        return True

    def _angle(self) -> None:
        link = _AUTOLINK.match(self.text, self.at)
        if not link:
            self.write("&lt;", 1)
            return
        gap = " " if self.ends_with("!") else ""
        self.write(f"{gap}[{inline_text(link[1])}]({safe_address(link[1])})", len(link[0]))
        self.enter_address(self.at)

    def _image(self) -> None:
        """Turn an image into a link; inside another link into its words."""
        alt = _ALT.match(self.text, self.at)
        link = _LINK.match(self.text, alt.end()) if alt else None
        address = safe_address(link[1] or link[2] or "") if link else ""
        if alt is None or link is None or not address or self.ends_with("!"):
            self.write("&#33;", 1)
        elif self.ends_with("[") and self.text.startswith("](", link.end()):
            self.dropped[alt.end()] = link.end()
            self.write("" if alt[1].strip() else "image", 2)
        elif alt[1].strip():
            self.write("", 1)
        else:
            self.write("[image", len(alt[0]))

    def _bracket(self) -> None:
        if self.at in self.dropped:
            self.at = self.dropped[self.at]
            return
        link = _LINK.match(self.text, self.at)
        address = safe_address(link[1] or link[2] or "") if link else ""
        if link is None or not address:
            self.write("&#93;", 1)
            return
        title = safe_title(link[3])
        self.write(f"]({address} {title})" if title else f"]({address})", len(link[0]))
        self.enter_address(self.at)
