"""Texts to fit and to judge estimates of tokens: from a folder, and from this environment.

The folder holds `KIND/fit/*.txt` and `KIND/test/*.txt`, which must be different texts; KIND is
english, chinese, japanese or any other name. Python, JSON and other code come from the standard
library and the installed packages, base64 and hex from a seeded generator. Debian's
debian-handbook, manpages-* and fortunes-* give such texts in many languages.
"""

import base64
import json
import random
import struct
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SIZES: Final = ((1000, 260), (4000, 200), (8000, 80))
RULES: Final = ("-", "=", "─", "*", "#", "═", ".", "_ ", "|", "\u3000", "～")
CODE: Final = ("*.ts", "*.js", "*.c", "*.h", "*.css", "*.sh", "*.md", "*.toml", "*.csv")
# Scripts of which there is little prose: translations of programs and of names of countries.
LANGUAGES: Final = ("hi", "th", "ta", "he", "bn", "ka", "am", "te", "mr", "km", "hy", "kn", "ml")
EMOJI: Final = "😀🎉👍🔥✅🚀🙏💡👩‍🚀🇩🇪❤️⚠️"


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what kind it is; `part` is fit or test."""

    kind: str
    part: str
    text: str


def documents(folder: Path, seed: int = 7) -> list[Document]:
    """Return every text, the generated and the mixed ones too."""
    chance = random.Random(seed)  # noqa: S311 (seeded, for a benchmark)
    found = [*_folder(folder), *_python(chance), *_code(chance), *_json(chance), *_noise(chance)]
    found += [*_scripts(), *_emoji(chance)]
    return found + [mixed for part in ("fit", "test") for mixed in _mixed(chance, found, part, 300)]


def samples(texts: Sequence[Document], kind: str, part: str, seed: int = 7) -> Iterator[str]:
    """Yield stretches of 1,000, 4,000 and 8,000 characters, and short ones to fit."""
    chance = random.Random(f"{seed} {kind} {part}")  # noqa: S311 (seeded, for a benchmark)
    known = [each.text for each in texts if (each.kind, each.part) == (kind, part) and each.text]
    for size, number in SIZES:
        long = [text for text in known if len(text) >= size]
        weights = [min(len(text), 20_000) for text in long]
        for text in chance.choices(long, weights, k=number) if long else ():
            yield _cut(chance, text, size)
    for _ in range(120 if part == "fit" and known else 0):
        yield _cut(chance, chance.choice(known), chance.randrange(60, 400))


def _cut(chance: random.Random, text: str, size: int) -> str:
    start = chance.randrange(max(1, len(text) - size + 1))
    return text[start : start + size]


def _folder(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.glob("*/*/*.txt")):
        yield Document(path.parts[-3], path.parts[-2], path.read_text(encoding="utf-8"))


def _read(chance: random.Random, kind: str, paths: list[Path], most: int) -> Iterator[Document]:
    chance.shuffle(paths)
    for number, path in enumerate(paths[:most]):
        try:
            yield Document(kind, "test" if number % 2 else "fit", path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue


def _files(roots: Sequence[str], patterns: Sequence[str], least: int, most: int) -> list[Path]:
    found = (path for root in roots for form in patterns for path in Path(root).rglob(form))
    return sorted(path for path in found if least < path.stat().st_size < most)


def _python(chance: random.Random) -> Iterator[Document]:
    # One file in twelve of the packages, which would outnumber the standard library.
    packages = _files([sysconfig.get_path("purelib")], ["*.py"], 4000, 200_000)[::12]
    yield from _read(
        chance,
        "python",
        [*_files([sysconfig.get_path("stdlib")], ["*.py"], 2000, 300_000), *packages],
        900,
    )


def _code(chance: random.Random) -> Iterator[Document]:
    paths = _files([sysconfig.get_path("purelib"), "/usr/include"], CODE, 3000, 200_000)
    yield from _read(chance, "code", [path for path in paths if ".min." not in path.name], 400)


def _json(chance: random.Random) -> Iterator[Document]:
    paths = _files([sysconfig.get_path("data"), "/usr/share"], ["*.json"], 1500, 900_000)
    seen = set[str]()
    for each in _read(chance, "json", paths, 600):
        try:
            value = json.loads(each.text)
        except ValueError:
            continue
        if each.text in seen or "k" * 100 in each.text:
            continue
        seen.add(each.text)
        yield each
        for separators in ((",", ":"), (", ", ": ")):
            dense = json.dumps(value, ensure_ascii=False, separators=separators)
            yield Document("json", each.part, dense)
    for number in range(60):
        rows = [_row(chance) for _ in range(80)]
        text = json.dumps(rows, indent=chance.choice([None, 2]))
        yield Document("json", "test" if number % 2 else "fit", text)


def _scripts() -> Iterator[Document]:
    for language in LANGUAGES:
        folder = Path("/usr/share/locale") / language / "LC_MESSAGES"
        for path in sorted({*folder.glob("iso_*.mo"), *folder.glob("g*.mo")}):
            told = _translations(path.read_bytes())
            lines = [line for line in told if sum(map(str.isascii, line)) * 3 < len(line)]
            part = "test" if path.name.startswith(("glib", "iso_3166")) else "fit"
            if lines:
                yield Document("scripts", part, "\n".join(lines))


def _translations(catalog: bytes) -> Iterator[str]:
    """Yield the translated texts of a compiled gettext catalog."""
    _, _, number, _, table = struct.unpack_from("<5I", catalog)
    for size, start in struct.iter_unpack("<2I", catalog[table : table + 8 * number]):
        yield catalog[start : start + size].decode("utf-8", "replace")


def _emoji(chance: random.Random) -> Iterator[Document]:
    for number in range(40):
        signs = [chr(chance.randrange(0x1F300, 0x1F64F)) for _ in range(12)] + [*EMOJI]
        said = [
            f"{chance.choice(('ok', 'done', 'thank you', 'bye', '好的'))} {chance.choice(signs)}"
            for _ in range(500)
        ]
        yield Document("emoji", "test" if number % 2 else "fit", " ".join(said))


def _row(chance: random.Random) -> dict[str, object]:
    return {
        "id": chance.randrange(10**6),
        "name": chance.choice(["alpha", "beta", "load balancer", "retry"]),
        "score": round(chance.random(), 4),
        "tags": chance.sample(["a", "bb", "ccc"], 2),
        "at": f"2026-0{chance.randrange(1, 9)}-1{chance.randrange(9)}T08:1{chance.randrange(9)}Z",
        "ok": chance.random() < 0.5,
    }


def _noise(chance: random.Random) -> Iterator[Document]:
    for number in range(60):
        part = "test" if number % 2 else "fit"
        data = chance.randbytes(chance.randrange(6000, 30_000))
        plain = base64.b64encode(data).decode()
        lines = base64.encodebytes(data).decode()
        form = (plain, lines, f"data:image/png;base64,{plain}")[number // 2 % 3]
        yield Document("base64", part, form)
        yield Document("hex", part, data.hex())


def _mixed(
    chance: random.Random, found: Sequence[Document], part: str, number: int
) -> Iterator[Document]:
    by_kind: dict[str, list[str]] = {}
    for each in found:
        if each.part == part:
            by_kind.setdefault(each.kind, []).append(each.text)
    for _ in range(number):
        pieces = list[str]()
        for _ in range(chance.randrange(20, 40)):
            text = chance.choice(by_kind[chance.choice(sorted(by_kind))])
            pieces.append(_cut(chance, text, chance.randrange(50, 800)))
            if chance.random() < 0.2:
                pieces.append(chance.choice(RULES) * chance.randrange(5, 70))
            if chance.random() < 0.2:
                pieces.append(chance.choice(EMOJI) * chance.randrange(1, 4))
        yield Document("mixed", part, chance.choice(["\n\n", "\n", " "]).join(pieces))
