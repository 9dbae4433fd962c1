"""Every word of the extension is there in Chinese, with the same places to fill."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "jan_magics" / "locale" / "zh_CN" / "LC_MESSAGES" / "jan_magics.json"
SOURCES = ROOT / "labextension" / "src"
SCHEMA = ROOT / "labextension" / "schema" / "commands.json"
WORDS = re.compile(r"""(?:__|_n)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""")
COUNTED = re.compile(r"_n\(\s*'([^']*)'")
LABELS = re.compile(r"\[\s*'([A-Z][^']+)',")


def words() -> set[str]:
    """Return what the extension says."""
    found = set[str]()
    for path in SOURCES.glob("*.ts"):
        text = path.read_text(encoding="utf-8")
        found |= {one or other for one, other in WORDS.findall(text)}
        found |= set(LABELS.findall(text))
    settings = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for each in (settings, *settings["properties"].values()):
        found |= {f"schema\x04{each['title']}", f"schema\x04{each['description']}"}
    return found


def counted() -> set[str]:
    """Return what is said of a number of things."""
    found = set[str]()
    for path in SOURCES.glob("*.ts"):
        found |= set(COUNTED.findall(path.read_text(encoding="utf-8")))
    return found


def test_every_word_is_there_in_chinese() -> None:
    known = json.loads(FILE.read_text(encoding="utf-8"))
    assert known.pop("")["domain"] == "jan_magics"
    assert known.keys() == words()
    for word, (translated, *more) in known.items():
        places = re.findall(r"%\d", word)
        assert sorted(re.findall(r"%\d", translated)) == sorted(places), word
        assert re.search(r"[\u4e00-\u9fff]", translated), word
        # JupyterLab takes one form alone for no translation where things are counted.
        assert more == [translated] * (word in counted()), word
