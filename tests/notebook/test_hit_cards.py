"""Hits as cards: nothing of a text is lost, its scores and marks are true, nothing in it acts."""

import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.domain.errors import SettingError
from jan_magics.notebook.hit_cards import MOST_CARDS, HitCards

PAGES = pd.Series(
    [
        "熊猫吃竹子。 The panda eats bamboo all day. 🎉",
        "Foxes hunt mice. <script>alert('bamboo')</script> & \\href{x}{y}\nA fox sleeps.",
        "Boats are made of wood, not of bamboo.\n\n    x = 1\n",
    ],
    index=["熊猫", "fox", "boat"], name="page",
)  # fmt: skip
QUESTION = "What does a 熊猫 do with bamboo?"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> jan.Collection:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAN_EMBEDDER", "hash")
    found = jan.Collection("pages.db")
    found.add(PAGES)
    return found


def html(shown: object) -> str:
    assert isinstance(shown, HitCards)
    return str(shown._repr_mimebundle_()["text/html"])


def texts(page: str) -> list[str]:
    """Return the text of each card as a reader sees it."""
    boxes = re.findall(r'aria-label="text">(.*?)</div></section>', page, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", "", box)) for box in boxes]


def marked(page: str) -> set[str]:
    return {unescape(each) for each in re.findall(r"<mark[^>]*>(.*?)</mark>", page)}


def test_every_text_is_whole_and_the_words_of_the_question_are_marked(
    pages: jan.Collection,
) -> None:
    hits = pages.search(QUESTION)
    page = html(jan.show(hits))
    assert [each.replace("\\ href", "\\href") for each in texts(page)] == [
        text.strip("\n") for text in hits.text
    ]
    assert marked(page) == {"熊猫", "bamboo"}
    assert "<script" not in page
    assert "\\href" not in page


def test_scores_and_what_dropped_a_hit_are_told_in_words(pages: jan.Collection) -> None:
    hits = pages.search(QUESTION, k=1, all=True)
    page, plain = html(jan.show(hits)), str(jan.show(hits))
    for shown in (page, plain):
        assert "1 hit used, 2 not" in shown
        assert "not used: dropped by k" in shown
        assert f"{hits.score[0]:.3g}" in shown
        assert f"{hits.bm25[0]:.3g}, rank 1" in shown
        assert "mode hybrid" in shown
    assert re.findall(r'section style="[^"]*" aria-label="([^"]*)"', page) == [
        "rank 1, used",
        "rank 2, not used: dropped by k",
        "rank 3, not used: dropped by k",
    ]


def test_the_longest_bar_is_the_best_and_a_cosine_is_full_at_one(pages: jan.Collection) -> None:
    shown = jan.show(pages.search(QUESTION))
    assert isinstance(shown, HitCards)
    cards = shown.asked[0].cards
    bars = [{bar.name: bar for bar in card.bars} for card in cards]
    assert bars[0]["bm25"].share == bars[0]["score"].share == 1
    assert all(each["vector"].share == max(0, each["vector"].value) for each in bars)
    assert all(0 <= bar.share <= 1 for each in bars for bar in each.values())


def test_what_a_full_bar_is_stands_above_the_cards(pages: jan.Collection) -> None:
    hits = pages.search(QUESTION, k=1, all=True)
    told = (
        f"a full bar is score {hits.score.max():.3g}, vector 1, bm25 {hits.bm25.max():.3g}: "
        "only bars of the same name can be compared"
    )
    assert told in html(jan.show(hits))
    assert told in " ".join(str(jan.show(hits)).split())


def test_words_alone_show_no_vector(pages: jan.Collection) -> None:
    plain = str(jan.show(pages.search("bamboo", mode="keyword")))
    assert "bm25" in plain
    assert "vector" not in plain


def test_many_questions_are_shown_one_after_another(pages: jan.Collection) -> None:
    shown = jan.show(pages.search(["bamboo", "狐 fox"], k=1))
    assert isinstance(shown, HitCards)
    assert [each.question for each in shown.asked] == ["bamboo", "狐 fox"]
    assert marked(html(shown)) == {"bamboo", "fox"}


def test_sources_of_an_answer_say_which_are_cited(pages: jan.Collection) -> None:
    with jan.Chat("zoo", model="offline:quote") as chat:
        answer = chat.send("What does a panda eat?", collection="pages.db", k=2, show=False)
    page = html(jan.show(answer.sources))
    assert 'aria-label="[1], cited"' in page
    assert 'aria-label="[2], sent, not cited"' in page
    assert "panda" in marked(page)


def test_an_edited_table_is_shown_as_far_as_it_goes() -> None:
    rows = pd.DataFrame({"score": [1.0, None], "source": ["a", "b"], "text": ["x", None]})
    assert str(jan.show(rows)).count("┌ hit · used") == 2
    assert str(jan.show(rows.head(0))) == "no hits"
    assert "no hits" in html(jan.show(rows.head(0)))


def test_very_many_hits_are_not_all_shown() -> None:
    rows = pd.DataFrame({"score": 1.0, "source": "a", "text": "x"}, index=range(MOST_CARDS + 3))
    assert "3 hits more" in str(jan.show(rows))
    assert html(jan.show(rows)).count("<section") == MOST_CARDS


def test_another_table_is_refused() -> None:
    with pytest.raises(SettingError, match="nothing to read in a DataFrame"):
        jan.show(pd.DataFrame({"a": [1]}))
