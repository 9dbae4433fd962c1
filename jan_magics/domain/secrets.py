"""Keys, passwords and addresses of people in a text: where they stand, and how they are masked.

Nothing that is returned here holds a secret; only a sample that tells which one it is.
"""

import math
import re
from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from jan_magics.domain.secret_shapes import (
    BARE_PHONE,
    BEARER,
    COLOUR_MARKS,
    COLOURS,
    FILE_ENDINGS,
    JWT,
    KEYS,
    LONGEST_NAME,
    MAIL_HOST,
    MAIL_NAME,
    NAMED,
    NAMING,
    NO_HOST,
    NO_NAME,
    PASSWORD_IN_ADDRESS,
    PASSWORD_IN_DSN,
    PHONE_WORD,
    PHONES,
    PRIVATE,
    PRIVATE_BODY,
    PRIVATE_END,
    PRIVATE_HEAD,
    PRIVATE_REST,
)

PRIVATE_KEY: Final = "private key"
PASSWORD: Final = "password"  # noqa: S105 - the name of a kind
TOKEN: Final = "JWT"  # noqa: S105 - the name of a kind
GUESSED: Final = "random value"
MAIL_ADDRESS: Final = "e-mail"
PHONE: Final = "phone"
PEOPLE: Final = (MAIL_ADDRESS, PHONE)
"""What is of a person, and no secret that opens something."""
LEAST_ENTROPY: Final = 3.7
"""Bits a character of a value whose name says that it is secret."""
LONGEST_BLOCK: Final = 20_000
"""Chars of a private key block."""
FEWEST: Final = 6
"""Different characters of a key; one with fewer was made up."""
_MADE_UP: Final = re.compile(r"EXAMPLE|x{5}|X{5}|\*{3}|\.{3}|your|0{8}|placeholder|redacted")
_OPEN: Final = re.compile(r"[$<>{}%*[]|^\.+$")
_NO_PASSWORD: Final = frozenset({
    "password", "passwd", "pass", "pwd", "secret", "changeme", "passw0rd", "xxx", "xxxx",
    "mypassword", "your_password",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Secret:
    """A place in a text, chars from `start` to `end`; `stops`: it must not leave the machine."""

    kind: str
    start: int
    end: int
    sample: str
    stops: bool = False


def secrets_in(text: str) -> tuple[Secret, ...]:
    """Return what a text should not hold, in its order; where two overlap the surer one counts.

    Marks of colours are no part of what a text says, and a key may stand between or around them.
    """
    if not any(mark in text for mark in COLOUR_MARKS):
        return _plainly_in(text)
    marks = [each.span() for each in COLOURS.finditer(text)]
    found = _plainly_in(COLOURS.sub("", text))
    # What stands at a place of the plain text stands behind all marks before it.
    gone = [*accumulate((end - start for start, end in marks), initial=0)]
    edges = [start - before for (start, _), before in zip(marks, gone, strict=False)]
    return tuple(
        replace(
            each,
            start=each.start + gone[bisect(edges, each.start)],
            end=each.end + gone[bisect_left(edges, each.end)],
        )
        for each in found
    )


def _plainly_in(text: str) -> tuple[Secret, ...]:
    found: list[Secret] = []
    for look in _LOOKS:
        for each in look(text):
            place = bisect(found, each.start, key=_start)
            before, after = found[place - 1 : place], found[place : place + 1]
            if all(b.end <= each.start for b in before) and all(each.end <= a.start for a in after):
                found.insert(place, each)
    return tuple(found)


def _start(secret: Secret) -> int:
    return secret.start


def scrubbed(text: str) -> str:
    """Return a text without its secrets; addresses of people stay, as code may need them."""
    pieces, place = list[str](), 0
    for each in secrets_in(text):
        if each.kind not in PEOPLE:
            pieces += [text[place : each.start], f"[{each.kind} removed]"]
            place = each.end
    return "".join((*pieces, text[place:]))


def _keys(text: str) -> Iterator[Secret]:
    for shape in KEYS:
        place = text.find(shape.begins)
        while place >= 0:
            found = shape.pattern.match(text, place) if _begins(text, place) else None
            if found and _is_random(found[0][len(shape.begins) :]):
                sample = f"{shape.begins}… ({len(found[0])} characters)"
                yield Secret(shape.kind, place, found.end(), sample, stops=True)
            place = text.find(shape.begins, found.end() if found else place + 1)


def _begins(text: str, place: int) -> bool:
    """Tell whether a word begins here; the n of an escaped line break is none of its letters."""
    before = text[place - 1 : place]
    if not text[place].isalnum() or not (before.isascii() and (before.isalnum() or before == "_")):
        return True
    return before in "nrt" and text[place - 2 : place - 1] == "\\"


def _is_random(body: str) -> bool:
    """Tell whether nobody would write this by hand."""
    mixed = body.lower() != body and body.upper() != body
    digit = any(letter.isdigit() for letter in body)
    return (mixed or digit or body.isupper()) and len(set(body)) >= FEWEST and not _MADE_UP.search(
        body
    )  # fmt: skip


def _private_keys(text: str) -> Iterator[Secret]:
    place = text.find(PRIVATE)
    while place >= 0:
        head = PRIVATE_HEAD.match(text, place)
        end = head and PRIVATE_END.search(text, head.end(), head.end() + LONGEST_BLOCK)
        rest = head and (end or PRIVATE_REST.match(text, head.end(), head.end() + LONGEST_BLOCK))
        if head and rest:
            body = text[head.end() : end.start() if end else rest.end()]
            if PRIVATE_BODY.search(body):
                yield Secret(PRIVATE_KEY, place, rest.end(), f"{head[0]} …", stops=True)
        place = text.find(PRIVATE, rest.end() if rest else place + 1)


def _passwords(text: str) -> Iterator[Secret]:
    place = text.find("://")
    while place >= 0:
        found = PASSWORD_IN_ADDRESS.match(text, place)
        if (
            found
            and not _is_open(found[2])
            and found[2] != found[1]
            and not NO_HOST.search(found[3])
        ):
            scheme = re.search(r"[A-Za-z][\w+.-]*$", text[max(0, place - 20) : place])
            if scheme:
                sample = f"{scheme[0]}://…:…@{found[3][:40]}"
                yield Secret(PASSWORD, place - len(scheme[0]), found.end(2), sample)
        place = text.find("://", place + 3)
    if "=" in text and ("assword=" in text or "wd=" in text or "WORD=" in text or "WD=" in text):
        for found in PASSWORD_IN_DSN.finditer(text):
            if not _is_open(found[1]):
                yield Secret(PASSWORD, found.start(1), found.end(1), "password=…")


def _is_open(password: str) -> bool:
    """Tell whether a password is none: a word that stands for one, or a template."""
    return password.lower() in _NO_PASSWORD or _OPEN.search(password) is not None


def _tokens(text: str) -> Iterator[Secret]:
    place = text.find("eyJ")
    while place >= 0:
        found = JWT.match(text, place) if _begins(text, place) else None
        if found:
            yield Secret(TOKEN, place, found.end(), f"eyJ… ({len(found[0])} characters)")
        place = text.find("eyJ", found.end() if found else place + 3)


def _named(text: str) -> Iterator[Secret]:
    """Yield what a name says is secret, and what looks random as well."""
    lower = text.lower()
    if len(lower) != len(text):  # some letters have no small one of the same length
        lower = text
    for word in NAMING:
        place = lower.find(word)
        while place >= 0:
            found = NAMED.match(text, place)
            if found and _looks_random(found[1]):
                sample = f"{word}: … ({len(found[1])} characters)"
                yield Secret(GUESSED, found.start(1), found.end(1), sample)
            place = lower.find(word, place + len(word))


def _bearers(text: str) -> Iterator[Secret]:
    for found in BEARER.finditer(text) if "earer " in text else ():
        if _looks_random(found[1]):
            sample = f"Bearer … ({len(found[1])} characters)"
            yield Secret(GUESSED, found.start(1), found.end(1), sample)


def _looks_random(value: str) -> bool:
    letters = any(letter.isalpha() for letter in value)
    digits = sum(letter.isdigit() for letter in value)
    return letters and digits > 2 and entropy(value) >= LEAST_ENTROPY and _is_random(value)


def entropy(text: str) -> float:
    """Return the bits a character that its letters would take (Shannon 1948)."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


def _mails(text: str) -> Iterator[Secret]:
    at = text.find("@")
    while at >= 0:
        found = MAIL_HOST.match(text, at + 1)
        before = text[max(0, at - LONGEST_NAME) : at]
        name = before[len(before.rstrip(MAIL_NAME)) :].lstrip("._%+-")
        start = at - len(name)
        # What stands before the host of an address is the user name of a server.
        inside = text[start - 1 : start] in ("/", ":", "@") and text[start - 7 : start] != "mailto:"
        if found and name and not (inside or _no_host(found) or NO_NAME.fullmatch(name)):
            domain = found[1].rpartition(".")
            sample = f"{name[0]}…@{domain[0][0]}….{domain[2]}"
            yield Secret(MAIL_ADDRESS, start, found.end(), sample)
        at = text.find("@", found.end() if found else at + 1)


def _no_host(found: re.Match[str]) -> bool:
    return NO_HOST.search(found[1]) is not None or found[2].lower() in FILE_ENDINGS


def _phones(text: str) -> Iterator[Secret]:
    for sign, pattern in PHONES:
        for found in pattern.finditer(text) if sign in text else ():
            digits = re.sub(r"\D", "", found[0])
            if 9 <= len(digits) <= 15 and "55501" not in digits:
                yield _phone(found, digits)
    for found in BARE_PHONE.finditer(text):
        if PHONE_WORD.search(text, max(0, found.start() - 16), found.start()):
            yield _phone(found, found[0])


def _phone(found: re.Match[str], digits: str) -> Secret:
    return Secret(PHONE, found.start(), found.end(), f"{digits[:2]}…{digits[-2:]}")


_LOOKS: Final[tuple[Callable[[str], Iterator[Secret]], ...]] = (
    _private_keys, _keys, _tokens, _passwords, _named, _bearers, _mails, _phones,
)  # fmt: skip
