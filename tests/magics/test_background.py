"""`%%chat --background`: other cells run meanwhile, and each answer stays in its own cell."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import TURN, Kernel, running_kernel

SLOW = "-m offline:echo -P pace=0.05"
WORDS = " ".join(f"word{number}" for number in range(20))


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path) as running:
        running.ok("%load_ext jan_magics")
        yield running


def test_it_returns_at_once_and_the_answer_comes(kernel: Kernel) -> None:
    ran = kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    assert ran.seconds < 1.5
    assert ran.displays
    assert "background turn" in ran.result
    assert kernel.ok("running.done").result == "False"
    assert kernel.run("running.answer").status == "error"
    assert kernel.ok("running.wait().text").result == repr(WORDS)
    assert kernel.ok("running.done, running.answer.finish").result == "(True, 'stop')"


def test_the_answer_streams_into_its_own_cell(kernel: Kernel) -> None:
    ran = kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    place = len(ran.displays)
    later = kernel.ok("import time\ntime.sleep(1.5)\nprint('mine')")
    assert later.out == "mine\n"
    assert later.displays == []  # what arrives is an update of the first cell's display
    kernel.ok("running.wait().text")
    assert place == 1


def test_a_second_turn_waits_and_goes_below_the_first(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    kernel.ok("%%chat -m offline:echo\nsecond")
    texts = kernel.ok("print(*__import__('jan_magics').current().messages().text, sep='|')").out
    assert texts == "|".join((WORDS, WORDS, "second", "second")) + "\n"
    assert kernel.ok("running.done").result == "True"


def test_threads_answer_at_the_same_time(kernel: Kernel) -> None:
    begun = time.perf_counter()
    for name in "abc":
        kernel.ok(f"%%chat {SLOW} -t {name} --background -o {name}\n{WORDS}")
    for name in "abc":
        kernel.ok(f"{name}.wait()")
    assert time.perf_counter() - begun < 2.5  # one after the other it would be more than three
    ran = kernel.ok("%%chat -m offline:echo\nnext")
    plain = ran.displays[-1]["text/plain"]
    assert "a background turn in " in plain


def test_stop_keeps_what_was_said(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    kernel.ok("import time; time.sleep(0.5)")
    kernel.ok("running.stop()")
    assert kernel.run("running.wait()").error[0] == "Stopped"  # type: ignore[index]
    turns = kernel.ok("__import__('jan_magics').current().turns().finish.tolist()").result
    assert turns == "['stopped']"
    assert kernel.ok("%chat stop").result == "nothing is being answered"


def test_the_stop_verb_stops_it(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    assert kernel.ok("%chat stop").result == "stopped 1 turn"


def test_a_failure_is_shown_in_its_cell_and_raised_by_wait(kernel: Kernel) -> None:
    kernel.ok("%%chat -m offline:echo -P fail=before --background -o running\nhello")
    ran = kernel.run("running.wait()")
    assert ran.error is not None
    assert ran.error[0] not in ("Stopped", "AttributeError")
    assert (
        "background turn in" in kernel.ok("%%chat -m offline:echo\nnext").displays[-1]["text/plain"]
    )


def test_show_attaches_a_turn_that_goes_on(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    shown = kernel.ok("%chat show\nrunning.wait()")
    assert shown.displays[0][TURN]["text"] == WORDS
