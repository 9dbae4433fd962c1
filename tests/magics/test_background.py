"""`%%chat --background`: other cells run meanwhile, and each answer stays in its own cell."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import ThreadError
from tests.kernel import TURN, Kernel, running_kernel

SLOW = "-m offline:echo -P pace=0.05"
WORDS = " ".join(f"word{number}" for number in range(20))

LONG = " ".join(f"词{number}" for number in range(150))
SPEAKS = "while not running._latest.text: __import__('time').sleep(0.01)"
STOPPED = "('stopped', 'stopped')"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path) as running:
        running.ok("%load_ext jan_magics")
        yield running


def test_it_returns_at_once_and_the_answer_comes(kernel: Kernel) -> None:
    kernel.ok("%chat version")  # loads what the first call needs
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
    for name in "abc":
        kernel.ok(f"%%chat {SLOW} -t {name} --background -o {name}\n{LONG}")
    for name in "abc":
        kernel.ok(SPEAKS.replace("running", name))
    # All three have begun to speak, and none is over yet.
    assert kernel.ok("a.done, b.done, c.done").result == "(False, False, False)"
    kernel.ok("%chat stop")
    for name in "abc":
        kernel.ok(f"{name}.wait()")
    ran = kernel.ok("%%chat -m offline:echo\nnext")
    plain = ran.displays[-1]["text/plain"]
    assert "a background turn in " not in plain  # who has waited knows


def news(kernel: Kernel) -> list[str]:
    plain = kernel.ok("%%chat -m offline:echo -t elsewhere\nnext").displays[-1]["text/plain"]
    return [line for line in plain.splitlines() if line.startswith("a background turn")]


def test_the_next_footer_tells_once_what_nobody_has_waited_for(kernel: Kernel) -> None:
    kernel.ok("%%chat -m offline:echo -t 笔记 --background -o running\nhello")
    kernel.ok("while not running.done: __import__('time').sleep(0.01)")
    kernel.ok("%chat rename 笔记 日志")
    assert news(kernel) == ["a background turn in 日志 finished"]
    assert news(kernel) == []
    kernel.ok("%%chat -m offline:echo -t 日志 --background -o running\nhello")
    kernel.ok("running.wait()")
    assert news(kernel) == []


def test_a_thread_that_is_being_answered_is_not_deleted(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} -t notes --background -o running\n{WORDS}")
    kernel.ok("import time; time.sleep(0.3)")
    ran = kernel.run("%chat delete notes")
    assert ran.error is not None
    assert ran.error[2] == [
        "ThreadError: a turn is running in 'notes'", "Wait for it, or stop it: %chat stop",
    ]  # fmt: skip
    assert kernel.ok("running.wait().text").result == repr(WORDS)
    assert "is in the bin" in kernel.ok("%chat delete notes").result


def test_stop_keeps_what_was_said(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    kernel.ok(SPEAKS)
    kernel.ok("running.stop()")
    assert kernel.ok("running.wait().finish, running.answer.finish").result == STOPPED
    assert kernel.ok("0 < len(running.answer.text) < 100").result == "True"
    turns = kernel.ok("__import__('jan_magics').current().turns().finish.tolist()").result
    assert turns == "['stopped']"
    assert kernel.ok("%chat stop").result == "nothing is being answered"


def test_the_stop_verb_stops_it(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    kernel.ok(SPEAKS)
    assert kernel.ok("%chat stop").result == "stopped 1 turn"
    assert kernel.ok("running.done, running.answer.finish").result == "(True, 'stopped')"
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    kernel.ok(SPEAKS)
    kernel.ok("%chat stop")
    assert [line.rpartition(" ")[2] for line in news(kernel)] == ["stopped"]


def test_what_was_stopped_before_a_word_says_what_to_do(kernel: Kernel) -> None:
    kernel.ok("%%chat -m offline:echo -P delay=20 --background -o running\nhello")
    kernel.ok("while len(__import__('jan_magics').current().messages()) < 1: pass")
    kernel.ok("running.stop()")
    ran = kernel.run("running.wait()")
    assert ran.error is not None
    assert ran.error[2] == ["Stopped: no answer yet · ask again: %chat retry"]


def test_the_stop_verb_sends_nothing_that_waited(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    kernel.ok(SPEAKS)
    kernel.ok("%%chat -m offline:echo --background -o second\n第二个问题 🦊")
    kernel.ok("%%chat -m offline:echo --background -o third\nand a third")
    assert kernel.ok("%chat stop").result.splitlines() == [
        "stopped 1 turn",
        "2 turns that waited: not sent · run the cell again",
        "  «第二个问题 🦊»",
        "  «and a third»",
    ]
    ran = kernel.run("second.wait()")
    assert ran.error is not None
    assert ran.error[2] == [
        "Stopped: it was waiting, and nothing was sent · run its cell again"
    ]  # fmt: skip
    texts = kernel.ok("print(len(__import__('jan_magics').current().messages(all=True)))").out
    assert texts == "2\n"


def test_an_interrupt_of_wait_stops_the_turn_in_one_line(kernel: Kernel) -> None:
    long = " ".join(f"词{number}" for number in range(400))
    kernel.ok(f"%%chat {SLOW} --background -o running\n{long}")
    kernel.ok(SPEAKS)
    ran = kernel.run("running.wait()", interrupt=0.5)
    assert ran.error is not None
    assert ran.error[0] == "Stopped"
    (line,) = ran.error[2]
    assert line.startswith("Stopped: kept ")
    assert line.endswith("characters of the answer · go on: %chat resume")
    assert ran.err == ""
    assert kernel.ok("running.done, running.wait().finish, running.answer.finish").result == (
        "(True, 'stopped', 'stopped')"
    )
    assert kernel.ok("%chat resume").turn["text"] == long


def test_a_turn_that_goes_on_is_known_here_and_in_other_kernels(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} -t notes --background -o running\n{LONG}")
    kernel.ok("%chat use -t notes")
    kernel.ok(SPEAKS)
    kernel.ok("while len(__import__('jan_magics').current().messages()) < 2: pass")
    assert "offline:echo, being answered" in kernel.ok("%chat tree").result
    with jan.Chat("notes") as elsewhere:  # another process
        assert "being answered" in str(elsewhere.show())
        with pytest.raises(ThreadError, match="is being answered in another kernel"):
            elsewhere.resume()
        kernel.ok("running.wait()")
        assert "being answered" not in str(elsewhere.show())
        assert elsewhere.messages().text.tolist() == [LONG, LONG]


def test_turns_and_use_that_want_a_new_thread_at_once_get_the_same(kernel: Kernel) -> None:
    for number in range(8):
        asked = f"%%chat -m offline:echo -t 笔记{number} --background -o"
        # One cell sends the two turns and the verb with nothing between them.
        kernel.ok(
            "shell = get_ipython()\n"
            f"shell.run_cell({asked + ' first' + chr(10) + 'hello'!r})\n"
            f"shell.run_cell({asked + ' second' + chr(10) + 'again'!r})\n"
            f"shell.run_cell('%chat use -t 笔记{number}')\n"
            "assert second.wait().text == 'again', first.wait().text == 'hello'"
        )
        assert kernel.ok("len(__import__('jan_magics').current().messages())").result == "4"
    titles = kernel.ok("sorted(__import__('jan_magics').threads().title)").result
    assert titles == str([f"笔记{number}" for number in range(8)])


def test_turns_that_begin_a_notebook_at_once_go_into_one_thread(kernel: Kernel) -> None:
    asked = "%%chat -m offline:echo --background -o"
    kernel.ok(
        f"get_ipython().run_cell({asked + ' first' + chr(10) + 'hello'!r})\n"
        f"get_ipython().run_cell({asked + ' second' + chr(10) + 'again'!r})\n"
        "first.wait(), second.wait()"
    )
    assert kernel.ok("len(__import__('jan_magics').threads())").result == "1"
    assert kernel.ok("len(__import__('jan_magics').current().messages())").result == "4"


def test_a_failure_is_shown_in_its_cell_and_raised_by_wait(kernel: Kernel) -> None:
    failing = "%%chat -m offline:echo -P fail=before --background -o running\nhello"
    kernel.ok(failing)
    ran = kernel.run("running.wait()")
    assert ran.error is not None
    assert ran.error[0] not in ("Stopped", "AttributeError")
    kernel.ok(failing)
    kernel.ok("while not running.done: __import__('time').sleep(0.01)")
    assert [line.rpartition(" ")[2] for line in news(kernel)] == ["failed"]


def test_show_attaches_a_turn_that_goes_on(kernel: Kernel) -> None:
    kernel.ok(f"%%chat {SLOW} --background -o running\n{WORDS}")
    shown = kernel.ok("%chat show\nrunning.wait()")
    assert shown.displays[0][TURN]["text"] == WORDS


def test_a_turn_that_is_looked_at_late_does_not_disturb_newer_cells(kernel: Kernel) -> None:
    kernel.ok("%%chat -m offline:echo --background -o running\nfirst")
    kernel.ok("running.wait()")
    kernel.ok("%%chat -m offline:echo\nsecond")
    # The thread that follows a turn may come to show its end after the next turn has ended.
    late = kernel.ok(
        "running._host.show(running._displays[0], running._ended[0], running._showing)"
    )
    assert late.elsewhere
    assert not [each for each in late.elsewhere if "no longer shown" in str(each)]
