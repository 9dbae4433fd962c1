"""The verbs of branches in a real kernel: what a person types, sees and gets."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import jan_magics as jan
from tests.kernel import TURN, Kernel, Ran, homes, running_kernel

LEFT = "built on a branch that is no longer shown"
SLOW = "-P pace=0.05"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    told = {"JAN_MODEL": "offline:echo", "JPY_SESSION_NAME": str(folder / "work.ipynb")}
    with running_kernel(folder, **homes(folder), **told) as running:
        running.ok("%load_ext jan_magics\nimport jan_magics as jan")
        yield running


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    shared.ok("%chat new")
    return shared


def path(kernel: Kernel) -> list[str]:
    found: list[str] = eval(kernel.ok("list(jan.current().messages().text)").result)  # noqa: S307
    return found


def error_of(ran: Ran) -> tuple[str, list[str]]:
    assert ran.error is not None
    return ran.error[0], ran.error[2]


def test_retry_shows_another_answer_and_returns_it(kernel: Kernel) -> None:
    kernel.ok("%%chat\none")
    ran = kernel.ok("%chat retry")
    assert ran.turn["text"] == "one"
    assert "answer ‹2/2›" in ran.displays[-1]["text/plain"]
    assert ran.results == []
    assert kernel.ok("_.version, _.versions").result == "(2, 2)"


def test_go_says_where_it_went(kernel: Kernel) -> None:
    kernel.ok("%%chat\none")
    kernel.ok("%chat retry")
    kernel.ok("%%chat\ntwo")
    said = kernel.ok("%chat go prev").result
    assert "«one» · answer ‹1/2› · 2 messages" in said
    assert path(kernel) == ["one", "one"]
    identifier = said.split()[0]
    _, trace = error_of(kernel.run("%chat go prev"))
    assert trace[0] == "ThreadError: this is the first of 2"
    assert "%chat go 1 … 2" in trace[1]
    kernel.ok("%chat go next")
    assert "this is the last of 2" in error_of(kernel.run("%chat go next"))[1][0]
    assert path(kernel) == ["one", "one", "two", "two"]
    assert kernel.ok(f"%chat go {identifier}").result == said


def test_errors_say_what_to_type(kernel: Kernel) -> None:
    kernel.ok("%%chat\none")
    for line, kind, hint in (
        ("go 3", "ThreadError", "%chat retry"),
        ("go abcdef", "MessageNotFound", "%chat tree"),
        ("resume", "ThreadError", "%chat retry"),
        ("undo", "ThreadError", "%chat tree"),
        ("diff", "ThreadError", "%chat retry"),
        ("drop abcdef", "MessageNotFound", "%chat tree"),
        ("drop 1", "ThreadError", "%chat tree"),
        ("show 1", "ThreadError", "%chat tree"),
        ("ask --at 1 x", "ThreadError", "%chat tree"),
        ("retry 00a", "ThreadError", "at least 4 characters"),
    ):
        name, trace = error_of(kernel.run(f"%chat {line}"))
        assert name == kind, line
        assert len(trace) == 2
        assert hint in trace[1]
    for line in ("go", "drop", "undo all", "retry a b", "tree --life"):
        assert "UsageError" in kernel.run(f"%chat {line}").err


def test_resume_shows_the_old_text_at_once_in_the_same_block(kernel: Kernel) -> None:
    words = " ".join(f"word{n}" for n in range(30))
    kernel.ok(f"%%chat --max-tokens 10\n{words}")
    kernel.ok("jan.current().use(pace=0.03)")
    try:
        ran = kernel.ok("%chat resume")
    finally:
        kernel.ok("jan.current().use(pace=None)")
    assert len(ran.displays) == 1
    assert ran.turn["text"] == words
    begun = " ".join(f"word{n}" for n in range(10))
    assert len(ran.updates) > 2
    assert all(begun in update["text/markdown"] for update in ran.updates)
    assert path(kernel) == [words, words]


def test_an_interrupted_answer_goes_on(kernel: Kernel) -> None:
    words = " ".join(f"word{n}" for n in range(100))
    ran = kernel.run(f"%%chat {SLOW}\n{words}", interrupt=0.8)
    assert 0 < len(ran.turn["text"]) < len(words)
    assert kernel.ok("%chat resume").turn["text"] == words


def wait_for_words_on_disk() -> None:
    """Wait until an answer that grows has begun to be written."""
    begun = time.perf_counter()
    while time.perf_counter() - begun < 60:
        for thread in jan.threads().thread:
            with jan.Chat(thread) as chat:
                if any(chat.messages().text[1:]):
                    return
        time.sleep(0.1)
    raise AssertionError("no word was written")


def test_an_answer_goes_on_after_the_kernel_was_killed(tmp_path: Path) -> None:
    notebook = str(tmp_path / "work.ipynb")
    words = " ".join(f"word{n}" for n in range(400))
    with running_kernel(tmp_path, JPY_SESSION_NAME=notebook, JAN_MODEL="offline:echo") as kernel:
        kernel.ok("%load_ext jan_magics")
        kernel._send(f"%%chat {SLOW}\n{words}", "", may_ask=False)
        wait_for_words_on_disk()
        os.kill(kernel.process, signal.SIGKILL)
        kernel.restart()
        kernel.ok("%load_ext jan_magics")
        shown = kernel.ok("%chat show").result
        assert "interrupted" in shown
        assert words not in shown.split("interrupted")[1]
        assert kernel.ok("%chat resume").turn["text"] == words


def test_a_dropped_question_takes_its_answer_along_and_says_so(kernel: Kernel) -> None:
    kernel.ok("%%chat\none")
    kernel.ok("%%chat\n第二个问题 🦊")
    identifier = kernel.ok("jan.current().messages().id[2][:8]").result.strip("'")
    said = kernel.ok(f"%chat drop {identifier}").result.splitlines()
    assert said == [
        "«第二个问题 🦊» is hidden: kept, and not sent any more · back: %chat undo",
        "its answer is not sent either, as nothing is left that it answers",
    ]
    statuses = kernel.ok("list(jan.current().messages().status)").result
    assert statuses == "['active', 'active', 'truncated', 'truncated']"
    reasons = kernel.ok("print(*jan.current().plan('three').reason, sep='|')").out
    assert reasons == "||hidden|its question is hidden|prompt\n"


def test_a_dropped_message_is_not_sent_and_comes_back(kernel: Kernel) -> None:
    kernel.ok("%%chat -o first\none")
    identifier = kernel.ok("first.message[:8]").result.strip("'")
    said = kernel.ok(f"%chat drop {identifier}").result
    assert said == "«one» is hidden: kept, and not sent any more · back: %chat undo"
    assert kernel.ok(f"%chat drop {identifier}").result == "«one» was hidden already"
    assert kernel.ok("list(jan.current().messages().status)").result == "['active', 'truncated']"
    kernel.ok("%%chat\ntwo")
    assert "assistant" not in kernel.ok("%chat show --sent").result
    assert kernel.ok("%chat undo").result == "taken back: the drop of «one»"
    assert "truncated" not in kernel.ok("list(jan.current().messages().status)").result


def test_show_sent_is_what_left(kernel: Kernel) -> None:
    kernel.ok("%%chat -s 'be brief'\none")
    kernel.ok("%%chat\ntwo")
    shown = kernel.ok("%chat show --sent").result
    assert shown.startswith("sent to offline:echo · 3 messages")
    assert [line for line in shown.splitlines() if line in ("one", "two")] == ["one", "one", "two"]
    assert "UsageError" in kernel.run("%chat show abc --sent").err


def test_tree_and_diff_are_shown(kernel: Kernel) -> None:
    kernel.ok("%%chat --max-tokens 1\none two")
    kernel.ok("%chat retry")
    tree = kernel.ok("%chat tree").results[-1]
    assert {"text/plain", "text/markdown", "text/html"} <= set(tree)
    assert "length ‹1/2›  one" in tree["text/plain"]
    shown = kernel.ok("%chat diff").results[-1]
    assert "{+ two+}" in shown["text/plain"]
    assert kernel.ok("%chat diff 2 1").result != shown["text/plain"]


def test_new_of_an_existing_name_is_a_branch_with_a_root_of_its_own(kernel: Kernel) -> None:
    assert "a new thread: branchy" in kernel.ok("%chat new branchy").result
    kernel.ok("%%chat\none")
    assert "a new branch in branchy" in kernel.ok("%chat new branchy").result
    status = kernel.ok("%chat").result
    assert "branchy, 0 messages; the next turn begins a new branch" in status
    assert "go on instead: %chat undo" in status
    ran = kernel.ok("%%chat -o answer\ntwo")
    assert kernel.ok("len(answer.sent['messages'])").result == "1"
    assert "answer ‹" not in ran.displays[-1]["text/plain"]  # a new beginning is no other version
    assert "the path leads to «one» again" in kernel.ok("%chat undo").result
    assert path(kernel) == ["one", "one"]


def test_a_deleted_thread_comes_back(kernel: Kernel) -> None:
    kernel.ok("%chat new gone")
    kernel.ok("%%chat\none")
    assert "back: %chat undo" in kernel.ok("%chat delete gone").result
    assert kernel.ok("%chat undo").result == "taken back: the deletion of gone"
    assert "gone, 2 messages" in kernel.ok("%chat use gone").result


def test_at_and_reuse_are_flags(kernel: Kernel) -> None:
    kernel.ok("%%chat -o first\none", cell_id="x1")
    kernel.ok("%%chat\ntwo", cell_id="x2")
    ran = kernel.ok("%%chat --reuse\none", cell_id="x1")
    assert "stored answer" in ran.displays[-1]["text/plain"]
    assert len(path(kernel)) == 4
    kernel.ok("%%chat --at head\none", cell_id="x1")
    assert len(path(kernel)) == 6
    identifier = kernel.ok("first.message[:8]").result.strip("'")
    kernel.ok(f"%%chat --at {identifier}\nthree", cell_id="x3")
    assert path(kernel) == ["one", "one", "three", "three"]
    kernel.ok("%config JanMagics.rerun = 'reuse'")
    try:
        ran = kernel.ok("%%chat\nthree", cell_id="x3")
    finally:
        kernel.ok("%config JanMagics.rerun = ''")
    assert "stored answer" in ran.displays[-1]["text/plain"]
    table = kernel.ok("c = %chat config\nlist(c[c.setting == 'rerun'].value)").result
    assert table == "['branch']"


def told(ran: Ran) -> list[tuple[str, bool]]:
    """Return the answers whose cells a run has updated, and whether they are told to be left."""
    return [
        (update[TURN]["text"], LEFT in update["text/plain"])
        for update in ran.elsewhere
        if TURN in update
    ]


def test_cells_below_are_told_and_told_back(kernel: Kernel) -> None:
    kernel.ok("%%chat\none", cell_id="c1")
    kernel.ok("%%chat\ntwo", cell_id="c2")
    kernel.ok("%%chat\nthree", cell_id="c3")
    ran = kernel.ok("%%chat\ntwo", cell_id="c2")
    assert told(ran) == [("two", True), ("three", True)]
    ran = kernel.ok("%chat undo")
    assert told(ran) == [("two", False), ("three", False), ("two", True)]
    ran = kernel.ok("%chat go next")
    assert told(ran) == [("two", True), ("three", True), ("two", False)]
    assert told(kernel.ok("%%chat\nfour", cell_id="c4")) == []


def test_cells_are_left_alone_where_there_is_one_display(kernel: Kernel) -> None:
    kernel.ok("%config JanMagics.display = 'once'")
    try:
        kernel.ok("%%chat\none", cell_id="d1")
        kernel.ok("%%chat\ntwo", cell_id="d2")
        assert told(kernel.ok("%%chat\none", cell_id="d1")) == []
    finally:
        kernel.ok("%config JanMagics.display = ''")
