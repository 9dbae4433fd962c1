"""The profile of a model: its wire's, its server's, and what is known of it."""

from dataclasses import replace

import pytest

from jan_magics.domain.models import ANTHROPIC, GEMINI, STRICT_OPENAI, Profile, parse_model
from jan_magics.sanitize.profiles import OLLAMA, TEMPLATE, profile_for


@pytest.mark.parametrize(
    ("model", "wire", "profile"),
    [
        ("anthropic:claude", "anthropic", ANTHROPIC),
        ("https://gateway.example/v1#claude", "anthropic", ANTHROPIC),
        ("google:gemini", "google", GEMINI),
        ("openai:gpt", "openai", STRICT_OPENAI),
        ("ollama:qwen", "ollama", OLLAMA),
        ("llamacpp:qwen", "openai", TEMPLATE),
        ("mistral:large", "openai", TEMPLATE),
        ("offline:quote", "offline", TEMPLATE),
    ],
)
def test_profiles_by_wire_and_server(model: str, wire: str, profile: Profile) -> None:
    ref = parse_model(model)
    assert profile_for(ref, wire) == replace(profile, model=ref)


def test_what_is_known_of_a_model_counts() -> None:
    found = profile_for(parse_model("jan:m"), "openai", has=("vision", "chat"), lacks=["tools"])
    assert (found.images, found.tools, found.audio) == (True, False, None)
