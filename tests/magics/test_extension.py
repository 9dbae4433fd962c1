"""Loading and unloading in a real kernel: fast, silent, nothing doubled, nothing lost."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel

HEAVY = ("pandas", "httpx", "numpy", "ipywidgets", "apsw", "markdown_it", "anywidget")
STATE = """
import json
_shell = get_ipython()
print(json.dumps({
    "line": [n for n in ("chat", "jan", "rag") if n in _shell.magics_manager.magics["line"]],
    "cell": [n for n in ("chat", "jan") if n in _shell.magics_manager.magics["cell"]],
    "cleanup": len(_shell.input_transformers_cleanup),
    "matchers": len(_shell.Completer.custom_matchers),
    "hooks": len(_shell.events.callbacks["post_run_cell"]),
    "settings": sum(type(c).__name__ == "JanMagics" for c in _shell.configurables),
}))
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path) as running:
        yield running


def state(kernel: Kernel) -> dict[str, object]:
    found: dict[str, object] = json.loads(kernel.ok(STATE).out)
    return found


def test_loading_is_silent_and_imports_nothing_heavy(kernel: Kernel) -> None:
    kernel.ok("import sys; before = set(sys.modules)")
    loaded = kernel.ok("%load_ext jan_magics")
    assert (loaded.out, loaded.err, loaded.displays) == ("", "", [])
    new = kernel.ok("print(*sorted(set(sys.modules) - before))").out.split()
    assert not {name.partition(".")[0] for name in new} & set(HEAVY)
    assert len(new) < 30


def test_the_first_answer_waits_for_no_table(kernel: Kernel) -> None:
    kernel.ok("%load_ext jan_magics")
    kernel.ok("%%chat -m offline:echo\nhello")
    new = set(kernel.ok("import sys; print(*sys.modules)").out.split())
    assert not new & {"pandas", "numpy", "jan_magics.context.ledger_patterns"}
    # Nor for wires and stores that nobody uses.
    assert not new & {f"jan_magics.providers.{wire}" for wire in ("anthropic", "google", "ollama")}
    assert not new & {f"jan_magics.storage.{store}" for store in ("jsonl", "postgres")}
    kernel.ok("%chat threads")
    assert "pandas" in kernel.ok("import sys; print(*sys.modules)").out.split()


def test_loading_writes_nothing_and_opens_nothing(kernel: Kernel, tmp_path: Path) -> None:
    kernel.ok(
        "import sys\ndef audit(event, args):\n"
        "    writes = event == 'open' and set(str(args[1])) & set('wax+')\n"
        "    if event == 'socket.connect' or writes:\n"
        "        seen.append((event, str(args[0])))\n"
        "seen = []\nsys.addaudithook(audit)"
    )
    kernel.ok("%load_ext jan_magics")
    seen = kernel.ok("print([s for s in seen if '__pycache__' not in s[1]])").out
    assert "jan" not in seen
    assert "socket" not in seen


def test_unload_takes_everything_back(kernel: Kernel) -> None:
    before = state(kernel)
    kernel.ok("%load_ext jan_magics")
    assert state(kernel) != before
    kernel.ok("%unload_ext jan_magics")
    assert state(kernel) == before
    assert kernel.run("%%chat\nhi").status == "error"


def test_reload_doubles_nothing_and_keeps_the_thread(kernel: Kernel) -> None:
    kernel.ok("%load_ext jan_magics")
    kernel.ok("%%chat -t notes\nThe answer is forty-two. What is the answer?")
    kernel.ok("%chat use notes")
    once = state(kernel)
    kernel.ok("%reload_ext jan_magics")
    kernel.ok("%reload_ext jan_magics")
    assert state(kernel) == once
    assert "notes, 2 messages" in kernel.ok("%chat").result


def test_a_chat_magic_of_somebody_else_stays(kernel: Kernel) -> None:
    kernel.ok(
        "def chat(line, cell): return 'theirs'\nget_ipython().register_magic_function(chat, 'cell')"
    )
    loaded = kernel.ok("%load_ext jan_magics")
    assert loaded.out == "%%chat belongs to __main__: this extension answers to %%jan and %jan\n"
    assert kernel.ok("%%chat\nhi").result == "'theirs'"
    assert "hi" in kernel.ok("%%jan\nhi").turn["text"]
    kernel.ok("%unload_ext jan_magics")
    assert kernel.ok("%%chat\nhi").result == "'theirs'"


