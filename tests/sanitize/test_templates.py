"""Chat templates: the rules on which those of Qwen, Gemma and Mistral fail, as templates that fail.

Rendered is what goes over the wire, after cleaning, of histories that are broken in every way.
"""

from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import jinja2
import pytest
from hypothesis import assume, given, settings

from jan_magics.domain.messages import Message
from jan_magics.domain.models import ALTERNATING, Profile
from jan_magics.sanitize.pipeline import clean
from jan_magics.sanitize.question import has_question
from tests.context.histories import EXAMPLES
from tests.sanitize.histories import ANY_ROLE, SINGLE_SYSTEM
from tests.sanitize.saying import answer, call, result, says, user, wire

# One system message, at the beginning; somewhere a question that is no tool result.
QWEN: Final = """
{%- set seen = namespace(query=false) -%}
{%- for message in messages -%}
  {%- set said = message.content if message.content is string else "media" -%}
  {%- if message.role == "system" and not loop.first -%}
    {{ fail("system message that is not at the beginning") }}
  {%- elif message.role not in ("system", "user", "assistant", "tool") -%}
    {{ fail("unknown role") }}
  {%- elif message.role == "user" and said | trim and not (
      said.strip().startswith("<tool_response>") and said.strip().endswith("</tool_response>")) -%}
    {%- set seen.query = true -%}
  {%- endif -%}
  <|{{ message.role }}|>{{ said }}
{%- endfor -%}
{%- if not seen.query -%}{{ fail("no user query") }}{%- endif -%}
"""

# No system role, no tools: question and answer in turn, the question first.
GEMMA: Final = """
{%- for message in messages -%}
  {%- if message.role == "system" -%}{{ fail("system role not supported") }}{%- endif -%}
  {%- if (message.role == "user") != (loop.index0 % 2 == 0) -%}
    {{ fail("roles must alternate") }}
  {%- endif -%}
  <|{{ message.role }}|>{{ message.content | trim }}
{%- endfor -%}
"""

# Question and answer in turn, where calls and results do not count; ids have nine letters.
MISTRAL: Final = """
{%- set spoken = messages[1:] if messages[0].role == "system" else messages -%}
{%- set turn = namespace(index=0) -%}
{%- for message in spoken -%}
  {%- if message.role != "tool" and not message.tool_calls -%}
    {%- if (message.role == "user") != (turn.index % 2 == 0) -%}
      {{ fail("roles must alternate") }}
    {%- endif -%}
    {%- set turn.index = turn.index + 1 -%}
  {%- endif -%}
{%- endfor -%}
{%- for message in spoken -%}
  {%- if message.role not in ("user", "assistant", "tool") -%}
    {{ fail("unknown role") }}
  {%- endif -%}
  {%- if message.role == "tool" and message.tool_call_id | length != 9 -%}
    {{ fail("ids have nine letters") }}
  {%- endif -%}
  {%- for made in message.tool_calls or [] -%}
    {%- if made.id | length != 9 -%}{{ fail("ids have nine letters") }}{%- endif -%}
  {%- endfor -%}
  <|{{ message.role }}|>{{ message.content }}
{%- endfor -%}
"""

PROFILES: Final = MappingProxyType(
    {
        "qwen": SINGLE_SYSTEM,
        "gemma": replace(
            ALTERNATING, system="none", tools=False, images=False, audio=False, video=False
        ),
        "mistral": replace(ALTERNATING, call_ids="[A-Za-z0-9]{9}"),
    }
)


class Refused(Exception):
    """A template does not take the messages."""


def fail(reason: str) -> None:
    raise Refused(reason)


JINJA: Final = jinja2.Environment(autoescape=False)  # noqa: S701 - it is no HTML
TEMPLATES: Final = MappingProxyType(
    {
        name: JINJA.from_string(text, {"fail": fail})
        for name, text in (("qwen", QWEN), ("gemma", GEMMA), ("mistral", MISTRAL))
    }
)


def render(name: str, messages: Any) -> str:
    return TEMPLATES[name].render(messages=messages)


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("qwen", [user("q"), answer("x"), says("s", "system", "the summary"), user("r")]),
        ("qwen", [user("<tool_response>x</tool_response>")]),
        ("gemma", [says("s", "system", "be brief"), user("q")]),
        ("gemma", [user("q"), user("r")]),
        ("gemma", [answer("x"), user("q")]),
        ("gemma", [user("q"), answer(call("1"), result("1"), "y")]),
        ("mistral", [user("q"), answer("x"), answer("y"), user("r")]),
        ("mistral", [user("q"), answer(call("1"), result("1"), "y")]),
        ("mistral", [user("q"), answer(call("a" * 9), result("a" * 9)), user("r")]),
    ],
)
def test_templates_refuse_what_was_not_cleaned(name: str, history: list[Message]) -> None:
    with pytest.raises(Refused):
        render(name, wire(*history))
    sent = clean(history, PROFILES[name]).messages
    if has_question(sent):
        assert render(name, wire(*sent))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", TEMPLATES)
@given(history=ANY_ROLE)
@settings(max_examples=EXAMPLES // 5, deadline=None)
def test_templates_take_every_history_that_was_cleaned(name: str, history: Any) -> None:
    profile: Profile = PROFILES[name]
    sent = clean(history, profile).messages
    assume(has_question(sent))
    assert render(name, wire(*sent)).startswith(("<|system|>", "<|user|>"))
