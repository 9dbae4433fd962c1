"""Tab completion in a real kernel: what stands before the cursor decides, nobody is asked."""

from collections.abc import Iterator

import pytest

from tests.kernel import Kernel, homes, running_kernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "papers").mkdir()
    with running_kernel(folder, JAN_MODEL="offline:echo", **homes(folder)) as running:
        running.ok("%load_ext jan_magics")
        running.ok("weather_report = 1\n_hidden = 2")
        running.ok("%%chat -t 'my notes'\nhi")
        running.ok("%%chat -t plain\nhi")
        yield running


def complete(kernel: Kernel, code: str) -> tuple[list[str], str]:
    """Return the matches and the text that they replace."""
    found = kernel.client.complete(code, len(code), reply=True, timeout=30)["content"]
    return found["matches"], code[found["cursor_start"] : found["cursor_end"]]


@pytest.mark.parametrize(
    ("code", "matches", "replaced"),
    [
        ("%%chat --te", ["--temperature"], "--te"),
        ("%%jan --te", ["--temperature"], "--te"),
        ("%chat th", ["threads"], "th"),
        ("x = %chat ask --no", ["--no-history", "--no-stream"], "--no"),
        ("%chat delete p", ["plain"], "p"),
        ("%chat delete m", ["my notes"], "m"),
        ("%%chat -t p", ["plain"], "p"),
        ("%%chat -m offline:q", ["offline:quote"], "offline:q"),
        ("%%chat -f j", ["json"], "j"),
        ("%%chat -f ", ["markdown", "text", "code", "json"], ""),
        ("%%chat --overflow ", ["trim", "compact", "error"], ""),
        ("%%chat --overflow=c", ["compact"], "c"),
        ("%chat use --overflow e", ["error"], "e"),
        ("%chat store --convert j", ["jsonl"], "j"),
        ("%%chat --window 8", ["8192"], "8"),
        ("%%chat --grid over", ["overflow=trim,compact"], "over"),
        ("%%chat -P top_", ["top_p=", "top_k="], "top_"),
        ("%%chat --at hea", ["head"], "hea"),
        ("%%chat --at=hea", ["head"], "hea"),
        ("%%chat --thread=p", ["plain"], "p"),
        ("%chat help us", ["use"], "us"),
        ("%%chat\nHow is {{ wea", ["weather_report"], "wea"),
        ("%%chat\nA line.\n\nHow is {{wea", ["weather_report"], "wea"),
        ("%chat ask how is {{ wea", ["weather_report"], "wea"),
        ("%%chat ./pa", ["./papers/"], "./pa"),
        ("%chat replay ./pa", ["./papers/"], "./pa"),
        ("%chat replay --missing l", ["live"], "l"),
    ],
)
def test_what_is_completed(kernel: Kernel, code: str, matches: list[str], replaced: str) -> None:
    assert complete(kernel, code) == (matches, replaced)


@pytest.mark.parametrize("flag", ["--max-tokens", "--temperature", "-o", "--needle"])
def test_a_value_that_nobody_knows_is_neither_model_nor_thread(kernel: Kernel, flag: str) -> None:
    assert not {"plain", "offline:quote", '"my notes"'} & {*complete(kernel, f"%%chat {flag} ")[0]}


def test_providers_that_take_a_key_are_offered(kernel: Kernel) -> None:
    assert "openai" in complete(kernel, "%chat key o")[0]


def test_hidden_names_are_not_offered(kernel: Kernel) -> None:
    assert "_hidden" not in complete(kernel, "%%chat\n{{ ")[0]


def test_other_cells_are_completed_as_ever(kernel: Kernel) -> None:
    assert "weather_report" in complete(kernel, "weather_r")[0]
    assert "--temperature" not in complete(kernel, "x --te")[0]


@pytest.fixture
def ids(kernel: Kernel) -> dict[str, str]:
    """Return the ids of a thread with its texts, the newest first."""
    kernel.ok("%chat use ids")
    if not eval(kernel.ok("len(__import__('jan_magics').current().messages())").result):  # noqa: S307
        kernel.ok("%%chat\nwhy is 天空 blue?")
        kernel.ok("%chat retry")
    table = kernel.ok("m = __import__('jan_magics').current().messages(all=True)\nlist(m.id)")
    roles = kernel.ok("list(m.role)")
    return dict(zip(eval(table.result), eval(roles.result), strict=True))  # noqa: S307


@pytest.mark.parametrize(
    "line",
    ["%chat drop ", "%chat show ", "%chat diff ", "%chat retry ", "%chat resume ", "%%chat --at "],
)
def test_ids_of_the_thread_are_offered(kernel: Kernel, ids: dict[str, str], line: str) -> None:
    matches, replaced = complete(kernel, line)
    shown = [name for name in matches if name != "head"]
    assert replaced == ""
    assert ("head" in matches) == ("--at" in line)
    assert sorted(shown) == sorted(name[:6] for name in ids)
    first = list(ids)[1][:6]
    assert complete(kernel, f"{line}{first[:4]}") == ([first], first[:4])


def test_go_offers_neighbours_and_says_what_each_message_is(
    kernel: Kernel, ids: dict[str, str]
) -> None:
    content = kernel.client.complete("%chat go ", 9, reply=True, timeout=30)["content"]
    kinds = {
        each["text"]: each["type"] for each in content["metadata"]["_jupyter_types_experimental"]
    }
    assert list(kinds)[:2] == ["next", "prev"]
    question = next(name for name, role in ids.items() if role == "user")
    assert kinds[question[:6]] == "question: why is 天空 blue?"


def test_marks_take_ids_and_what_is_to_be_done(kernel: Kernel, ids: dict[str, str]) -> None:
    matches, _ = complete(kernel, "%chat mark ")
    assert matches[:4] == ["keep", "drop", "pin", "summarise"]
    assert sorted(matches[4:]) == sorted(name[:6] for name in ids)
    assert complete(kernel, f"%chat mark {matches[4]} sum") == (["summarise"], "sum")


def test_completion_writes_nothing(kernel: Kernel, ids: dict[str, str]) -> None:
    kernel.ok("import jan_magics as jan; before = len(jan.threads())")
    kernel.ok("%chat use nothing-here")
    assert complete(kernel, "%chat go ")[0] == ["next", "prev"]
    assert kernel.ok("len(jan.threads()) - before").result == "1"  # `use` has made one