def test_a_rag_magic_of_somebody_else_stays(kernel: Kernel) -> None:
    kernel.ok("def rag(line): return 'theirs'\nget_ipython().register_magic_function(rag, 'line')")
    loaded = kernel.ok("%load_ext jan_magics")
    assert loaded.out == "%rag belongs to __main__: jan.chunks and jan.Collection do the same\n"
    assert kernel.ok("%rag chunks x").result == "'theirs'"
    kernel.ok("%unload_ext jan_magics")
    assert kernel.ok("%rag chunks x").result == "'theirs'"


def test_lazy_magics_load_at_the_first_use(kernel: Kernel) -> None:
    kernel.ok(
        "get_ipython().magics_manager.lazy_magics = {'chat': 'jan_magics', 'jan': 'jan_magics'}"
    )
    ran = kernel.ok("%%chat\nIs it lazy?")
    assert "Is it lazy?" in ran.turn["text"]
    assert "another extension" not in ran.out
    assert kernel.ok("%chat version").result.startswith("jan_magics ")


def test_config_lists_and_sets(kernel: Kernel) -> None:
    kernel.ok("%load_ext jan_magics")
    assert "who answers" in kernel.ok("%config JanMagics").out
    kernel.ok("%config JanMagics.model = 'offline:echo'")
    assert kernel.ok("%%chat\nword for word").turn["text"] == "word for word"
    config = kernel.ok("%chat config")
    assert "%config JanMagics.model" in config.results[-1]["text/html"]


def test_config_knows_every_setting() -> None:
    from jan_magics.engine.setting_list import SETTINGS, trait_of
    from jan_magics.magics.chat import JanMagics

    assert set(JanMagics.SETTINGS) == {trait_of(setting.name) for setting in SETTINGS}


def test_config_spells_the_settings_of_a_table_with_a_line_below(kernel: Kernel) -> None:
    kernel.ok("%load_ext jan_magics")
    kernel.ok("%config JanMagics.rag_enabled = False")
    shown = kernel.ok("%chat config").results[-1]["text/html"]
    assert "%config JanMagics.rag_enabled" in shown
    refused = kernel.run("%config JanMagics.rag_threshold = 7").err
    assert "rag.threshold from %config is '7'" in refused


def test_an_interrupt_while_the_first_cell_loads_is_one_line(kernel: Kernel) -> None:
    kernel.ok("%load_ext jan_magics")
    kernel.ok("import builtins, signal, os\n_import = builtins.__import__")
    kernel.ok(
        "def late(name, *rest):\n"
        "    if name == 'httpx':\n"
        "        builtins.__import__ = _import\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return _import(name, *rest)\n"
        "builtins.__import__ = late"
    )
    ran = kernel.run("%%chat\nhello")
    assert ran.error is not None
    assert ran.error[2] == ["Stopped: no answer yet"]
    assert "hello" in kernel.ok("%%chat\nhello").turn["text"]


@pytest.mark.parametrize("verb", ["%reload_ext", "%unload_ext jan_magics\n%load_ext"])
def test_a_refused_setting_does_not_keep_the_extension_out(kernel: Kernel, verb: str) -> None:
    kernel.ok("%load_ext jan_magics\n%config JanMagics.display = 'once'")
    assert "wrong" in kernel.ok("%config JanMagics.rerun = 'wrong'").err
    loaded = kernel.ok(f"{verb} jan_magics")
    assert loaded.out == "JanMagics.rerun cannot be 'wrong', and is as if it was not set\n"
    assert kernel.ok("%config JanMagics.rerun").result == "''"
    assert kernel.ok("%config JanMagics.display").result == "'once'"
    kernel.ok("%%chat\nhi")
    kernel.ok("%config JanMagics.rerun = 'reuse'")
    assert kernel.ok("%reload_ext jan_magics").out == ""
    assert kernel.ok("%config JanMagics.rerun").result == "'reuse'"
