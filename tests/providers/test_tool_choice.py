"""Which tool must be called, in the words of each wire."""

from dataclasses import replace
from typing import Any

import pytest

from jan_magics.domain.models import ToolSpec
from jan_magics.providers.anthropic_wire import encode as to_anthropic
from jan_magics.providers.dialects import ANTHROPIC, GOOGLE, OLLAMA
from jan_magics.providers.google_wire import encode as to_google
from jan_magics.providers.ollama import letter_for
from tests.providers.asking import asking

TOOL = ToolSpec("stock", "Look up.", {"type": "object", "properties": {}})
NAMED = {"type": "function", "function": {"name": "stock"}}


@pytest.mark.parametrize(
    ("choice", "anthropic", "google"),
    [
        ("auto", {"type": "auto"}, {"mode": "AUTO"}),
        ("none", {"type": "none"}, {"mode": "NONE"}),
        ("required", {"type": "any"}, {"mode": "ANY"}),
        (NAMED, {"type": "tool", "name": "stock"},
         {"mode": "ANY", "allowedFunctionNames": ["stock"]}),
    ],
)  # fmt: skip
def test_a_choice_is_said_as_the_wire_says_it(choice: Any, anthropic: Any, google: Any) -> None:
    plain = asking("hi", parameters={"tool_choice": choice})
    request = replace(plain, tools=(TOOL,))
    assert to_anthropic(request, ANTHROPIC)["tool_choice"] == anthropic
    assert to_google(request, GOOGLE)["toolConfig"] == {"functionCallingConfig": google}
    assert "generationConfig" not in to_google(request, GOOGLE)
    assert "tool_choice" not in to_anthropic(plain, ANTHROPIC)
    assert "toolConfig" not in to_google(plain, GOOGLE)


def test_where_there_is_no_choice_it_is_left_out_and_said() -> None:
    letter = letter_for(asking("hi", parameters={"tool_choice": "required"}), OLLAMA)
    assert [each.name for each in letter.settled.left_out] == ["tool_choice"]
    assert "options" not in letter.body
