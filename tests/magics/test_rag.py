"""`%rag chunks` in a real kernel: how a file would be cut, and what a wrong line says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.magics.arguments import HelpAsked, parse
from jan_magics.magics.rag import parser_of, rag_help
from jan_magics.magics.rag_commands import RAG_VERBS
from jan_magics.magics.retrieving import RUN
from tests.kernel import Kernel, homes, running_kernel
from tests.magics.test_completion import complete

TEXT = "# 题\n\n" + "今天天气很好。" * 60 + "\n\n## B\n\n" + "Hello there. " * 120


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "my notes.md").write_text(TEXT, encoding="utf-8")
    (folder / "papers").mkdir()
    with running_kernel(folder, **homes(folder)) as running:
        running.ok("%load_ext jan_magics")
        yield running


def test_a_file_is_cut(kernel: Kernel) -> None:
    kernel.ok('found = %rag chunks --size 80 "my notes.md"')
    assert kernel.ok("found.attrs['jan']['recipe']").result == (
        "'recursive 80/16 tokens (o200k_base)'"
    )
    assert kernel.ok("bool((found.tokens <= 80).all()) and len(found) > 8").result == "True"
    assert kernel.ok("set(found.headings)").result == "{'题', '题 › B'}"


def test_a_grid_is_tried(kernel: Kernel) -> None:
    kernel.ok(
        'found = %rag chunks "my notes.md" --grid size=64,128 --grid splitter=tokens,recursive'
    )
    assert kernel.ok("list(dict.fromkeys(found.recipe))").result == (
        "['tokens 64/12 tokens (o200k_base)',\n 'recursive 64/12 tokens (o200k_base)',\n"
        " 'tokens 128/25 tokens (o200k_base)',\n 'recursive 128/25 tokens (o200k_base)']"
    )


def test_the_reference_is_one_word_away(kernel: Kernel) -> None:
    kernel.ok('found = %rag chunks "my notes.md" --splitter chars')
    assert kernel.ok("found.recipe.iloc[0]").result == "'chars 512/64 chars'"


@pytest.mark.parametrize(
    ("line", "said", "step"),
    [
        ("chunks nowhere.md", "there is no such file", "Name a file"),
        ("chunks papers", "is a folder", "Name a file"),
        ("chunks 'my notes.md' --size 20 --overlap 20", "overlap 20 is not smaller", "overlap=4"),
        ("chunks 'my notes.md' --size big", "'big' is no size", "size='512c'"),
        ("chunks 'my notes.md' --splitter best", "invalid choice: 'best'", "%rag chunks --help"),
        ("chunks 'my notes.md' --sise 20", "closest: --size", "%rag chunks --help"),
        ("chunks", "required: PATH", "%rag chunks --help"),
        ("chunk x", "no verb 'chunk', closest: chunks", "%rag help"),
        ("help chunk", "no help on 'chunk', closest: chunks", "%rag help"),
    ],
)
def test_what_cannot_be_done_says_what_to_type(
    kernel: Kernel, line: str, said: str, step: str
) -> None:
    ran = kernel.run(f"%rag {line}")
    shown = ran.err + "\n".join(ran.error[2]) + ran.error[1] if ran.error else ran.err
    assert said in shown
    assert step in shown


@pytest.mark.parametrize("line", [" help", " --help"])
def test_help_lists_the_verbs(kernel: Kernel, line: str) -> None:
    assert "  chunks PATH" in kernel.ok(f"%rag{line}").result


def test_help_of_a_verb(kernel: Kernel) -> None:
    assert "--splitter HOW" in kernel.ok("%rag help chunks").result
    assert "--splitter HOW" in kernel.ok("%rag chunks --help").out
    assert "--splitter HOW" in kernel.ok("%rag chunks?").result


@pytest.mark.parametrize("verb", RAG_VERBS, ids=lambda verb: verb.name)
def test_every_verb_has_help_and_runs(verb: object) -> None:
    name = getattr(verb, "name", "")
    with pytest.raises(HelpAsked, match=f"%rag {name}"):
        parse(parser_of(next(each for each in RAG_VERBS if each.name == name)), "--help")
    assert rag_help(name).startswith(f"usage: %rag {name}")
    assert name == "help" or name in RUN


@pytest.mark.parametrize(
    ("code", "matches"),
    [
        ("%rag ch", ["chunks"]),
        ("x = %rag chunks --sp", ["--splitter"]),
        ("%rag chunks --splitter ma", ["markdown"]),
        ("%rag help ch", ["chunks"]),
        ("%rag chunks pa", ["papers/"]),
    ],
)
def test_completion(kernel: Kernel, code: str, matches: list[str]) -> None:
    assert complete(kernel, code)[0] == matches


def test_a_file_of_another_folder(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three", encoding="utf-8")
    kernel.ok(f"found = get_ipython().run_line_magic('rag', 'chunks {tmp_path}/a.txt')")
    assert kernel.ok("len(found)").result == "1"
