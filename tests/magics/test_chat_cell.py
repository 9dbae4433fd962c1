"""`%%chat` in a real kernel, with the offline model: what a person sees and gets."""

import time

import pytest

from tests.kernel import TURN, Kernel

SLOW = "-P pace=0.05"


def test_an_answer_is_shown_once_and_is_in_underscore(kernel: Kernel) -> None:
    ran = kernel.ok("%%chat\nhello")
    assert ran.turn["text"] == "hello"
    assert len(ran.displays) == 1
    assert ran.results == []
    assert kernel.ok("_.text").result == "'hello'"


def test_the_final_bundle_is_whole_and_no_widget(kernel: Kernel) -> None:
    bundle = kernel.ok("%%chat\nhello").displays[-1]
    assert set(bundle) == {TURN, "text/markdown", "text/html", "text/plain"}
    turn = bundle[TURN]
    assert turn["schema"] == 1
    assert turn["prompt"] == "hello"
    assert turn["finish"] == "stop"
    assert all("hello" in bundle[kind] for kind in set(bundle) - {TURN})


def test_an_answer_in_another_cell_shows_again(kernel: Kernel) -> None:
    kernel.ok("%%chat -o answer\nhello")
    assert kernel.ok("answer").turn["text"] == "hello"
    assert kernel.ok("answer").turn["text"] == "hello"
    assert kernel.ok("x = %chat ask hello again").turn["text"] == "hello again"
    assert kernel.ok("x").turn["text"] == "hello again"


def test_quiet_shows_nothing_and_returns_the_answer(kernel: Kernel) -> None:
    ran = kernel.ok("%%chat -q -o answer\nhello")
    assert (ran.displays, ran.results, ran.out) == ([], [], "")
    assert kernel.ok("answer.text").result == "'hello'"


@pytest.mark.parametrize(
    "prompt",
    [
        "{'a': {1, 2}} {x} $HOME \\frac{a}{b} f\"{y!r}\"",
        "it's; ends in a semicolon;",
        "中文 🦊 \u200d👩‍🔬",
        "a\n\n  indented\n%%chat\n%chat help\n!ls",
        "what is a cat?",
        "{{}} and {{ unclosed",
        r"\{{ kept }}",
    ],
)
def test_a_prompt_arrives_as_it_was_typed(kernel: Kernel, prompt: str) -> None:
    expected = prompt.replace(r"\{{", "{{")
    assert kernel.ok(f"%%chat\n{prompt}").turn["prompt"] == expected


def test_values_are_put_in_once(kernel: Kernel) -> None:
    kernel.ok("name = '{{ 1/0 }}'; numbers = [3, 1]")
    ran = kernel.ok("%%chat -s 'say {{ numbers[0] }}' --dry-run\n{{ name }} {{ max(numbers) }}")
    assert "{{ 1/0 }} 3" in ran.result
    assert "say 3" in ran.result


def test_a_frame_arrives_with_shape_and_types(kernel: Kernel) -> None:
    kernel.ok("import pandas as pd; df = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})")
    prompt = kernel.ok("%%chat\n{{ df }}").turn["prompt"]
    assert "2 rows × 2 columns" in prompt
    assert "int64" in prompt


def test_literal_sends_braces(kernel: Kernel) -> None:
    assert kernel.ok("%%chat --literal\n{{ nothing }}").turn["prompt"] == "{{ nothing }}"


def test_an_undefined_name_is_an_error_with_the_nearest(kernel: Kernel) -> None:
    kernel.ok("weather = 1")
    ran = kernel.run("%%chat\n{{ wether }}")
    assert ran.error is not None
    assert ran.error[0] == "UndefinedName"
    assert len(ran.error[2]) == 2
    assert "'weather'" in ran.error[2][0]
    assert kernel.ok("len(__import__('jan_magics').current().messages())").result == "0"


