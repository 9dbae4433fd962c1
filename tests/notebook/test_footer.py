"""The line under an answer: model, tokens, cost, time, and what went otherwise."""

from dataclasses import replace

import pytest

from jan_magics.domain.models import Timings, Usage
from jan_magics.notebook.footer import Footer, footer_text, short_title

TURN = Footer(
    model="smollm2",
    usage=Usage(42, 8),
    timings=Timings(total=1.23, tokens_per_second=83.2),
    thread="notes",
    thread_state="new",
)


def test_the_whole_line() -> None:
    assert footer_text(TURN, stable=False) == "smollm2 · 42→8 tok · 83 tok/s · 1.2 s │ notes (new)"


def test_a_stable_line_has_no_times() -> None:
    assert footer_text(TURN, stable=True) == "smollm2 · 42→8 tok │ notes (new)"


CASES = [
    (Footer(model="m"), "m"),
    (Footer(model="m", usage=Usage()), "m"),
    (Footer(model="m", usage=Usage(None, 3)), "m · ?→3 tok"),
    (Footer(model="m", usage=Usage(42, 8, 30)), "m · 42→8 tok (cached 30)"),
    (Footer(model="m", usage=Usage(42, 8), estimated=True), "m · ≈42→≈8 tok"),
    (Footer(model="m", usage=Usage(9_999, 12_345)), "m · 9999→12.3k tok"),
    (Footer(model="m", usage=Usage(999_949, 999_950)), "m · 999.9k→1.0M tok"),
    (Footer(model="m", timings=Timings(total=0.04, tokens_per_second=7.44)),
     "m · 7.4 tok/s · 0.04 s"),
    (Footer(model="m", thread="t", thread_state="continued", thread_messages=14),
     "m │ t (continued, 14 messages)"),
    (Footer(model="m", thread="t", thread_state="continued", thread_messages=1),
     "m │ t (continued, 1 message)"),
    (Footer(model="m", thread="t", version=2, versions=3), "m │ t · answer ‹2/3›"),
    (Footer(model="m", version=2, versions=3), "m │ answer ‹2/3›"),
    (Footer(model="m", version=2, versions=3, counted="question"), "m │ question ‹2/3›"),
    (Footer(model="m", counted="question"), "m"),
    (Footer(model="m", sees=12, total=40, trimmed=28), "m │ sees 12 of 40 messages (28 trimmed)"),
    (
        Footer(model="m", sees=7, total=13, covered=4, cleared=2),
        "m │ sees 7 of 13 messages (4 in a summary, 2 cleared)",
    ),
    (Footer(model="m", sees=40, total=40, trimmed=0), "m"),
    (Footer(model="m", flags=("stopped", "replayed")), "m │ stopped, replayed"),
    (Footer(model="m", lines=("one", "", "two")), "m\none\ntwo"),
]  # fmt: skip


@pytest.mark.parametrize(("footer", "want"), CASES)
def test_pieces_of_the_footer(footer: Footer, want: str) -> None:
    assert footer_text(footer, stable=False) == want


def test_a_title_stays_one_short_line() -> None:
    family = "👨‍👩‍👧"
    assert short_title("a\n b\x1b[0m\u202e\x00c") == "a b[0mc"
    assert short_title("长" * 40) == "长" * 40
    assert short_title("长" * 41) == "长" * 39 + "…"
    assert short_title(family * 41) == family * 39 + "…"
    assert short_title("e\u0301" * 41) == "e\u0301" * 39 + "…"
    assert short_title("🇩🇪" * 41) == "🇩🇪" * 39 + "…"
    assert short_title("👍🏽" * 41) == "👍🏽" * 39 + "…"
    assert footer_text(replace(TURN, thread="\ud800"), stable=True) == "smollm2 · 42→8 tok"
