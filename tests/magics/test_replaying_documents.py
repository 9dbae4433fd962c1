"""Retrieval in a cassette: the same hits, sources and answers in every fresh kernel."""

from pathlib import Path

from tests.kernel import running_kernel

FILE = "lesson.jan.jsonl"
CELLS = (
    "import jan_magics as jan\ncol = jan.Collection('shop', embedder='hash')",
    "col.add('notes.md', size=64, overlap=0)",
    "col.search('how heavy are 苹果?', k=2)",
    "%%chat -m offline:quote -c shop -o answer\nHow heavy are the apples?",
    "answer.sources",
    "answer.citations",
    "col.evaluate(col.questions())[['recall', 'ms']]",
)
NOTES = """# Apples 苹果
The apples weigh 42 kg and lie in the cellar.

# Pears
The pears weigh 7 kg and lie in the kitchen.
"""


def test_what_was_found_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    with running_kernel(tmp_path, JAN_DATA_FOLDER=str(tmp_path / "data")) as kernel:
        kernel.ok(f"%load_ext jan_magics\n%chat record {FILE}")
        for cell in CELLS:
            kernel.ok(cell)
    assert '"kind":"embed"' in (tmp_path / FILE).read_text("utf-8")
    shown = []
    for _ in range(2):
        told = {"JAN_DATA_FOLDER": str(tmp_path / "other"), "JAN_REPLAY": FILE}
        with running_kernel(tmp_path, **told) as kernel:
            kernel.ok("%load_ext jan_magics")
            ran = [kernel.ok(cell) for cell in CELLS]
            shown.append([(each.displays, each.results, each.out) for each in ran])
    assert shown[0] == shown[1]
    assert "42 kg" in str(shown[0][2])
    assert "replayed" in str(shown[0][3])
    assert "<NA>" in str(shown[0][-1])  # how long it took that day is nobody's business
    assert not (tmp_path / "other").exists()