def test_the_second_turn_remembers_the_first(kernel: Kernel) -> None:
    kernel.ok("%%chat\nfirst")
    ran = kernel.ok("%%chat --dry-run\nsecond")
    assert "2 messages before this one" in ran.result
    assert "nothing was sent" in ran.result
    assert kernel.ok("len(__import__('jan_magics').current().messages())").result == "2"


def test_no_history_does_not_move_the_thread(kernel: Kernel) -> None:
    kernel.ok("%%chat\nfirst")
    aside = kernel.ok("%%chat --no-history -o aside\nsecond")
    later = kernel.ok("%%chat\nthird")
    shown = [*aside.updates, *later.updates, *later.elsewhere]
    assert not [each for each in shown if "no longer shown" in str(each)]
    assert kernel.ok("len(aside.sent['messages'])").result == "1"
    assert kernel.ok("list(__import__('jan_magics').current().messages().text)").result == (
        "['first', 'first', 'third', 'third']"
    )


def test_code_can_become_a_cell(kernel: Kernel) -> None:
    ran = kernel.ok("%%chat --to-cell -f code\ntext\n\n```python\nx = 1\n```\n")
    assert "x = 1" in ran.displays[-1]["text/plain"]
    assert "text" not in ran.displays[-1]["text/plain"].split("offline")[0]
    assert kernel.ok("_.code").result == "'x = 1'"


def test_parameters_reach_the_model_and_stick(kernel: Kernel) -> None:
    kernel.ok("%chat use --temperature 0.5 -P top_k=4 -s 'be brief'")
    ran = kernel.ok("%%chat --dry-run -P top_k=5\nhi")
    assert "temperature=0.5" in ran.result
    assert "top_k=5" in ran.result
    assert "be brief" in ran.result
    kernel.ok(
        "import jan_magics as jan; jan.current().use(temperature=None, top_k=None, system=None)"
    )
    assert "top_k" not in kernel.ok("%%chat --dry-run\nhi").result


def test_updates_are_markdown_only_until_the_last(kernel: Kernel) -> None:
    ran = kernel.ok(f"%%chat {SLOW}\none two three four five six seven eight nine ten")
    *live, final = ran.updates
    assert len(live) >= 3
    assert all(set(update) == {"text/markdown"} for update in live)
    assert TURN in final


def test_no_stream_shows_only_the_whole(kernel: Kernel) -> None:
    assert len(kernel.ok(f"%%chat {SLOW} --no-stream\none two three").updates) == 1


def test_an_interrupt_keeps_what_was_said_and_stops_run_all(kernel: Kernel) -> None:
    words = " ".join(f"word{n}" for n in range(200))
    ran = kernel.run(f"%%chat {SLOW} -o answer\n{words}", interrupt=1.0)
    assert ran.status == "error"
    assert ran.error is not None
    assert ran.error[0] == "Stopped"
    assert ran.error[2][0].startswith("Stopped: kept ")
    assert ran.error[2][0].endswith(" of the answer · go on: %chat resume")
    assert ran.turn["finish"] == "stopped"
    assert 0 < len(ran.turn["text"]) < len(words)
    assert ran.interrupted_after is not None
    assert ran.interrupted_after < 0.5  # generous: the promise is measured by a benchmark
    assert kernel.ok(
        "answer.finish, answer.text == __import__('jan_magics').current().messages().text.iloc[-1]"
    ).result == ("('stopped', True)")
    assert kernel.ok("%%chat\nstill there?").turn["text"] == "still there?"


def test_an_interrupt_before_the_first_word_is_legal(kernel: Kernel) -> None:
    ran = kernel.run("%%chat -P delay=20\nhello", interrupt=0.5)
    assert ran.error is not None
    assert ran.error[2] == ["Stopped: no answer yet"]
    assert kernel.ok("%%chat\nnext").turn["text"].endswith("next")


