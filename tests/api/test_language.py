"""In which language footers, notes and lines are: as is set, else as the page that looks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import TURN, Kernel, running_kernel
from tests.page import FollowingPage

ECHO = "%%chat -m offline:echo"
SLOW = f"{ECHO} -P pace=0.05\n" + " ".join(f"词{n}" for n in range(100))


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    named, data = str(tmp_path / "notebook.ipynb"), str(tmp_path / "data")
    with running_kernel(tmp_path, JPY_SESSION_NAME=named, JAN_DATA_FOLDER=data) as running:
        running.ok("%load_ext jan_magics")
        yield running


def shown(kernel: Kernel, code: str) -> str:
    return str(kernel.ok(code).displays[-1]["text/plain"])


def test_a_page_in_chinese_is_told_everything_in_chinese(kernel: Kernel) -> None:
    page = FollowingPage(kernel, "zh-CN")
    ran, _ = page.run(SLOW, "c1", stop="词")
    assert "已停止" in ran.turn["footer"]
    assert ran.error is not None
    assert ran.error[2][0].startswith("Stopped: 保留了回答的 ")
    begun = kernel.ok(
        "turn = get_ipython().run_cell_magic('chat', '-m offline:echo --background', '你好')"
    )
    assert begun.updates[0][TURN]["note"] == "正在后台提问"
    kernel.ok("turn.wait()")
    assert "离线（无模型）" in shown(kernel, f"{ECHO}\n你好")
    assert kernel.ok("%chat").result.startswith("模型     offline:echo（")
    assert kernel.ok("%chat tree").result.count("个分支") == 1
    cleared = kernel.ok("%chat clear").result
    assert cleared.startswith("上下文已清空 · ")
    assert cleared.partition(" · 返回：")[2] == "%chat clear --off"
    assert "▸ 上下文已清空 · " in kernel.ok("%chat show").result


def test_what_is_set_goes_before_the_page(kernel: Kernel) -> None:
    FollowingPage(kernel, "zh-CN")
    kernel.ok("%config JanMagics.language = 'en'")
    assert "offline (no model)" in shown(kernel, f"{ECHO}\n你好")
    kernel.ok("%config JanMagics.language = 'zh'")
    assert "离线（无模型）" in shown(kernel, f"{ECHO}\n你好")
    kernel.ok("import jan_magics as jan\ntable = jan.chunks('熊猫吃竹子。')")
    assert " · 1 个片段 · " in kernel.ok("print(jan.show(table))").out
    kernel.ok("table['score'], table['source'], table['used'] = 0.5, 'a.md', True")
    cards = kernel.ok("print(jan.show(table[['score', 'source', 'used', 'text']]))").out
    assert "使用 1 个命中" in cards
    assert "满格为 score 0.5：" in cards


def test_a_page_has_no_say_where_every_run_is_the_same(kernel: Kernel) -> None:
    FollowingPage(kernel, "zh-CN")
    kernel.ok("%config JanMagics.display = 'once'")
    assert "offline (no model)" in shown(kernel, f"{ECHO}\n你好")
    kernel.ok("%config JanMagics.language = 'zh'")
    assert "离线（无模型）" in shown(kernel, f"{ECHO}\n你好")


def test_a_table_shows_its_bar_to_a_page_that_follows_turns(kernel: Kernel) -> None:
    FollowingPage(kernel, "zh-CN")
    kernel.ok("import pandas as pd\nframe = pd.DataFrame({'q': ['一', '二', '三']})")
    ran = kernel.ok("%%chat -m offline:echo -P pace=0.2 --map frame -o out\n{{row.q}} 好 吗 呢")
    bars = [each for each in ran.updates if "<progress" in str(each.get("text/html"))]
    assert bars
    assert "3 行中的 " in bars[-1]["text/plain"]
