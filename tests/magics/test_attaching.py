"""`--attach` in a real kernel: files and variables go with a prompt, and wrong ones are refused."""

from collections.abc import Iterator

import pytest

from tests.kernel import Kernel, homes, running_kernel

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "我的 笔记.md").write_text("熊猫吃竹子 🐼", encoding="utf-8")
    (folder / "cat.png").write_bytes(PNG)
    (folder / "empty").mkdir()
    with running_kernel(folder, **homes(folder)) as running:
        running.ok("%load_ext jan_magics\nimport jan_magics as jan\n%chat use offline:echo")
        yield running


def test_a_file_and_an_image_go_with_the_prompt(kernel: Kernel) -> None:
    kernel.ok('%%chat -o a --attach "我的 笔记.md" --attach cat.png\nWhat is this?')
    sent = kernel.ok("print(a.sent)").out
    assert "File: 我的 笔记.md" in sent
    assert "熊猫吃竹子 🐼" in sent
    assert "image/png" in sent


def test_a_table_of_the_notebook_goes_with_the_prompt(kernel: Kernel) -> None:
    kernel.ok('import pandas as pd\nanimals = pd.DataFrame({"动物": ["熊猫", "fox"], "n": [1, 2]})')
    kernel.ok("%%chat -o a --attach animals\nSum it up")
    sent = kernel.ok("print(a.sent)").out
    assert "File: animals" in sent
    assert "DataFrame, 2 rows" in sent
    assert "熊猫" in sent


def test_python_attaches_the_same(kernel: Kernel) -> None:
    kernel.ok("import jan_magics as jan\nfrom pathlib import Path")
    kernel.ok('a = jan.current().send("?", attach=[Path("cat.png"), animals], show=False)')
    sent = kernel.ok("print(a.sent)").out
    assert "image/png" in sent
    assert "熊猫" in sent


def test_an_address_that_is_not_public_fails_itself(kernel: Kernel) -> None:
    ran = kernel.ok("%%chat -o a --attach https://127.0.0.1/a.pdf --attach cat.png\nWhat is it?")
    assert "not attached: a.pdf: " in ran.displays[-1]["text/plain"]
    assert "image/png" in kernel.ok("print(a.sent)").out


@pytest.mark.parametrize(
    ("word", "said", "step"),
    [
        ("cat.pngg", "there is no such file, closest: 'cat.png'", "Name a file or folder"),
        ("empty", "there are no files in 'empty'", "Name another folder"),
        ("*.docx", "no file matches", "Name a file or folder"),
        ("number", "number is a variable with int in it", "a DataFrame or Series"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_asked(
    kernel: Kernel, word: str, said: str, step: str
) -> None:
    kernel.ok("number = 7")
    before = kernel.ok("len(jan.current().messages())").result
    ran = kernel.run(f"%%chat --attach {word}\n?")
    assert ran.error
    shown = ran.error[1] + "\n".join(ran.error[2])
    assert said in shown
    assert step in shown
    assert kernel.ok("len(jan.current().messages())").result == before


@pytest.mark.parametrize(
    "asked",
    [
        "%%chat -o a --attach cat.png",
        "%%chat -o a --attach cat.png\n\n  \n",
        "%chat ask -o a --attach cat.png",
        'a = jan.current().send("", attach=["cat.png"], show=False)',
        'a = jan.current().send(" \\n", attach=["cat.png", "我的 笔记.md"], show=False)',
    ],
)
def test_a_file_alone_is_a_question(kernel: Kernel, asked: str) -> None:
    kernel.ok("%chat new")
    kernel.ok(asked)
    sent = kernel.ok("print(a.sent)").out
    assert "image/png" in sent
    assert "[This message is empty.]" not in sent
    assert "You  cat.png" in str(kernel.ok("%chat tree").results[-1]["text/plain"])
    assert ("熊猫" in sent) is ("笔记" in asked)


@pytest.mark.parametrize(
    "asked",
    [
        "%%chat --attach bare.txt --attach not.png\n",
        'jan.current().send("", attach=["bare.txt", "not.png"])',
    ],
)
def test_a_blank_question_whose_files_cannot_be_read_is_refused(kernel: Kernel, asked: str) -> None:
    kernel.ok("open('bare.txt', 'w').close()\nopen('not.png', 'w').write('plain')")
    before = kernel.ok("len(jan.current().messages())").result
    ran = kernel.run(asked)
    assert ran.error
    shown = ran.error[1] + "\n".join(ran.error[2])
    assert "nothing to ask about: not attached: bare.txt: it is empty; not attached: not" in shown
    assert "Attach another file, or write a prompt." in shown
    assert kernel.ok("len(jan.current().messages())").result == before
    blank = kernel.run('jan.current().send(" ")').error
    assert blank
    assert "the prompt is empty" in blank[1] + "".join(blank[2])


def test_a_blank_cell_without_a_file_is_still_refused(kernel: Kernel) -> None:
    assert "empty" in kernel.run("%%chat -q\n  \n").err
    assert "write the prompt behind it" in kernel.run("%chat ask").err