@pytest.mark.parametrize(
    ("flags", "kind", "hint"),
    [
        ("-m openai:gpt-4", "KeyRefused", "%chat key openai"),
        ("-m bogus:model", "SettingError", "%chat models"),
        ("-m https://127.0.0.1:1/v1#m", "ModelNotReachable", ""),
        ("-P api_key=sk-1234567890", "KeyRefused", "%chat key"),
        ("-t a:b:c", "", ""),
    ],
)
def test_errors_are_two_lines_and_end_with_what_to_type(
    kernel: Kernel, flags: str, kind: str, hint: str
) -> None:
    ran = kernel.run(f"%%chat {flags}\nhi")
    if not kind:
        assert ran.status == "ok"
        return
    assert ran.error is not None
    assert ran.error[0] == kind
    assert len(ran.error[2]) == 2
    assert hint in ran.error[2][1]
    assert "1234567890" not in "".join(ran.error[2])


def test_tb_still_has_everything(kernel: Kernel) -> None:
    kernel.run("%%chat -m openai:gpt-4\nhi")
    assert "run_cell_magic" in "\n".join(kernel.run("%tb").error[2])  # type: ignore[index]


def test_a_failure_in_mid_answer_keeps_the_words(kernel: Kernel) -> None:
    ran = kernel.run("%%chat -P fail=in\none two three four")
    assert ran.error is not None
    assert ran.turn["text"]
    assert ran.turn["finish"] == "error"


def test_bad_lines_are_one_red_line(kernel: Kernel) -> None:
    for cell in (
        "%%chat --modle x\nhi",
        "%chat bogus",
        "%%chat\n  ",
        "%chat ask",
        "%%chat -t 0.2\nhi",
    ):
        ran = kernel.run(cell)
        assert ran.status == "error"
        assert "UsageError" in ran.err


def test_help_is_shown_everywhere(kernel: Kernel) -> None:
    assert "--temperature" in kernel.ok("%%chat --help").result
    assert "--temperature" in kernel.ok("%chat ask --help").out
    assert "threads" in kernel.ok("%chat help").result
    assert "--init" in kernel.ok("%chat help store").result
    assert kernel.ok("%%chat?").status == "ok"


def test_fix_asks_about_the_last_failure(kernel: Kernel) -> None:
    kernel.run("d = {'a': 1}\nd['b']  # {{ not a value }}")
    prompt = kernel.ok("%chat fix").turn["prompt"]
    assert "d['b']  # {{ not a value }}" in prompt
    assert "KeyError" in prompt


def test_threads_by_name(kernel: Kernel) -> None:
    name = f"地图 {time.time_ns()}"
    kernel.ok(f"%%chat -t '{name}'\nwhere is 北京?")
    assert f"{name}, 2 messages" in kernel.ok(f"%chat use '{name}'").result
    assert "new name" in kernel.ok("%chat rename 'new name'").result
    assert "北京" in kernel.ok("%chat show").result
    assert kernel.run("%chat rename 'new name'").status == "error"
    assert "in the bin" in kernel.ok("%chat delete 'new name'").result
    ran = kernel.run("%chat delete 'new nam'")
    assert ran.error is not None
    assert ran.error[0] == "ThreadNotFound"


def test_tables_have_their_columns(kernel: Kernel) -> None:
    kernel.ok("%%chat\nhello")
    for verb in ("threads", "models", "config", "doctor"):
        kernel.ok(f"table = %chat {verb}")
        assert kernel.ok("type(table).__name__, len(table) > 0").result == "('DataFrame', True)"


def test_hostile_answers_are_harmless(kernel: Kernel) -> None:
    text = "<img src=x onerror=f()> ![p](http://x/y.png) [j](javascript:f()) <script>x</script>"
    bundle = kernel.ok(f"%%chat\n{text}").displays[-1]
    for kind in ("text/markdown", "text/html"):
        assert "<img" not in bundle[kind]
        assert "<script" not in bundle[kind]
        assert 'href="javascript' not in bundle[kind]
    assert "![" not in bundle["text/markdown"]
    assert bundle[TURN]["text"] == text
