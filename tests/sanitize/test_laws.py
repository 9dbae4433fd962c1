"""Cleaning is pure and idempotent, invents no word of the user, and is always accepted."""

import copy
import re
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    TextPart,
    stored_id,
)
from jan_magics.domain.models import Profile
from jan_magics.sanitize.names import file_name
from jan_magics.sanitize.pipeline import STEPS, clean
from jan_magics.sanitize.question import has_question
from jan_magics.sanitize.roles import EMPTY
from jan_magics.sanitize.validate import validate
from tests.context.histories import EXAMPLES
from tests.sanitize.histories import ANY_ROLE, ON_A_PATH, PROFILES, turns_of

History = tuple[Message, ...]
LEFT_OUT = re.compile(r"\[Left out, because the model cannot take it: [^\n]*\]")


@pytest.mark.timeout(900)
@given(ANY_ROLE)
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_is_cleaned_is_accepted_by_every_provider(history: History) -> None:
    for profile in PROFILES:
        sent = clean(history, profile).messages
        faults = validate(sent, profile)
        expected = set() if has_question(sent) else {"question"}
        assert {fault.rule for fault in faults} <= expected, (profile.name, faults)


@given(ANY_ROLE, st.sampled_from(PROFILES))
@settings(max_examples=EXAMPLES // 5, deadline=None)
def test_each_step_is_pure_and_changes_nothing_the_second_time(
    history: History, profile: Profile
) -> None:
    messages = history
    for rule, step in STEPS:
        for given_messages in (messages, history):
            before = copy.deepcopy(given_messages)
            once = step(given_messages, profile)
            assert given_messages == before, rule
            assert step(once, profile) == once, (rule, step)
        messages = step(messages, profile)
    assert clean(history, profile).messages == messages == clean(messages, profile).messages


@given(ANY_ROLE, st.sampled_from(PROFILES))
@settings(max_examples=EXAMPLES // 5, deadline=None)
def test_no_word_of_the_user_is_invented_and_none_is_lost(
    history: History, profile: Profile
) -> None:
    said = words_of(history)
    sent = set[str]()
    for message in clean(history, profile).messages:
        for part in message.parts if message.role == "user" else ():
            if isinstance(part, TextPart):
                sent.update(own_words(part.text))
    # A text file whose address holds its content is told in words: ABC and A in the histories.
    told = {"File:", "attachment", "ABC", "A"}
    assert sent <= said | told | told_by_system(history, profile)
    for message in history:
        if message.role == "user":
            assert own_words(*(p.text for p in message.parts if isinstance(p, TextPart))) <= sent


@given(ON_A_PATH, st.sampled_from(PROFILES), st.data())
@settings(max_examples=EXAMPLES // 5, deadline=None)
def test_each_turn_is_repaired_by_itself(
    history: History, profile: Profile, data: st.DataObject
) -> None:
    sent = clean(history, profile).messages
    turns = turns_of(sent)
    # Leaving out whole turns before the last needs no other repair.
    kept = [turn for turn in turns[:-1] if data.draw(st.booleans())] + turns[-1:]
    planned = tuple(message for turn in kept for message in turn)
    assert clean(planned, profile).messages == planned
    # Cleaning may begin at any question, and what comes later changes nothing before a question.
    places = {message.id: n for n, message in enumerate(history)}
    done = 0
    for n, turn in enumerate(turns):
        place = places[stored_id(turn[0].id)]
        assert clean(history[place:], profile).messages == sent[done:]
        assert clean(history[: place + 1], profile).messages[:done] == sent[:done], n
        done += len(turn)


def own_words(*texts: str) -> set[str]:
    """Return words as they can be sent, without what a note or a list of files says."""
    found = set[str]()
    for text in texts:
        mended = re.sub("[\0\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", whole(text))
        bare = LEFT_OUT.sub("", mended).replace(EMPTY, "")
        lines = [line for line in bare.split("\n") if not line.startswith(("[ATT", "[/ATT", "- f"))]
        found.update(" ".join(lines).split())
    return found


def whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def words_of(history: History) -> set[str]:
    found = set[str]()
    for message in history:
        if message.role != "user":
            continue
        found |= own_words(*strings(dict(message.metadata)))
        for part in message.parts:
            if isinstance(part, TextPart):
                found |= own_words(part.text)
            elif isinstance(part, FilePart):
                found |= words_of_file(part)
    return found


def words_of_file(part: FilePart) -> set[str]:
    """Return what can be told of a file in words: its name, also cut short, and its content."""
    data = (part.data or b"").decode() + (" A ABC" if part.url else "")
    return own_words(f"{part.name or ''} {data}") | shortened(part.name)


def shortened(name: str | None) -> set[str]:
    """Return the words of a name as it is cut for each profile."""
    cut = {file_name(name, profile.longest_file_name) for profile in PROFILES} if name else ()
    return own_words(*cut)


def told_by_system(history: History, profile: Profile) -> set[str]:
    if profile.system != "none":
        return set()
    parts = [part for each in history if each.role == "system" for part in each.parts]
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    files = [words_of_file(part) for part in parts if isinstance(part, FilePart)]
    return own_words(*texts).union(*files)


def strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
