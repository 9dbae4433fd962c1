"""Every target is given what hypothesis makes of its vocabulary, and what has failed before."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS
from tests.fuzz.vocabulary import VOCABULARY
from tests.soak import SOAK

FOUND = Path(__file__).parent / "found"
"""What has failed before: TARGET/NAME, bytes as they were found."""
EXAMPLES = 2_000 if SOAK else 60


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_answered(name: str) -> None:
    pieces = (
        st.sampled_from(VOCABULARY[name])
        | st.binary(max_size=8)
        | st.text(max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass"))
    )

    @settings(max_examples=EXAMPLES, deadline=None, database=None)
    @given(st.lists(pieces, max_size=30).map(b"".join))
    def check(data: bytes) -> None:
        TARGETS[name](data)

    check()


def test_what_was_found_once_is_answered() -> None:
    for path in sorted(FOUND.glob("*/*")):
        TARGETS[path.parent.name](path.read_bytes())
        assert path.stat().st_size


def test_every_target_has_words_of_its_own() -> None:
    assert VOCABULARY.keys() == TARGETS.keys()
    assert all(len(words) > 8 for words in VOCABULARY.values())
