"""Where code stands in an answer, whoever wrote it and however badly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.code_spans import code_spans


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no code at all", []),
        ("run `ls` and ``a ` b``", ["`ls`", "``a ` b``"]),
        ("a ` alone", []),
        (r"escaped \`no code\` here", []),
        ("```py\nx[1]\n```\nafter", ["```py\nx[1]\n```"]),
        ("~~~\nx[1]\n~~~\nafter", ["~~~\nx[1]\n~~~"]),
        ("~~~~\n~~~\nx\n~~~~\nafter", ["~~~~\n~~~\nx\n~~~~"]),
        ("before\n```\nnever closed [1]", ["```\nnever closed [1]"]),
        ("~~~ never closed\n\n[1]\n", ["~~~ never closed\n\n[1]\n"]),
        ("- item\n  ```\n  x\n\n  y\nafter", ["  ```\n  x\n\n  y"]),
        ("> ```\n> x\nafter `y`", ["> ```\n> x", "`y`"]),
        ("1. ```\n   x\n   ```\n2. two", ["1. ```\n   x\n   ```"]),
        ("para\n\n    indented [1]\n\n    more\n\nafter", ["    indented [1]\n\n    more"]),
        ("- item\n\n    of the item", []),
        ("para\n    goes on", []),
        ("a `b\n\nc` d", []),
        ("- a `b\n- c` d", []),
        ("a `b\nc` d", ["`b\nc`"]),
        ("``` not a fence ` x\n", []),
        ("中文 `代码。` 之后", ["`代码。`"]),
        ("```\r\nx[1]\r\n```\r\nafter", ["```\r\nx[1]\r\n```\r"]),
    ],
)
def test_code_is_found(text: str, code: list[str]) -> None:
    assert [text[each.start : each.end] for each in code_spans(text)] == code


@given(st.text("`~\\ \n\t>-1.a中", max_size=80))
def test_any_text_has_its_code_in_order(text: str) -> None:
    at = 0
    for each in code_spans(text):
        assert at <= each.start < each.end <= len(text)
        at = each.end


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["`" * 200_000, "` `` " * 50_000, "- " * 100_000, "> " * 100_000])
def test_what_is_made_to_be_slow_is_not(text: str) -> None:
    assert len(code_spans(text)) <= len(text)
