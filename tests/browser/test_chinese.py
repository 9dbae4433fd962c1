"""The extension speaks Chinese where JupyterLab does."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec

import pytest
from playwright.sync_api import Page

from tests.browser import notebook as notebooks
from tests.browser.lab import Lab
from tests.browser.notebook import OpenNotebook
from tests.browser.panel import open_panel, section
from tests.browser.test_turn import ECHO, LOAD, turn
from tests.browser.waiting import expect
from tests.conftest import require


@pytest.fixture
def chinese(lab: Lab, blank: Page) -> Iterator[Page]:
    """A page that is going to be in Chinese; one that is open already goes on in its language."""
    pack = find_spec("jupyterlab_language_pack_zh_CN")
    require("chinese", pack, "no Chinese JupyterLab: pip install jupyterlab-language-pack-zh-CN")
    assert "jan_magics" in {each.name for each in entry_points(group="jupyterlab.locale")}
    lab.say_in("zh_CN")
    yield blank
    lab.say_in("default")


def test_buttons_and_commands_are_chinese(chinese: Page, lab: Lab) -> None:
    cells = [LOAD, f"{ECHO} --window 4000\n什么是**递归**？"]
    notebooks.write(lab.root / "chinese.ipynb", cells)
    link = lab.link_beside("chinese.ipynb")
    notebook = OpenNotebook.load(chinese, lab, "chinese.ipynb", link)
    notebook.run(0)
    notebook.run(1)
    shown = turn(notebook, 1)
    expect(shown.get_by_role("button", name="重试")).to_be_visible()
    expect(shown.locator(".jan-Turn-footer")).to_contain_text("离线（无模型）")
    expect(shown.locator(".jan-Turn-memory")).to_have_text("在上下文中")
    expect(notebook.page.locator(".jan-Status")).to_contain_text("预算的")
    label = "window.jupyterapp.commands.label('jan-magics:chat-cell')"
    assert notebook.page.evaluate(label) == "在下方新建对话单元格"
    panel = open_panel(notebook, 250)
    summaries = panel.locator(".jan-Panel-section > summary")
    expect(summaries).to_have_text(["话题", "分支", "上下文", "文档"])
    expect(section(panel, "branches")).to_contain_text("2 条消息 · 1 个分支")
    expect(section(panel, "context").get_by_role("status")).to_contain_text("发送")
    expect(section(panel, "context").get_by_role("button", name="清空上下文")).to_be_visible()
    notebook.page.screenshot(path=notebook.picture("chinese"), animations="disabled")
    notebook.close_kernel(wait=False)
