"""What is given in the wrong place or form is refused where it is given, and no key is repeated."""

import pytest

from tests.kernel import Kernel, Ran


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    """Go on in the thread of the test before."""
    return shared


def said(ran: Ran) -> str:
    return f"{ran.out}{ran.err}{ran.error}{ran.results}{ran.displays}"


@pytest.mark.parametrize(
    "line",
    [
        "%%chat -P key=SECRET\nhi",
        "%%chat -P Authorization=SECRET\nhi",
        "%%chat -P X-API-Key=SECRET\nhi",
        "%%chat -m https://host.example/v1?api_key=SECRET#m\nhi",
        "%%chat https://host.example/v1?v=SECRET#m\nhi",
        "%chat use https://host.example/v1?token=SECRET#m",
        "%chat key openai sk-SECRET",
        "%chat key sk-SECRET",
        "%chat key openai SECRET",
    ],
)
def test_a_key_on_the_line_is_refused_and_not_repeated(kernel: Kernel, line: str) -> None:
    ran = kernel.run(line)
    assert "SECRET" not in said(ran)
    assert "%chat key" in said(ran)
    assert "SECRET" not in kernel.ok("%chat").result


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%%chat -t --no-history\nhi", "-t '--no-history'"),
        ("%%chat -s -q\nhi", "-s '-q'"),
        ("%%chat -m --temperature=0.2\nhi", "-m has no value"),
        ("%chat ask -t --no-history hi", "-t has no value"),
        ("%%chat ask\nwhy?", "%%chat -t ask"),
        ("%%chat help\n怎么了 😀", "%%chat -t help"),
    ],
)
def test_a_word_in_the_wrong_place_is_told(kernel: Kernel, line: str, words: str) -> None:
    assert words in kernel.run(line).err
    assert kernel.ok("rows = %chat threads\nlen(rows)").result == "0"


@pytest.mark.parametrize("setting", ["window=-5", "model='bogus'", "safety=7", "rerun='zork'"])
def test_a_setting_is_refused_where_it_is_given(kernel: Kernel, setting: str) -> None:
    assert setting.partition("=")[2].strip("'") in said(kernel.run(f"%config JanMagics.{setting}"))
    kernel.ok("%reload_ext jan_magics")
    kernel.ok("%config JanMagics.window = 500")
    kernel.ok("%config JanMagics.window = ''")
    assert "offline:echo" in kernel.ok("%chat").result


def test_a_value_like_a_flag_is_taken_when_it_is_quoted(kernel: Kernel) -> None:
    assert "system   -q" in kernel.ok("%%chat -s '-q' --dry-run\nhi").result


def test_what_sticks_is_taken_back(kernel: Kernel) -> None:
    kernel.ok("%chat use -s 'be brief' --temperature 0.5 -P top_p=0.5 --max-tokens 9 --window 500")
    kernel.ok("%chat use -s '' -P temperature=null -P top_p=null")
    told = kernel.ok("%chat").result
    assert "options  max_tokens=9" in told
    assert "system" not in told
    kernel.ok("%chat use -P max_tokens=null -P window=null")
    assert "options" not in kernel.ok("%chat").result
    assert "temperature=null" in kernel.ok("%chat help use").result
