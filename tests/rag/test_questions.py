"""Questions with known answers, made from what documents ask, explain and name themselves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.evaluate import evaluate, settings_of
from jan_magics.rag.headings import sections
from jan_magics.rag.judging import read_questions
from jan_magics.rag.options import Options
from jan_magics.rag.questions import known_items
from jan_magics.rag.search import search
from tests.rag.library import HASH, add, opened

GUIDE = Document(
    "guide.md",
    """# Guide

Some words before.

## Installation of `my_tool` on Windows

Run the installer and follow the steps that it shows you.

```sh
# not a heading
**not a term**: although it looks like one, it is code.
```

## How do I reset my password?

Open the settings and choose reset. A mail comes.

### Details

It takes a minute until the mail is there.

## FAQ

**Can I use it offline?**

Yes: everything stays on your machine.

Q: Is it free?
A: Yes, it costs nothing at all for anyone.

问：可以离线使用吗？
答：可以，所有内容都保存在你的电脑上。

## Glossary

- **Chunk**: a span of a document that is embedded as a whole.
- embedding: a vector that stands for the meaning of a text
- **召回率**：在前 k 个结果中找到的相关文档所占的比例。

| nDCG | a measure of a ranking that looks at the order |
|------|------------------------------------------------|

Term of old
: the definition of it is written like this.

## 使用说明书的更新

更新时请先备份数据，然后再安装新版本。

## Overview

Nothing of interest here at all, really nothing.
""",
    "markdown",
)
REST = Document(
    "slow.rst",
    """Speed
=====

Why is it slow?
---------------

Because it reads all files again each time.

Terms
-----

hybrid
   both sides of a search together as one

Using the cache
---------------

The cache keeps the vectors of all texts.

Details
-------

These are further details of the matter.
""",
)
EXPECTED = {
    "How do I reset my password?": "Open the settings and choose reset. A mail comes.",
    "Can I use it offline?": "Yes: everything stays on your machine.",
    "Is it free?": "Yes, it costs nothing at all for anyone.",
    "可以离线使用吗？": "可以，所有内容都保存在你的电脑上。",
    "What is Chunk?": "a span of a document that is embedded as a whole.",
    "What is embedding?": "a vector that stands for the meaning of a text",
    "什么是召回率？": "在前 k 个结果中找到的相关文档所占的比例。",
    "What is nDCG?": "a measure of a ranking that looks at the order",
    "What is Term of old?": "the definition of it is written like this.",
    "How do I reset my password?: Details": "It takes a minute until the mail is there.",
    "使用说明书的更新": "更新时请先备份数据，然后再安装新版本。",
    "Why is it slow?": "Because it reads all files again each time.",
    "What is hybrid?": "both sides of a search together as one",
    "Using the cache": "The cache keeps the vectors of all texts.",
    "Speed: Details": "These are further details of the matter.",
}


def test_documents_ask_what_they_answer() -> None:
    made = known_items([GUIDE, REST])
    found = {item.question: item.text for item in made}
    assert found.pop("Installation of my_tool on Windows").startswith(
        "Run the installer and follow"
    )
    assert found == EXPECTED
    for item in made:
        document = GUIDE if item.source == "guide.md" else REST
        assert document.text[item.start : item.end] == item.text
    assert [item.source for item in made] == sorted(item.source for item in made)


def test_a_heading_of_several_sections_asks_nothing() -> None:
    text = "# Setting things up\n\nIt is done by hand and takes some time.\n"
    made = known_items([Document("a.md", text), Document("b.md", text.replace("hand", "machine"))])
    assert made == ()
    assert len(known_items([Document("a.md", text)])) == 1


def test_few_questions_are_of_every_kind_and_always_the_same() -> None:
    made = known_items([GUIDE, REST], 3)
    assert made == known_items([GUIDE, REST], 3)
    assert len(made) == 3
    assert set(made) <= set(known_items([GUIDE, REST], 6)) <= set(known_items([GUIDE, REST]))
    assert any("?" in item.question and "What is" not in item.question for item in made)
    assert any(item.question.startswith(("What is", "什么是")) for item in made)


def test_code_and_tables_ask_nothing() -> None:
    text = "# Why is it so?\n\nBecause it is a comment of a program.\n"
    for name, made in (("code", 0), ("table", 0), ("markdown", 1)):
        kind = Document("a", text, name)  # type: ignore[arg-type]
        assert len(known_items([kind])) == made


@pytest.mark.parametrize("n", [0, -1])
def test_no_questions_cannot_be_asked_for(n: int) -> None:
    with pytest.raises(SettingError, match=r"questions cannot be made\nAsk for one or more: -n 50"):
        known_items([GUIDE], n)


def test_sections_know_what_is_above_them() -> None:
    found = [(each.title, each.level, each.parents) for each in sections(GUIDE.text)]
    assert found[:4] == [
        ("Guide", 1, ()),
        ("Installation of my_tool on Windows", 2, ("Guide",)),
        ("How do I reset my password?", 2, ("Guide",)),
        ("Details", 3, ("Guide", "How do I reset my password?")),
    ]
    assert [(each.title, each.level) for each in sections(REST.text)] == [
        ("Speed", 1), ("Why is it slow?", 2), ("Terms", 2), ("Using the cache", 2), ("Details", 2),
    ]  # fmt: skip
    assert sections("a rule below\n---") == ()
    assert [
        each.title for each in sections("===\nTop\n===\n\n中文标题\n=====\n\n`Code` [x](y)\n-" * 9)
    ]


@given(st.text("#= -\nab?？:：*Q A|中文。`", max_size=200))
def test_any_text_gives_exact_places(text: str) -> None:
    for item in known_items([Document("a", text)]):
        assert text[item.start : item.end] == item.text == item.text.strip() != ""
        assert item.question


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        "# a\n",
        "Q: x?\n",
        "a" * 50,
        " ",
        "**a**: b\n",
        "x\n---\n",
        "|a",
        "- a: b\n",
        "\n",
        "Q: ",
        "**a",
        "?? ",
    ],
)
def test_long_documents_take_no_time(piece: str) -> None:
    assert len(known_items([Document("a", piece * 20_000)], 5)) <= 5


def test_what_is_asked_is_found(tmp_path: Path) -> None:
    """The whole way, offline: make questions, search for them, measure."""
    collection = opened(tmp_path / "made.db")
    add(collection, GUIDE, REST)
    made = [
        {"question": item.question, "source": item.source, "start": item.start, "end": item.end}
        for item in known_items([GUIDE, REST])
    ]
    report = evaluate(
        read_questions(made),
        settings_of({"mode": ["keyword", "vector", "hybrid"]}),
        lambda setting: (
            lambda text: search(collection, [text], Options(mode=setting["mode"]), HASH)[0].hits  # type: ignore[arg-type]
        ),
    )
    collection.close()
    assert [row.n for row in report.settings] == [16, 16, 16]
    for row in report.settings:
        assert row.ndcg is not None
        assert row.recall is not None
        assert row.ndcg > 0.3
        assert row.recall > 0.4
