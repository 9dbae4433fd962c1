"""What a request is cleaned for, where the user's config says how a server is spoken with."""

from pathlib import Path

import pytest

from jan_magics.domain.models import ModelRef
from jan_magics.engine.settings import Settings
from jan_magics.providers.hosts import read_host
from tests.engine.opened import Model, opened


@pytest.mark.parametrize(
    ("api_type", "like"),
    [("anthropic", "anthropic:m"), ("google", "google:m"), ("openai", "somebody:m")],
)
def test_messages_are_cleaned_for_the_wire_that_the_config_names(
    tmp_path: Path, api_type: str, like: str
) -> None:
    fitting = opened(tmp_path, Model()).session.fitting
    table = {"address": "https://lab.example/v1", "api_type": api_type}
    settings = Settings((), {"lab": read_host("lab", table, "config.toml")})
    provider, _, name = like.partition(":")
    ours = fitting.profile(ModelRef("lab", "m"), settings)
    theirs = fitting.profile(ModelRef(provider, name), Settings((), {}))
    assert (ours.name, ours.images, ours.tools) == (theirs.name, theirs.images, theirs.tools)
