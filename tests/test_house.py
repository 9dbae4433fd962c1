"""Each house rule fires on a small bad sample, spares a good one, and the house itself is clean."""

import json
from pathlib import Path

import pytest

from tests import house, house_imports, house_text
from tests.house_source import Source

BAD = [
    ("long-file", "tests/a.py", "x = 1\n" * 300),
    ("long-function", "tests/a.py", "def f():\n" + "    x = 1\n" * 40),
    ("long-class", "tests/a.py", "class A:\n" + "    x = 1\n" * 150),
    ("file-name", "jan_magics/engine/utils.py", ""),
    ("class-name", "jan_magics/a.py", "class StoreManager(Protocol): x: int"),
    ("async-twin", "jan_magics/a.py", "def send(): return 1\nasync def asend(): return 1"),
    ("async-twin", "jan_magics/a.py", "def send(): return 1\nasync def send_async(): return 1"),
    ("init-content", "jan_magics/rag/__init__.py", "def f(): return 1"),
    ("init-content", "jan_magics/__init__.py", "class A: x = 1"),
    ("module-state", "jan_magics/a.py", "cache = {}"),
    ("module-state", "jan_magics/a.py", "CACHE: dict[str, int] = dict()"),
    ("module-state", "jan_magics/a.py", "SEEN = weakref.WeakSet()"),
    ("module-state", "jan_magics/a.py", "n = 0\ndef f():\n    global n\n    n = 1"),
    ("import-work", "jan_magics/a.py", "register('x')"),
    ("import-work", "jan_magics/a.py", "try: import numpy\nexcept ImportError: numpy = None"),
    ("singleton", "jan_magics/a.py", "class A:\n    _instance = None"),
    ("monkeypatch", "jan_magics/a.py", "import json\njson.dumps = str"),
    ("mock", "tests/a.py", "from unittest import mock"),
    ("mock", "tests/a.py", "from unittest.mock import patch"),
    ("domain-import", "jan_magics/domain/a.py", "import numpy as np"),
    ("domain-import", "jan_magics/domain/a.py", "from jan_magics.engine import turn"),
    ("http-import", "jan_magics/engine/a.py", "import httpx"),
    ("http-import", "jan_magics/rag/a.py", "def f():\n    from urllib.request import urlopen"),
    ("broad-except", "jan_magics/engine/a.py", "try: f()\nexcept Exception: x = 1"),
    ("broad-except", "jan_magics/engine/a.py", "try: f()\nexcept: x = 1"),
    ("broad-except", "jan_magics/engine/a.py", "try: f()\nexcept (OSError, BaseException): x = 1"),
    ("sql", "jan_magics/engine/a.py", "q = 'SELECT id FROM threads'"),
    ("sql", "jan_magics/engine/a.py", "q = f'DELETE FROM {table}'"),
    ("matrix-product", "jan_magics/rag/a.py", "def f(a, b): return a @ b"),
    ("print-call", "jan_magics/engine/a.py", "def f(): print('oh')"),
    ("stub", "jan_magics/a.py", "def f(): raise NotImplementedError"),
    ("stub", "jan_magics/a.py", "def f(): ..."),
    ("stub", "jan_magics/a.py", "class A:\n    def f(self):\n        '''Do it.'''\n        pass"),
    ("no-assertion", "tests/test_a.py", "def test_it(): f()"),
]  # fmt: skip

GOOD = [
    ("jan_magics/__init__.py", "from a import b\n__all__ = ['b']\ndef __getattr__(name): return b"),
    ("jan_magics/a.py", "NAMES = ('a', 'b')\nTABLE: Final = {'a': 1}\nlimit = max(1, 2)"),
    ("jan_magics/a.py", "class Store(Protocol):\n    def get(self) -> int: ..."),
    ("jan_magics/a.py", "class None_:\n    def close(self):\n        '''Hold nothing open.'''"),
    (
        "jan_magics/a.py",
        "def f():\n    try: g()\n    except BaseException:\n        undo()\n        raise",
    ),
    ("jan_magics/cli.py", "def f():\n    try: g()\n    except Exception as e: print(e)"),
    ("jan_magics/storage/a.py", "q = 'SELECT id FROM threads'"),
    ("jan_magics/providers/a.py", "import httpx"),
    ("tests/test_a.py", "def test_it():\n    with pytest.raises(ValueError): f()"),
    ("tests/test_a.py", "def test_it(page): expect(page).to_have_title('x')"),
]


@pytest.mark.parametrize(("rule", "path", "text"), BAD)
def test_rule_fires(rule: str, path: str, text: str) -> None:
    found = list(house.check(Source(path, text)))
    assert any(f": {rule}: " in line and line.startswith(f"{path}:") for line in found), found


@pytest.mark.parametrize(("path", "text"), GOOD)
def test_good_code_is_spared(path: str, text: str) -> None:
    assert list(house.check(Source(path, text))) == []


def test_every_rule_has_a_bad_sample() -> None:
    sampled = {rule for rule, _, _ in BAD}
    assert sampled == {rule.__name__.replace("_", "-") for rule in house.RULES}


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("machine-path", "see /" + "home/ada/notes"),
        ("machine-path", "cd /" + "work/main"),
        ("registry", "pip install --index" + "-url=x y"),
        ("registry", "https://pypi" + ".org/simple"),
    ],
)
def test_text_rule_fires(rule: str, line: str) -> None:
    [found] = house_text.text("a.md", f"fine\n{line}\n")
    assert found.startswith(f"a.md:2: {rule}: ")


def test_committed_outputs_are_found() -> None:
    cells = [{"outputs": [], "execution_count": None}, {"outputs": [], "execution_count": 3}]
    found = list(house_text.notebook("a.ipynb", json.dumps({"cells": cells})))
    assert found == ["a.ipynb:1: notebook-output: cell 2"]


def test_heavy_files_are_found() -> None:
    assert list(house_text.weight("a.bin", 2_000_000)) == ["a.bin:1: heavy-file: 2000000 bytes"]
    assert list(house_text.weight("labextension/package-lock.json", 2_000_000)) == []


def test_the_house_is_clean() -> None:
    assert list(house.check_all()) == []


def test_imports_run_in_one_direction(tmp_path: Path) -> None:
    folder = tmp_path / "jan_magics" / "api"
    folder.mkdir(parents=True)
    (folder / "chat.py").write_text("from jan_magics.api import host\n")
    (folder / "host.py").write_text("def f():\n    import jan_magics.api.answer\n")
    (folder / "answer.py").write_text("import json\n")
    assert list(house_imports.check(tmp_path)) == []
    (folder / "answer.py").write_text("from jan_magics.api.chat import Chat\n")
    [found] = house_imports.check(tmp_path)
    assert "import-circle" in found
    assert "jan_magics.api.host" in found
