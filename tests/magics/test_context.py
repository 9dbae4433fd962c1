"""The verbs of the context window in a real kernel: what a person types, sees and gets."""

import ast
from collections.abc import Iterator

import pytest

from tests.kernel import Kernel, Ran, homes, running_kernel

WORDS = "and where the apples, pears, plums, figs, dates, limes and nuts of this year have gone to?"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    told = {"JPY_SESSION_NAME": str(folder / "work.ipynb"), "JAN_TOKENIZER": "chars/3.5"}
    with running_kernel(folder, JAN_MODEL="offline:echo", **homes(folder), **told) as running:
        running.ok("%load_ext jan_magics\nimport jan_magics as jan")
        yield running


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    """Begin a thread whose history does not fit: ten turns of 70 tokens in a window of 700."""
    shared.ok("%chat new\n_ = %chat use --window 700 --overflow trim")
    for n in range(10):
        shared.ok(f"%%chat -q\nquestion {n} {WORDS}")
    return shared


def error_of(ran: Ran) -> tuple[str, list[str]]:
    assert ran.error is not None
    return ran.error[0], ran.error[2]


def value(kernel: Kernel, code: str) -> str:
    """Return what an expression is, on one line."""
    return " ".join(kernel.ok(f"print({code!r} and repr({code}))").out.split())


def said(ran: Ran) -> str:
    """Return the line that a verb answered with."""
    return str(ran.results[-1]["text/plain"])


def test_the_footer_says_what_was_left_out_once(kernel: Kernel) -> None:
    first = kernel.ok("%%chat\nmore").displays[-1]["text/plain"]
    assert "sees " in first
    assert " trimmed)" in first
    kernel.ok("%chat new")
    shown = [
        kernel.ok(f"%%chat\nquestion {n} {WORDS}").displays[-1]["text/plain"] for n in range(10)
    ]
    offered = [text for text in shown if "keep them as a summary: %chat compact" in text]
    # Told when trimming falls, and not again while it stays there.
    assert 1 <= len(offered) < sum("trimmed)" in text for text in shown)
    assert "history fills ≈" in "".join(shown)


def test_plan_and_budget_are_tables(kernel: Kernel) -> None:
    ran = kernel.ok("plan = %chat plan what now?\nbudget = %chat budget")
    assert ran.displays == []
    assert value(kernel, "tuple(plan.columns)") == str(
        ("n", "id", "role", "action", "tokens", "cumulative", "exact", "reason", "text")
    )
    assert value(kernel, "(plan.iloc[-1].text, plan.iloc[-1].reason)") == "('what now?', 'prompt')"
    assert value(kernel, "set(plan.action) == {'keep', 'drop'}") == "True"
    assert value(kernel, "int(budget.tokens.sum())") == "700"
    assert value(kernel, "list(budget.columns)") == "['piece', 'tokens', 'share', 'exact']"
    assert value(kernel, "budget.attrs['jan']['from']") == "'--window'"
    assert "window: 700 tokens (--window) · estimated by chars/3.5" in ran.out


def test_a_model_of_no_known_family_is_estimated_all_the_same(kernel: Kernel) -> None:
    kernel.ok("%config JanMagics.tokenizer = 'estimate'")
    said = kernel.ok("_ = %chat budget").out
    kernel.ok("%config JanMagics.tokenizer = ''")
    assert "estimated by the kind of text" in said
    assert "unknown" not in said


def test_an_edited_plan_sticks_until_undo(kernel: Kernel) -> None:
    kernel.ok("plan = jan.current().plan('next')\nplan.loc[0, 'action'] = 'pin'")
    kernel.ok("_ = jan.current().apply(plan)")
    sent = "jan.current().plan('next').query('action == \"pin\"').text.str[:10].tolist()"
    assert value(kernel, sent) == "['question 0', 'question 0']"
    answer = kernel.ok("answer = jan.current().send('next', show=False)")
    assert answer.error is None
    assert value(kernel, "answer.sent['messages'][0]['text'][:10]") == "'question 0'"
    assert value(kernel, "answer.plan.reason.tolist()[:2]") == "['pinned', 'its turn is pinned']"
    assert "the edited plan" in said(kernel.ok("%chat undo"))
    assert value(kernel, sent) == "[]"


def test_an_impossible_plan_is_refused_with_its_row(kernel: Kernel) -> None:
    kernel.ok("plan = jan.current().plan('next')")
    for edit, why in (
        ("plan.action = 'keep'", "cannot be kept"),
        ("plan.loc[len(plan) - 1, 'action'] = 'drop'", "(prompt) cannot be 'drop'"),
        ("plan.loc[0, 'action'] = 'burn'", "no action 'burn'"),
    ):
        kernel.ok("edited = plan.copy(); edited.attrs = plan.attrs")
        kernel.ok(edit.replace("plan", "edited"))
        name, lines = error_of(kernel.run("jan.current().apply(edited)"))
        assert name == "SettingError"
        assert why in lines[0]
        assert lines[0].startswith("SettingError: row") or "burn" in lines[0]
    assert value(kernel, "int((jan.current().plan('next').action == 'keep').sum()) < 21") == "True"


def test_marks_from_the_line(kernel: Kernel) -> None:
    ids = ast.literal_eval(value(kernel, "jan.current().messages().id.tolist()"))
    assert "2 messages: drop" in said(kernel.ok(f"%chat mark {ids[-1]} {ids[-2][:12]} drop"))
    assert value(kernel, "jan.current().messages().status.tolist()[-3:]") == str(
        ["active", "truncated", "truncated"]
    )
    assert "keep, drop, pin, summarise" in error_of(kernel.run(f"%chat mark {ids[0]} burn"))[1][-1]
    assert error_of(kernel.run("%chat mark ffffffff drop"))[0] == "MessageNotFound"
    kernel.ok("%chat undo")
    assert value(kernel, "set(jan.current().messages().status)") == "{'active'}"


