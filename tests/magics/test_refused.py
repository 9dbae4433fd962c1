"""What cannot be asked, in a real kernel: refused before anything is sent or stored."""

import pytest

from tests.kernel import Kernel


def test_a_parameter_is_read_when_it_is_filled_in(kernel: Kernel) -> None:
    kernel.ok("k, warm = 40, 9")
    ran = kernel.ok("%%chat --dry-run -o plan -P 'top_k={{ k }}'\nhi")
    assert "top_k=40" in ran.result
    assert "-P temperature" in kernel.run("%%chat -P 'temperature={{ warm }}'\nhi").err


@pytest.mark.parametrize(
    "flags",
    [
        "-m openai:gpt-4",
        "-m bogus:model",
        "-m offline:nope",
        "-m http://10.0.0.7/v1#m",
        "-P pace=fast",
        "-P fail=never",
        "-P 'stop={\"a\": NaN}'",
        "--at zzzz",
        "-a nobody",
    ],
)
def test_what_cannot_be_asked_is_not_stored(kernel: Kernel, flags: str) -> None:
    threads = "len(__import__('jan_magics').threads())"
    before = kernel.ok(threads).result
    assert kernel.run(f"%%chat -t nothing-yet {flags}\nhi").status == "error"
    assert kernel.ok(threads).result == before
    kernel.ok("%%chat\nfirst")
    assert kernel.run(f"%%chat {flags}\nlost?").status == "error"
    texts = "list(__import__('jan_magics').current().messages(all=True).text)"
    assert kernel.ok(texts).result == "['first', 'first']"


def test_a_name_that_the_thread_has_already(kernel: Kernel) -> None:
    kernel.ok("%%chat -t 猫\nhi")
    for line in ("%chat rename 猫 猫", "%chat rename 猫 ' 猫'"):
        ran = kernel.run(line)
        assert ran.error is not None
        assert "the thread is called '猫' already" in ran.error[2][0]


def test_an_answer_hides_nothing_of_python(kernel: Kernel) -> None:
    refused = kernel.run("%%chat -o print\nhi")
    assert "would hide Python's own print" in refused.err
