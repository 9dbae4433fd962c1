"""What the panel is told of collections: what is in them, what is found, and what is on its way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import TURN, running_kernel
from tests.page import FollowingPage, check

TEAM = "# Boats\n\nA blue boat sinks. 蓝色的船沉了。"
TEXTS = {
    "boats.md": "# Boats\n\nA red boat floats on the sea.",
    "熊猫.md": "# 熊猫\n\n熊猫吃竹子。",
}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[FollowingPage]:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    named, data = str(tmp_path / "notebook.ipynb"), str(tmp_path / "data")
    with running_kernel(tmp_path, JPY_SESSION_NAME=named, JAN_DATA_FOLDER=data) as running:
        running.ok("%load_ext jan_magics")
        yield FollowingPage(running)


def test_documents_are_told_while_they_come_and_found_afterwards(page: FollowingPage) -> None:
    assert check("PageCollections", page.ask("collections")["ok"]) == {"rows": []}
    ran, said = page.run("%rag add papers -c 'my <b>' --embedder none", "c1")
    assert ran.status == "ok"
    news = [each for each in said if each["kind"] == "ingest"]
    assert {each["collection"] for each in news} == {"my <b>"}
    assert [each["over"] for each in news][-1]
    assert said[-1] == {"kind": "changed"}
    (row,) = check("PageCollections", page.ask("collections")["ok"])["rows"]
    assert (row["name"], row["owner"], row["documents"], row["usual"]) == (
        "my <b>", "shared", 2, False,
    )  # fmt: skip
    listed = check("PageDocuments", page.ask("documents", collection=row["id"], limit=1)["ok"])
    assert (len(listed["rows"]), listed["total"]) == (1, 2)
    assert (listed["rows"][0]["status"], listed["rows"][0]["chunks"]) == ("indexed", 1)

    found = page.ask("search", collection=row["id"], words="熊猫 竹子")["ok"]
    hit = check("PageFound", found)["rows"][0]
    assert hit["source"].endswith("熊猫.md")
    assert hit["bars"][0]["name"] == "score"
    place = page.ask("chunk", search=found["search"], chunk=hit["chunk"])["ok"]["place"]
    assert "竹子" in check("PageChunk", place)["text"]
    assert "Search again" in page.ask("chunk", search="x", chunk="y")["error"]["next"]
    assert "error" in page.ask("documents", collection="nowhere/none.db")


def test_the_default_is_marked_and_a_search_writes_nothing(page: FollowingPage) -> None:
    page.kernel.ok("%rag add papers/boats.md --embedder none")
    (row,) = page.ask("collections")["ok"]["rows"]
    assert row["usual"]
    _, said = page.run("found = __import__('jan_magics').Collection().search('boat')", "c1")
    assert said == []


def test_a_collection_on_a_server_is_listed_and_looked_in(page: FollowingPage, server: str) -> None:
    page.kernel.ok("%rag add papers/boats.md --embedder none")
    url = f"{server}#队 notes"
    page.kernel.ok(f"open('team.md', 'w').write({TEAM!r})")
    page.kernel.ok(f"%rag add team.md --embedder none -c '{url}'")
    own, there = check("PageCollections", page.ask("collections")["ok"])["rows"]
    assert (own["server"], own["usual"]) == (False, True)
    assert (there["server"], there["usual"], there["name"]) == (True, False, "队 notes")
    assert (there["id"], there["owner"]) == (url, f"server {url}")
    page.kernel.ok(f"%rag use '{server}#%E9%98%9F%20notes'")
    own, there = page.ask("collections")["ok"]["rows"]
    assert (own["usual"], there["usual"]) == (False, True)
    listed = page.ask("documents", collection=there["id"])["ok"]
    assert [Path(row["source"]).name for row in listed["rows"]] == ["team.md"]
    found = page.ask("search", collection=there["id"], words="沉了")["ok"]
    place = page.ask("chunk", search=found["search"], chunk=found["rows"][0]["chunk"])["ok"]
    assert "blue boat" in place["place"]["text"]


def test_a_source_on_a_server_is_shown_in_its_document(page: FollowingPage, server: str) -> None:
    page.kernel.ok(f"open('team.md', 'w').write({TEAM!r})")
    page.kernel.ok(f"%rag add team.md --embedder none -c '{server}#shown'")
    ran = page.kernel.ok(f"%%chat -m offline:quote -c '{server}#shown'\nWhich boat sinks?")
    turn = [each[TURN] for each in (*ran.displays, *ran.updates, *ran.results) if TURN in each][-1]
    asked = {"thread": turn["thread_id"], "message": turn["message"], "number": 1}
    assert "blue boat" in page.ask("source", **asked)["ok"]["place"]["text"]