def test_clear_sends_nothing_and_deletes_nothing(kernel: Kernel) -> None:
    line = "context cleared · 20 messages · back: %chat clear --off"
    assert said(kernel.ok("%chat clear")) == line
    assert value(kernel, "set(jan.current().messages().status)") == "{'archived_segment'}"
    ran = kernel.ok("%%chat\nfresh")
    assert "sees 1 of 21 messages (20 cleared)" in ran.displays[-1]["text/plain"]
    shown = kernel.ok("%chat show").results[-1]
    assert "▸ context cleared · 20 messages" in shown["text/plain"]
    assert "<summary>context cleared · 20 messages</summary>" in shown["text/html"]
    assert "question 0" in shown["text/html"]
    first = value(kernel, "jan.current().messages().id[0]").strip("'")
    for action in ("keep", "summarise"):
        name, lines = error_of(kernel.run(f"%chat mark {first[:8]} {action}"))
        assert name == "ThreadError"
        assert "is archived" in lines[0]
        assert f"%chat mark {first[:8]} pin" in lines[1]
    kernel.ok(f"%chat mark {first[:8]} pin")
    assert "'pin'" in value(kernel, "jan.current().plan().action.tolist()")
    kernel.ok("%chat undo")
    kernel.ok("%chat clear --off")
    assert value(kernel, "len(jan.current().messages())") == "22"
    assert value(kernel, "set(jan.current().messages().status)") == "{'active'}"
    assert error_of(kernel.run("%chat clear --off"))[0] == "ThreadError"


def test_compact_says_what_it_freed_and_is_taken_back(kernel: Kernel) -> None:
    table = kernel.ok("table = %chat compact --dry-run")
    assert table.error is None
    assert value(kernel, "list(table.columns)") == str(
        ["n", "id", "role", "now", "then", "tokens_now", "tokens_then"]
    )
    assert value(kernel, "int(table.tokens_then.sum()) < int(table.tokens_now.sum())") == "True"
    assert value(kernel, "set(jan.current().messages().status)") == "{'active'}"
    done = said(kernel.ok("%chat compact --keep 3"))
    assert "14 messages compacted into a summary: ≈" in done
    assert value(kernel, "jan.current().messages().status.value_counts().to_dict()") == str(
        {"compressed": 14, "active": 6}
    )
    shown = kernel.ok("%chat show").results[-1]
    assert "▸ summary of 14 messages" in shown["text/plain"]
    assert "<strong>summary of 14 messages</strong>" in shown["text/html"]
    assert "question 0" in shown["text/html"]
    kernel.ok("%chat compact --off")
    assert value(kernel, "set(jan.current().messages().status)") == "{'active'}"
    assert error_of(kernel.run("%chat compact --keep 10"))[1][0].startswith(
        "ThreadError: there is nothing to compact"
    )


def test_a_grid_asks_under_every_setting_and_moves_nothing(kernel: Kernel) -> None:
    before = value(kernel, "len(jan.current().messages())")
    kernel.ok(
        "%%chat --grid overflow=trim,error --grid window=700,100000 --needle 'NEEDLE 7' -o found\n"
        "the needle 7 is here"
    )
    assert value(kernel, "list(found.columns)[:4]") == str(
        ["overflow", "window", "sent_tokens", "kept"]
    )
    assert value(kernel, "found.finish.tolist()") == "['stop', 'stop', 'error', 'stop']"
    assert value(kernel, "found.recalled.tolist()[0]") == "True"
    assert value(kernel, "found.dropped.tolist()[1]") == "0"
    assert value(kernel, "len(jan.current().messages())") == before


def test_overflow_error_names_three_remedies(kernel: Kernel) -> None:
    name, lines = error_of(kernel.run("%%chat --overflow error\nnext"))
    assert name == "ContextOverflow"
    assert "tokens of" in lines[0]
    assert "--no-history" in lines[1]
    assert "%chat compact" in lines[1]
    # Nothing was stored of a question that could not be sent.
    assert value(kernel, "len(jan.current().messages())") == "20"


def test_a_dry_run_shows_the_budget(kernel: Kernel) -> None:
    text = kernel.ok("%%chat --dry-run\nnext").results[-1]["text/plain"]
    assert "budget   ≈" in text
    assert "of 446" in text
    assert "left out: %chat plan" in text
    assert "of 446" not in kernel.ok("%%chat --dry-run --window 0\nnext").results[-1]["text/plain"]


def test_sizes_come_from_config(kernel: Kernel) -> None:
    kernel.ok("_ = jan.current().use(window=None)\n%config JanMagics.window = 4096")
    assert value(kernel, "jan.current().budget().attrs['jan']['window']") == "4096"
    told = kernel.ok("%config JanMagics.trim_to = 7\n%chat budget")
    assert "trim_to" in told.out + told.err
    assert "number from 0.05 to 1" in told.out + told.err
    kernel.ok("%config JanMagics.trim_to = ''\n%config JanMagics.window = ''")


def test_beside_a_grid_nothing_is_passed_over(kernel: Kernel) -> None:
    for flags in ("--dry-run", "--background", "-q", "--to-cell", "--reuse"):
        ran = kernel.run(f"%%chat --grid window=700 {flags}\nnext")
        assert ran.status == "error"
        assert f"{flags} does nothing beside --grid" in ran.err
    ran = kernel.ok("%%chat --grid window=700,900\nnext")
    assert "no answer" not in str(ran.displays)
    assert "no use for a dry run" in error_of(kernel.run("%chat compact --off --dry-run"))[1][0]
