"""The tree of a thread as a view, in which one goes to another branch."""

from dataclasses import asdict
from typing import Any

from jan_magics.api.host import Host, language_of
from jan_magics.api.live import live, telling
from jan_magics.api.tree import tree_of
from jan_magics.engine.views import View
from jan_magics.widgets.branch_picker import BranchPicker


def live_tree(host: Host) -> Any:
    """Return the tree as a view, else as a text."""
    tree = tree_of(host.session().view(), language_of(host))
    return live(host, tree, lambda: BranchPicker(host.session, told_of, telling(host)))


def told_of(view: View) -> dict[str, Any]:
    """Return what a page is told of a thread."""
    tree = tree_of(view)
    return {"title": tree.title, "rows": [asdict(row) for row in tree.rows]}
