"""`%chat tree --live` in a real kernel: choosing a message switches the notebook's branch."""

from tests.kernel import Kernel
from tests.widgets.pages import WIDGET, Page

BUILT = "built on a branch that is no longer shown"
FACE = "%%chat -m offline:echo\n"


def test_choosing_a_message_switches_the_branch(kernel: Kernel) -> None:
    kernel.ok(f"{FACE}你好", cell_id="a")
    kernel.ok(f"{FACE}second", cell_id="b")
    kernel.ok(f"{FACE}你好 <img src=x onerror=alert(1)>", cell_id="a")
    ran = kernel.ok("%chat tree --live", cell_id="t")
    assert WIDGET in ran.results[-1]
    assert "你好" in ran.results[-1]["text/plain"]
    assert "<img" not in ran.results[-1]["text/html"]
    page = Page(kernel, ran, "tree")
    rows = page.ask("tree", kind="ready")["rows"]
    assert [row["active"] for row in rows].count(True) == 2
    left = next(row for row in rows if row["text"] == "second" and row["who"] == "You")
    assert not left["active"]
    after = page.ask("tree", kind="go", message=left["id"])["rows"]
    assert [row["text"] for row in after if row["active"]][-1] == "second"
    asked = kernel.ok(f"{FACE}third", cell_id="c")
    page.hear(asked)
    assert len(kernel.ok("jan_now = __import__('jan_magics').current().messages()").results) == 0
    texts = kernel.ok("jan_now.text.tolist()").result
    assert texts == str(["你好", "你好", "second", "second", "third", "third"])
    # What a cell has said is drawn without being asked for.
    newest = page.said[-1]["rows"] if len(page.said) > 2 else page.wait("tree")["rows"]
    assert [row["text"] for row in newest if row["active"]][-1] == "third"


def test_cells_are_told_that_their_branch_was_left(kernel: Kernel) -> None:
    kernel.ok(f"{FACE}one", cell_id="a")
    kernel.ok(f"{FACE}two", cell_id="a")
    page = Page(kernel, kernel.ok("%chat tree --live"), "tree")
    rows = page.ask("tree", kind="ready")["rows"]
    first = next(row for row in rows if row["text"] == "one")
    page.say(kind="go", message=first["id"])
    told = False
    while not (told and page.said[-1]["kind"] == "tree" and len(page.said) > 1):
        got = kernel.client.get_iopub_msg(timeout=30)
        told |= got["msg_type"] == "update_display_data" and BUILT in str(got["content"]["data"])
        page._take(got["msg_type"], got["content"])
    assert told


def test_what_is_no_message_is_refused_in_the_page(kernel: Kernel) -> None:
    page = Page(kernel, kernel.ok("%chat tree --live"), "tree")
    assert page.ask("tree", kind="ready")["rows"] == []
    assert "nothing was asked here yet" in page.ask("failed", kind="go", message="x")["message"]
    kernel.ok(f"{FACE}one")
    assert "no message" in page.ask("failed", kind="go", message="ffffffffff")["message"]
