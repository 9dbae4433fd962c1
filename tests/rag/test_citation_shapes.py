"""Citations in the shapes of other programs, with the same places."""

from typing import Any

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.rag.citation_shapes import citations_as
from jan_magics.rag.citations import cite
from tests.rag.sources import BRIDGE, HITS, MAY, RIVER

ANSWER = "Well. It froze early [1][3]. 桥也关闭了[2]。 So it is."
CITATIONS = cite(ANSWER, HITS).citations


def test_anthropic() -> None:
    blocks: Any = citations_as("anthropic", ANSWER, CITATIONS)
    assert "".join(block["text"] for block in blocks) == ANSWER
    cited = {block["text"]: block["citations"] for block in blocks if "citations" in block}
    assert list(cited) == ["It froze early", "桥也关闭了"]
    first, second = cited["It froze early"]
    assert first == {
        "type": "char_location",
        "cited_text": RIVER.text,
        "document_index": 0,
        "document_title": "notes/河流.md",
        "start_char_index": RIVER.chunk.start,
        "end_char_index": RIVER.chunk.end,
    }
    assert (second["document_index"], second["document_title"]) == (1, "plan.md")
    assert cited["桥也关闭了"][0]["document_index"] == 0
    assert all(block["type"] == "text" for block in blocks)


def test_cohere() -> None:
    message: Any = citations_as("cohere", ANSWER, CITATIONS)
    assert message["content"] == [{"type": "text", "text": ANSWER}]
    first, second = message["citations"]
    for each in (first, second):
        assert ANSWER[each["start"] : each["end"]] == each["text"]
        assert each["type"] == "TEXT_CONTENT"
    assert [source["id"] for source in first["sources"]] == [RIVER.chunk.id, MAY.chunk.id]
    assert second["sources"] == [
        {
            "type": "document",
            "id": BRIDGE.chunk.id,
            "document": {"id": BRIDGE.chunk.id, "title": BRIDGE.source, "snippet": BRIDGE.text},
        }
    ]


def test_without_citations_the_text_is_all() -> None:
    assert citations_as("anthropic", "Hi", ()) == [{"type": "text", "text": "Hi"}]
    assert citations_as("anthropic", "", ()) == []


def test_another_shape_is_refused() -> None:
    with pytest.raises(SettingError, match=r"no shape 'openai'.*\n.*'anthropic', 'cohere'"):
        citations_as("openai", ANSWER, CITATIONS)
