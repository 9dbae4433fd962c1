"""Assistants in a real kernel: listed, made, edited, asked; titles as the setting says."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, homes, running_kernel


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kernel, Path]]:
    folder = tmp_path_factory.mktemp("kernel")
    told = {
        "JAN_MODEL": "offline:echo",
        "JPY_SESSION_NAME": str(folder / "work.ipynb"),
        "TZ": "Pacific/Kiritimati",  # a day ahead of most
    }
    with running_kernel(folder, **homes(folder), **told) as running:
        running.ok("%load_ext jan_magics\nimport jan_magics as jan")
        yield running, folder / "data" / "assistants"


@pytest.fixture
def kernel(shared: tuple[Kernel, Path]) -> Kernel:
    shared[0].ok("jan.current().use(assistant=None, system=None); _ = jan.current().new()")
    return shared[0]


def sent(kernel: Kernel) -> dict[str, object]:
    found: dict[str, object] = json.loads(kernel.ok("print(__import__('json').dumps(a.sent))").out)
    return found


def test_listing_shows_the_default_and_writes_nothing(
    kernel: Kernel, shared: tuple[Kernel, Path]
) -> None:
    ran = kernel.ok("t = %chat assistants\nprint(list(t.columns), t.iloc[0].tolist())")
    columns = "['id', 'name', 'instructions', 'parameters', 'status']"
    assert ran.out.strip() == f"{columns} ['model-only', 'default', '', '{{}}', 'built in']"
    assert not shared[1].exists()


def test_a_new_one_is_made_and_edited_in_a_cell(
    kernel: Kernel, shared: tuple[Kernel, Path]
) -> None:
    ran = kernel.run("t = %chat assistants --new 'my poet'\nprint(t.iloc[-1].status)")
    assert ran.status == "ok"
    (path,) = shared[1].glob("*.json")
    assert ran.out.strip() == f"new, in {path}"
    (cell,) = ran.next_inputs
    edited = cell.replace("instructions=''", "instructions='Only rhyme.'")
    saved = kernel.ok(f"{edited.rstrip(')')}).iloc[-1].status").result
    assert str(path) in saved
    assert json.loads(path.read_text())["instructions"] == "Only rhyme."
    again = kernel.ok("%chat assistants --edit 'my poet'").next_inputs[-1]
    assert "'Only rhyme.'" in again
    twice = kernel.ok("t = %chat assistants --new 'my poet'\nprint(t.iloc[-1].status)")
    assert twice.out.strip() == f"to edit, in {path}"
    assert json.loads(path.read_text())["instructions"] == "Only rhyme."


def test_what_is_not_named_stays_as_it_is(kernel: Kernel) -> None:
    kernel.ok("jan.save_assistant('海盗', instructions='old', parameters={'temperature': 0.1})")
    kernel.ok("jan.save_assistant('海盗', instructions='new')")
    kernel.ok("jan.save_assistant('海盗')")
    row = kernel.ok("t = jan.assistants(); t[t.name == '海盗'].iloc[0].parameters").result
    assert "0.1" in row
    kernel.ok("jan.save_assistant('海盗', parameters={})")
    assert kernel.ok("t = jan.assistants(); t[t.name == '海盗'].iloc[0].instructions").result == (
        "'new'"
    )


@pytest.mark.parametrize(
    "text", ["a\nb", 'say """x"""\nnow', "back\\slash\nand {braces}", 'end"\n"', "\n lines \n"]
)
def test_the_cell_saves_what_it_shows(kernel: Kernel, text: str) -> None:
    kernel.ok(f"jan.save_assistant('odd', instructions={text!r}, parameters={{'stop': ['\\n']}})")
    cell = kernel.ok("%chat assistants --edit odd").next_inputs[-1]
    kernel.ok("jan.save_assistant('odd', instructions='', parameters={})")
    kernel.ok(cell)
    row = kernel.ok(
        "t = jan.assistants(); r = t[t.name == 'odd'].iloc[0]; print(repr([r.instructions, "
        "r.parameters]))"
    )
    assert eval(row.out) == [text, '{"stop": ["\\n"]}']  # noqa: S307 - two texts


def test_asked_as_somebody(kernel: Kernel) -> None:
    kernel.ok("jan.save_assistant('sailor', instructions='Talk of {{ notebook }}.',"
              " parameters={'temperature': 0.5})")  # fmt: skip
    kernel.ok("%%chat -a sailor -o a\nhi")
    assert sent(kernel)["system"] == "Talk of work.ipynb."
    assert sent(kernel)["options"] == {"temperature": 0.5}
    kernel.ok("a = %chat ask --temperature 1 again")
    assert sent(kernel)["system"] == "Talk of work.ipynb.", "the thread remembers"
    assert sent(kernel)["options"] == {"temperature": 1}
    kernel.ok("%chat use -a default")
    kernel.ok("a = jan.current().send('more')")
    assert sent(kernel)["system"] == ""
    kernel.ok("a = jan.current().send('more', assistant='sailor')")
    assert sent(kernel)["system"] == "Talk of work.ipynb."


def test_as_whom_is_told_by_the_thread_too(kernel: Kernel) -> None:
    kernel.ok("_ = jan.save_assistant('诗人 of mine', instructions='Rhyme.')")
    kernel.ok("%%chat -a '诗人 of mine'\nhi")
    assert "as       诗人 of mine (the thread's own)" in kernel.ok("%chat").result
    rows = "c = %chat config\nprint(*c[c.setting == 'assistant'].iloc[0].tolist()[:3], sep='|')"
    assert "assistant|诗人 of mine|the thread's own" in kernel.ok(rows).out
    kernel.ok("%chat use -a default")
    assert "as       default (%chat use)" in kernel.ok("%chat").result
    kernel.ok("jan.current().use(assistant=None); _ = jan.current().new()")
    assert "\nas " not in kernel.ok("%chat").result


@pytest.mark.parametrize("code", ["%chat use -a salior", "%%chat -a salior\nhi",
                                  "%chat assistants --edit salior"])  # fmt: skip
def test_a_wrong_name_suggests_the_nearest(kernel: Kernel, code: str) -> None:
    kernel.ok("jan.save_assistant('sailor')")
    ran = kernel.run(code)
    assert ran.error is not None
    assert ran.error[0] == "AssistantNotFound"
    assert "'sailor'" in ran.error[2][0]


def test_template_names_win_in_instructions_only(kernel: Kernel) -> None:
    kernel.ok("model = 'mine'; value = '{{model}} {{ 1/0 }}'")
    kernel.ok("%%chat -o a -s '{{MODEL}} {{ value }} {{ 1 + 1 }} \\{{model}}'\n{{ model }}")
    assert sent(kernel)["system"] == "offline:echo {{model}} {{ 1/0 }} 2 {{model}}"
    assert sent(kernel)["messages"][-1]["text"] == "mine"  # type: ignore[index]
    kernel.ok("%%chat -o a --literal -s '{{model}}'\nhi")
    assert sent(kernel)["system"] == "{{model}}"


def test_the_zone_is_the_users(kernel: Kernel) -> None:
    ran = kernel.ok(
        "%chat use -s 'In {{timezone}}: {{current_date}}'\na = %chat ask hi\n"
        "import datetime as d; n = d.datetime.now(d.timezone(d.timedelta(hours=14)))\n"
        "print(f'In +14 (UTC+14:00): {n:%B} {n.day}, {n.year}')"
    )
    assert sent(kernel)["system"] == ran.out.strip()


def test_an_unknown_template_is_told_in_the_footer(kernel: Kernel) -> None:
    kernel.ok("jan.save_assistant('odd', instructions='{{ modell }}')")
    plain = kernel.ok("%%chat -a odd\nhi").displays[-1]["text/plain"]
    assert plain.count("{{modell}} in the instructions is no template") == 1
    assert "closest: {{model}}" in plain


def test_titles_come_when_the_setting_asks(kernel: Kernel) -> None:
    title = "jan.threads().iloc[0].title"
    kernel.ok("%chat ask how do I store boats?")
    # Unnamed: it goes by the notebook's name.
    assert kernel.ok(title).result.startswith("'work")
    kernel.ok("%config JanMagics.titles = 'auto'\n_ = jan.current().new()\n%chat ask what's 2.5?")
    for _ in range(50):
        if not kernel.ok(title).result.startswith("'work"):
            break
        time.sleep(0.02)
    assert kernel.ok(title).result == '"what\'s 2.5"'
    kernel.ok("%config JanMagics.titles = ''")


def test_help_says_how(kernel: Kernel) -> None:
    shown = kernel.ok("%chat help assistants").result
    assert "--new NAME" in shown
    assert "run the cell" in shown
    assert "{{current_time}}" in shown
    assert "{{current_date}}" in kernel.ok("%chat help chat").result
