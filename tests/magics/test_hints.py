"""What a user is told to do next works where it is said, in a real kernel."""

import pytest

from tests.kernel import Kernel, Ran


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    """Go on in the thread of the test before."""
    return shared


def failed(ran: Ran) -> str:
    assert ran.status == "error"
    return "\n".join(ran.error[2]) if ran.error else ran.err


def footer(ran: Ran) -> str:
    return str(ran.displays[-1]["text/plain"])


def test_json_is_sent_as_json(kernel: Kernel) -> None:
    ran = kernel.ok('%%chat -P response_format={"type": "json_object"} --dry-run\nhi')
    assert "response_format={'type': 'json_object'}" in ran.result


def test_a_setting_is_no_parameter(kernel: Kernel) -> None:
    assert "%config JanMagics.keep" in failed(kernel.run("%%chat -P keep=3\nhi"))


@pytest.mark.parametrize("line", ["-m offline:echo", "--thread 猫", "-m"])
def test_a_flag_where_a_verb_belongs(kernel: Kernel, line: str) -> None:
    said = failed(kernel.run(f"%chat {line}"))
    assert f"%chat use {line}" in said
    assert f"%%chat {line}" in said


def test_a_step_in_another_thread_names_it(kernel: Kernel) -> None:
    kernel.ok("%%chat -t 'other 猫'\none", cell_id="c1")
    kernel.ok("%%chat -t 'other 猫'\ntwo", cell_id="c2")
    ran = kernel.ok("%%chat -t 'other 猫'\none", cell_id="c1")
    assert "answer 1 · back: %chat use -t 'other 猫' then: %chat undo" in footer(ran)
    ran = kernel.run("%%chat -t 'other 猫' -P pace=20\n" + "word " * 200, interrupt=0.6)
    assert "go on: %chat use -t 'other 猫'   then: %chat resume" in failed(ran)
    kernel.ok("%chat use -t 'other 猫'")
    ran = kernel.ok("%%chat -t 'other 猫'\none", cell_id="c1")
    assert "stay on answer 2 · back: %chat undo" in footer(ran)
    kernel.ok("%chat use -P thread=null")


def test_a_needle_needs_a_grid(kernel: Kernel) -> None:
    said = failed(kernel.run("%%chat --needle 42\nhi"))
    assert "--grid temperature=0,1" in said
    assert "the needle is ''" in failed(kernel.run("%%chat --needle '' --grid window=500\nhi"))


@pytest.mark.parametrize("verb", ["use", "assistants", "tree", "ask"])
def test_both_ways_to_help_say_the_same(kernel: Kernel, verb: str) -> None:
    assert (
        kernel.ok(f"%chat {verb} --help").out.strip()
        == kernel.ok(f"help = %chat help {verb}\nprint(help)").out.strip()
    )


def test_fix_is_about_the_newest_cell_that_failed(kernel: Kernel) -> None:
    def asked() -> str:
        return kernel.ok("%chat fix --dry-run").result

    kernel.run("one / 0")
    kernel.run("%chat use -m offline:echo\n二.x")
    assert "二.x" in asked()
    kernel.run("%%chat -m bogus:m\nhi")
    kernel.run("%chat go nowhere")
    kernel.run("%chat fix -m bogus:m")
    assert "二.x" in asked()
    kernel.ok("二 = one = 1j")
    assert "二.x" in asked()
    kernel.run("one.real_ ", cell_id="c7")
    assert "one.real_" in asked()
    kernel.ok("one.real", cell_id="c7")
    assert "no cell has failed" in failed(kernel.run("%chat fix"))


def test_a_key_for_an_address_that_anybody_can_read(kernel: Kernel) -> None:
    said = failed(kernel.run("%chat key http://host.example"))  # nobody types: that comes later
    assert "not encrypted" in said
    assert "nobody is there" in failed(kernel.run("%chat key HTTP://127.0.0.1:1234"))
