"""What is attached goes with its question, stays with it, and is found again by the model."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.messages import FilePart, text_of
from jan_magics.domain.models import ModelRef
from jan_magics.domain.retrieval import Document
from jan_magics.engine.attached import Attachment
from jan_magics.engine.attachments import into_collection
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.undoing import delete_thread, undo
from jan_magics.sanitize.attachments import ATTACHED_KEY, INLINE_KEY
from tests.engine.calling import Calling, call, results
from tests.engine.threads import Kernel

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
LONG = "\n\n".join(f"Fact {n}: the panda 熊猫 number {n} eats bamboo 竹子." for n in range(900))


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path, settings={"embedder": "hash"})


def file(kernel: Kernel, name: str, data: str | bytes) -> Attachment:
    path = kernel.folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return Attachment(name, path=path)


def ask(kernel: Kernel, text: str, *given: Attachment, **flags: Any) -> Outcome:
    return kernel.ask(text, attach=given, **flags)


def sent(outcome: Outcome) -> str:
    return text_of(outcome.turn.request.messages[-1])


def about(outcome: Outcome) -> list[str]:
    """The lines of the footer about files."""
    words = ("attached", "searched", "looked up", "sent whole")
    return [line for line in outcome.lines if any(word in line for word in words)]


def rows_of(outcome: Outcome) -> list[dict[str, Any]]:
    found: Any = outcome.turn.question.metadata[ATTACHED_KEY]
    return list(found)


def images(outcome: Outcome) -> list[bytes | None]:
    message = outcome.turn.request.messages[-1]
    return [part.data for part in message.parts if isinstance(part, FilePart)]


def test_a_short_text_is_sent_whole_and_stored_with_its_question(kernel: Kernel) -> None:
    outcome = ask(kernel, "Sum it up 概括", file(kernel, "笔记.md", "# 题\n\n熊猫吃竹子 🐼"))
    assert sent(outcome) == "Sum it up 概括\n\nFile: 笔记.md\n# 题\n\n熊猫吃竹子 🐼"
    stored = kernel.open().view().path()[0]
    assert stored.metadata[INLINE_KEY] == [{"name": "笔记.md", "content": "# 题\n\n熊猫吃竹子 🐼"}]
    assert text_of(stored) == "Sum it up 概括"
    assert about(outcome) == []
    # It goes with the history of later turns, as it was then.
    (kernel.folder / "笔记.md").write_text("changed")
    later = kernel.ask("And now?")
    assert "熊猫吃竹子" in text_of(later.turn.request.messages[0])


def test_an_image_is_a_part_of_its_question_for_every_answer_and_version(kernel: Kernel) -> None:
    first = ask(kernel, "What is this?", file(kernel, "cat.png", PNG))
    assert images(first) == [PNG]
    again = kernel.ask(aim="retry")
    assert again.versions == 2
    assert images(again) == [PNG]
    edited = kernel.ask("What animal is this?", aim="edit", at=kernel.id(0))
    assert images(edited) == [PNG]
    assert sent(edited) == "What animal is this?"


def test_an_image_that_the_model_does_not_take_is_kept_and_the_footer_says_so(
    kernel: Kernel,
) -> None:
    kernel.session.engine.learned.note(ModelRef("offline", "echo"), "images")
    outcome = ask(kernel, "What is this?", file(kernel, "猫.png", PNG))
    assert images(outcome) == []
    assert "猫.png is kept and not sent: offline:echo takes no images" in outcome.lines
    stored = kernel.open().view().path()[0]
    assert [part.data for part in stored.parts if isinstance(part, FilePart)] == [PNG]


def test_media_come_in_their_order_and_once(kernel: Kernel) -> None:
    wav, mp4 = b"RIFF\0\0\0\0WAVEfmt ", b"\0\0\0\x18ftypmp42"
    given = [file(kernel, "v.mp4", mp4), file(kernel, "a.wav", wav), file(kernel, "i.png", PNG)]
    outcome = ask(kernel, "?", *given, given[2])
    parts = [part for part in outcome.turn.question.parts if isinstance(part, FilePart)]
    assert [(part.media_type, part.name) for part in parts] == [
        ("image/png", "i.png"), ("audio/wav", "a.wav"), ("video/mp4", "v.mp4"),
    ]  # fmt: skip


def test_a_cell_that_is_run_again_answers_again_and_with_other_files_asks_anew(
    kernel: Kernel,
) -> None:
    note = file(kernel, "n.md", "one")
    ask(kernel, "?", note, cell="c1")
    assert ask(kernel, "?", note, cell="c1").versions == 2
    assert len(kernel.session.view().index.siblings(kernel.id(0))) == 1
    file(kernel, "n.md", "two")
    changed = ask(kernel, "?", note, cell="c1")
    assert sent(changed).endswith("two")
    assert len(kernel.session.view().index.siblings(kernel.id(0))) == 2
    # Without the file it is another question, too.
    assert sent(ask(kernel, "?", cell="c1")) == "?"


def test_a_stored_answer_is_not_reused_for_other_files(kernel: Kernel) -> None:
    note = file(kernel, "n.md", "one")
    ask(kernel, "?", note, cell="c1", rerun="reuse")
    assert ask(kernel, "?", note, cell="c1", rerun="reuse").turn.stored
    file(kernel, "n.md", "two")
    assert not ask(kernel, "?", note, cell="c1", rerun="reuse").turn.stored


def test_a_file_that_cannot_be_read_fails_itself(kernel: Kernel) -> None:
    given = [
        file(kernel, "空.txt", ""), file(kernel, "not.png", b"plain"),
        file(kernel, "ok.txt", "fine"),
    ]  # fmt: skip
    outcome = ask(kernel, "Read.", *given)
    assert sent(outcome) == "Read.\n\nFile: ok.txt\nfine"
    assert about(outcome) == [
        "not attached: 空.txt: it is empty",
        "not attached: not.png: it is no png, whatever its name says",
    ]
    # It is said at every turn that it happens in.
    assert about(ask(kernel, "Again.", given[0])) == ["not attached: 空.txt: it is empty"]


def test_the_setting_says_where_texts_go(tmp_path: Path) -> None:
    known = {"embedder": "hash"}
    for name in "ab":
        (tmp_path / name).mkdir()
    into = Kernel(tmp_path / "a", settings={**known, "attach": "embeddings"})
    outcome = ask(into, "?", file(into, "短.md", "short 🐼"))
    assert about(outcome) == ["短.md can be searched in this thread (1 chunk)"]
    assert "short" not in sent(outcome)
    whole = Kernel(tmp_path / "b", settings={**known, "attach": "inline"})
    outcome = ask(whole, "?", file(whole, "long.md", LONG[:9000]), window=8192)
    assert LONG[:9000].strip() in sent(outcome)
    # What is nothing but a picture of text has no words to send; it fails as a row.
    assert about(ask(whole, "?", file(whole, "empty.md", " "))) == [
        "not attached: empty.md: it is empty"
    ]
    with pytest.raises(ContextOverflow, match="prompt"):
        ask(whole, "?", file(whole, "long.md", LONG), window=4096)


def test_files_that_another_collection_hides_are_named(kernel: Kernel) -> None:
    ask(kernel, "?", file(kernel, "熊猫.md", LONG), window=8192)
    retriever = kernel.session.retriever
    assert retriever
    collections = retriever().collections
    other = into_collection(collections.open(collections.obtain("other")), None)
    assert [row.status for row in other([Document("a.md", "there")], lambda: False)] == ["added"]
    outcome = kernel.ask("And there?", collection="other", window=8192)
    assert "the attached files were not searched: this turn looks in a collection" in outcome.lines


def test_a_long_file_is_searched_by_the_model(tmp_path: Path) -> None:
    calling = Calling((call("retrieve", '{"query": "panda number 7"}'),), ("done",))
    kernel = Kernel(tmp_path, settings={"embedder": "hash"}, provider=calling)
    outcome = ask(kernel, "What about 7?", file(kernel, "熊猫.md", LONG), window=8192)
    (row,) = rows_of(outcome)
    assert row["name"] == "熊猫.md"
    assert row["mode"] == "embeddings"
    assert [tool.name for tool in outcome.turn.request.tools] == [
        "list_attachments", "retrieve", "get_chunks",
    ]  # fmt: skip
    (line,) = about(outcome)
    assert line == (
        f"熊猫.md is too long to be sent whole and can be searched in this thread"
        f" ({row['chunks']} chunks)"
    )
    ((_, _, state),) = results(outcome.turn.answer)
    assert state == "ok"
    assert outcome.turn.given
    assert outcome.turn.given.hits[0].source == "熊猫.md"
    # It can be looked into at later turns, also after a restart, and only below its question.
    kernel.open()
    later = kernel.ask("And 8?", window=8192)
    assert [tool.name for tool in later.turn.request.tools][:1] == ["list_attachments"]
    assert not kernel.ask("?", history=False, window=8192).turn.request.tools


def test_the_same_file_attached_twice_is_one_document(kernel: Kernel) -> None:
    big = file(kernel, "big.md", LONG)
    ask(kernel, "?", big, big, window=8192)
    ask(kernel, "And?", replace(big), window=8192)
    assert kernel.session.retriever
    collections = kernel.session.retriever().collections
    (listed,) = collections.listed()
    assert listed.owner == f"thread:{kernel.session.view().thread.id}"  # type: ignore[union-attr]
    assert [row.source for row in collections.open(listed).documents()] == ["big.md"]


def test_a_deleted_thread_takes_its_files_along_and_brings_them_back(kernel: Kernel) -> None:
    ask(kernel, "?", file(kernel, "big.md", LONG), window=8192, thread="熊猫")
    folder = kernel.folder / "collections"
    (there,) = folder.glob("*.db")
    delete_thread(kernel.session, "熊猫")
    assert not list(folder.glob("*.db"))
    assert len(list((folder / "bin").glob("*.db"))) == 1
    kernel.open()
    undo(kernel.session)
    assert list(folder.glob("*.db")) == [there]
    later = kernel.ask("panda number 7", thread="熊猫", window=8192, tools=())
    assert later.turn.given
    assert later.turn.given.hits


def test_files_that_are_not_there_any_more_are_said_to_be_gone(kernel: Kernel) -> None:
    ask(kernel, "?", file(kernel, "big.md", LONG), window=8192)
    kernel.session.retriever().collections.close()  # type: ignore[misc]
    shutil.rmtree(kernel.folder / "collections")
    later = kernel.ask("And now?", window=8192)
    assert not later.turn.request.tools
    assert any("attach them again with --attach" in line for line in later.lines)


def test_for_a_model_that_must_call_no_tools_it_is_looked_up(kernel: Kernel) -> None:
    big = file(kernel, "big.md", LONG)
    outcome = ask(kernel, "panda number 77", big, window=8192, tools=())
    assert outcome.turn.given
    assert outcome.turn.given.hits
    assert not outcome.turn.request.tools
    assert "retrieval tools" not in outcome.turn.request.system
    assert "the files were looked up with the prompt: offline:echo calls no tools" in outcome.lines


def test_files_of_a_project_are_always_in_its_collection(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, settings={"embedder": "hash", "project": "动物"})
    outcome = ask(kernel, "?", file(kernel, "short.md", "熊猫吃竹子"))
    assert about(outcome) == ["short.md can be searched in the project '动物' (1 chunk)"]
    assert kernel.session.retriever
    (listed,) = kernel.session.retriever().collections.listed()
    assert (listed.name, listed.owner) == ("动物", "project:动物")
    assert [tool.name for tool in outcome.turn.request.tools][:1] == ["list_attachments"]


def test_nothing_is_taken_in_while_retrieval_is_off(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, settings={"embedder": "hash", "rag.enabled": "off"})
    given = [file(kernel, "big.md", LONG), file(kernel, "small.md", "fine")]
    outcome = ask(kernel, "?", *given, window=8192)
    (line,) = about(outcome)
    assert line.startswith("not attached: big.md: ")
    assert "rag.enabled" in line
    assert sent(outcome).endswith("File: small.md\nfine")
    assert not (tmp_path / "collections").exists()


def test_a_dry_run_takes_nothing_in(kernel: Kernel) -> None:
    asking = kernel.asking("?", attach=(file(kernel, "big.md", LONG),), window=8192)
    preview = asyncio.run(kernel.session.preview(asking))
    assert text_of(preview.request.messages[-1]).endswith("mode: embeddings\n[/ATTACHED_FILES]")
    assert not (kernel.folder / "collections").exists()
    assert kernel.session.engine.store.threads() == []
