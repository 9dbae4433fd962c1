"""A planner's cleaning is the cleaning, also where it takes the short way."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.messages import FilePart, Message
from jan_magics.domain.models import Profile
from jan_magics.sanitize.cleaner import Cleaner, is_plain
from jan_magics.sanitize.pipeline import clean
from tests.context.histories import say
from tests.sanitize.histories import VALIDATORS

texts = st.sampled_from(["", " ", "hello", "你好 🦊", "a\x00b", "\ud83d", "[ATTACHED_FILES] no"])
messages = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=8).map(
    lambda drawn: [say(f"m{n}", role, text) for n, (role, text) in enumerate(drawn)]  # type: ignore[arg-type]
)


@given(messages, st.sampled_from(VALIDATORS))
def test_the_short_way_leads_to_the_same(said: Sequence[Message], profile: Profile) -> None:
    assert Cleaner(profile)(said) == clean(said, profile).messages


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        (say("m0", "user", "hello 你好 🦊"), True),
        (say("m0", "user", "a\x00b"), False),
        (say("m0", "user", "\ud83d"), False),
        (say("m0", "system", "hello"), False),
        (say("m0", "user", " "), False),
        (say("m0", "user", "see", FilePart("image/png", data=b"1")), False),
        (replace(say("m0", "user", "x"), metadata={"attached_files": []}), False),
        (replace(say("m0", "user", "x"), metadata={"jan_magics": {}}), True),
    ],
)  # fmt: skip
def test_only_one_text_without_more_is_plain(message: Message, plain: bool) -> None:
    assert is_plain(message) is plain
