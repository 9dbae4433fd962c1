"""Question marks at the end of a line verb belong to the question."""

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from jan_magics.magics.transform import keep_question_marks


def transformed(cell: str) -> str:
    manager = TransformerManager()
    manager.cleanup_transforms.append(keep_question_marks)
    return manager.transform_cell(cell)


@pytest.mark.parametrize(
    ("cell", "call"),
    [
        ("%chat ask what is a cat?", "run_line_magic('chat', 'ask what is a cat?')"),
        ("%jan ask 猫是什么?", "run_line_magic('jan', 'ask 猫是什么?')"),
        (
            "x = %chat ask is it done?",
            "x = get_ipython().run_line_magic('chat', 'ask is it done?')",
        ),
        ("a.b = %chat ask ok?\n", "a.b = get_ipython().run_line_magic('chat', 'ask ok?')"),
        ("%rag search who pays?", "run_line_magic('rag', 'search who pays?')"),
        (
            "if True:\n    %chat ask it's so?",
            "    get_ipython().run_line_magic('chat', \"ask it's so?\")",
        ),
        ("%matplotlib inline\n!ls 'x\n%chat ask why??", "run_line_magic('chat', 'ask why??')"),
        ("%chat ask 'open quote?\n%chat ask again?", "run_line_magic('chat', 'ask again?')"),
    ],
)
def test_the_question_reaches_the_verb(cell: str, call: str) -> None:
    result = transformed(cell)
    assert call in result
    assert "pinfo" not in result


@pytest.mark.parametrize("cell", ["%chat?", "%%chat?", "%chat??", "?%chat", "%jan?"])
def test_help_on_the_magic_stays_help(cell: str) -> None:
    assert "pinfo" in transformed(cell)


@pytest.mark.parametrize(
    "cell",
    [
        "text = '''\n%chat ask what?\n'''\n",
        "f(\n%chat\n)",
        "%%chat\n%chat ask what is a cat?\n",
        "%%bash\n%chat ask what?\n",
        "# %chat ask what?\n",
        "print('%chat ask what?')\n",
        "x = 'a' '%chat ask?'\n",
    ],
)
def test_what_is_no_line_verb_is_left_alone(cell: str) -> None:
    lines = cell.splitlines(keepends=True)
    assert keep_question_marks(lines) == lines
