"""The ledger copies word for word, and is not flooded by what nobody will ask for again."""

import time
from pathlib import Path

import pytest

from jan_magics.context.ledger import entries_of, ledger_of, ledger_tokens, merged
from jan_magics.context.tokens import estimator_for
from jan_magics.domain.messages import FilePart, Message, ToolCallPart, text_of
from tests.context.histories import Letters, say

COUNT = Letters().count

SAID = [
    ("urls", "see https://example.org/a_b?x=1, please", "https://example.org/a_b?x=1"),
    ("urls", "数据在 https://例子.cn/数据?页=2。", "https://例子.cn/数据?页=2"),
    ("urls", "the bucket s3://lake/raw/2024 is ours", "s3://lake/raw/2024"),
    ("paths", "results are in ./out/run_7/table.csv.", "./out/run_7/table.csv"),
    ("paths", "文件在 数据/结果.csv 里", "数据/结果.csv"),
    ("paths", r"open C:\Daten\Li\My Docs\a.xlsx first", r"C:\Daten\Li\My Docs\a.xlsx"),
    ("paths", r"from \\server\share\b.csv", r"\\server\share\b.csv"),
    ("paths", "in src/models/encoder we keep data/raw/ too", "src/models/encoder"),
    ("paths", "in src/models/encoder we keep data/raw/ too", "data/raw/"),
    ("paths", "keys are in ~/.ssh/config now", "~/.ssh/config"),
    ("numbers", "the sample weighs 42.5 kg today", "the sample weighs 42.5 kg"),
    ("numbers", "样品重42公斤，温度为25.5℃", "样品重42公斤"),
    ("numbers", "样品重42公斤，温度为25.5℃", "温度为25.5℃"),
    ("numbers", "预算是3.5万元", "预算是3.5万元"),
    ("numbers", "at most 10 mg/L and 5–10 µm", "at most 10 mg/L"),
    ("numbers", "at most 10 mg/L and 5–10 µm", "5–10 µm"),
    ("numbers", "it costs $1,200.50 now", "it costs $1,200.50"),
    ("numbers", "listens on port 8080", "port 8080"),
    ("numbers", "with seed = 42 and v2.3.1", "seed = 42"),
    ("numbers", "with seed = 42 and v2.3.1", "v2.3.1"),
    ("numbers", "截止2026年3月15日", "截止2026年3月15日"),
    ("numbers", "due 2026-03-15 14:30 sharp", "due 2026-03-15 14:30"),
    ("identifiers", "call fit_model with maxIter", "fit_model"),
    ("identifiers", "call fit_model with maxIter", "maxIter"),
    ("identifiers", "变量user_id的值是空", "user_id"),
    ("identifiers", "ticket INV-2024-0042 about gpt-4o", "INV-2024-0042"),
    ("identifiers", "ticket INV-2024-0042 about gpt-4o", "gpt-4o"),
    ("identifiers", "commit 3f9a1c2b broke it", "3f9a1c2b"),
    ("identifiers", "列 `数据集A` 为空", "数据集A"),
    ("prohibitions", "Fine. Never delete the raw data! Go on.", "Never delete the raw data!"),
    ("prohibitions", "And don’t touch main.py, please.", "And don’t touch main.py, please."),
    ("prohibitions", "I don't want you to push.", "I don't want you to push."),
    ("prohibitions", "先清洗数据。不要删除原始数据!然后画图。", "不要删除原始数据!"),
    ("prohibitions", "好的，别动生产库。", "好的，别动生产库。"),
    ("prohibitions", "Raw files are not to be renamed.", "Raw files are not to be renamed."),
    ("prohibitions", "标题必须是中文。", "标题必须是中文。"),
    ("decisions", "We decided to use polars. Next?", "We decided to use polars."),
    ("decisions", "I'll use parquet for it.", "I'll use parquet for it."),
    ("decisions", "我们决定采用 3.2 版。", "我们决定采用 3.2 版。"),
]


@pytest.mark.parametrize(("kind", "text", "wanted"), SAID, ids=[each[2] for each in SAID])
def test_it_copies_word_for_word(kind: str, text: str, wanted: str) -> None:
    found = entries_of(text)[kind]
    # Numbers keep the words before them.
    assert wanted in (" ".join(found) if kind == "numbers" else found)


WHOLE = [
    "4.5 兆帕", "80 公里每小时", "220 伏特", "3 千瓦时", "16 吉字节", "4.7 兆欧",
    "3000 毫安时", "5 克拉", "100 人民币", "3 日元", "30 元/公斤", "1200 元每吨",
    "3 个百分点", "5 平方米", "120 毫米汞柱", "3 个小时", "300 开尔文", "5 kWh/m2 per year",
    "10 W/(m²·K)", "3 kg·m²", "9 requests/s", "5 Nm", "60 miles per hour",
    "5 litres per 100 km", "7 L/100km", "1/4 inch", "1 1/2 inch", "½ inch", "12,5 Prozent",
    "1.200,50 Euro", "12 500 kg", "20 degrees Celsius",
]  # fmt: skip


@pytest.mark.parametrize("amount", WHOLE)
def test_a_unit_is_copied_whole(amount: str) -> None:
    for text in (f"流量为 {amount}。", f"it has {amount}, about", amount, f"x 的 {amount} 与 y"):
        (found,) = entries_of(text)["numbers"]
        assert found.endswith(amount)
        assert entries_of(text)["paths"] == ()


@pytest.mark.parametrize(
    "text", ["比例是 6 分之一", "5 千克每平方光阴", "7 W/(x+y)", "3 m/2", "5 km per (x)"]
)
def test_no_entry_is_better_than_half_a_unit(text: str) -> None:
    assert entries_of(text)["numbers"] == ()


def test_a_number_keeps_the_name_in_its_clause() -> None:
    found = entries_of("泵 P-0 的压力是 0 bar，泵P-1的压力是 2 bar。")
    assert found["numbers"] == ("泵 P-0 的压力是 0 bar", "泵P-1的压力是 2 bar")


def test_numbers_of_telephones_and_addresses_of_mail_stay_whole() -> None:
    found = entries_of("call +49 89 1234567 or 089 7654321, or mailto:a@b.c, 或 me@例.c.org")
    assert found["identifiers"] == ("+49 89 1234567", "089 7654321")
    assert "mailto:a@b.c" in found["urls"]
    assert found["paths"] == ()
    assert entries_of("clone git@host.org:me/x.git now")["urls"] == ("git@host.org:me/x.git",)


BETWEEN = [
    (r"文件在D:\Daten\me\data.csv里", r"D:\Daten\me\data.csv"),
    ("保存到/srv/me/结果.xlsx，然后", "/srv/me/结果.xlsx"),
    ("/srv/数据/x.csv里的第三列", "/srv/数据/x.csv"),
    ("把~/notes.md删掉", "~/notes.md"),
]


@pytest.mark.parametrize(("text", "path"), BETWEEN, ids=[each[1] for each in BETWEEN])
def test_a_path_ends_where_a_chinese_word_begins(text: str, path: str) -> None:
    assert entries_of(text)["paths"] == (path,)


def test_half_a_name_is_no_path_of_its_own() -> None:
    asked, cut = r"open D:\Daten\me\data.csv", r"You asked for D:\Daten\me\data"
    said = ledger_of([say("q0", "user", asked), say("a0", "assistant", cut)])
    assert said == {"paths": (r"D:\Daten\me\data.csv",)}
    assert entries_of("a/data.csv.bak is old")["paths"] == ()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("paths", "and/or he/she, TCP/IP, read/write, 3/4 and O(n/2)"),
        ("prohibitions", "I don't know why. Why don't we ask? 为什么不能打开?"),
        ("prohibitions", "It is a technology that cannot fail."),
        ("decisions", "Should we go with polars or not? 决定了吗"),
        ("identifiers", "A plain sentence about the weather in Paris, e.g. rain."),
        ("numbers", "There are three of them, and I saw 2."),
        ("urls", "no address here: http and https"),
    ],
)
def test_talk_is_no_fact(kind: str, text: str) -> None:
    assert entries_of(text)[kind] == ()


CODE = """Here it is:

```python
import pandas as pd

MAX_ROWS = 5_000

def load_table(path):
    # never do this in production
    row_count = sum(1 for _ in open(path))
    ratio = row_count/total_count
    frame = pd.read_csv("data/in.csv", nrows=MAX_ROWS)
    return frame.groupby("user_id").agg(mean_value=("value", "mean"))
```

Run `load_table` on it."""


def test_code_gives_what_it_defines_and_where_it_looks() -> None:
    found = ledger_of([say("q0", "user", CODE)])
    assert found == {"paths": ("data/in.csv",), "identifiers": ("MAX_ROWS", "load_table")}


def test_a_models_own_talk_is_no_rule() -> None:
    said = ledger_of([say("a0", "assistant", "You should never do that. See a/b.csv")])
    assert said == {"paths": ("a/b.csv",)}


def test_files_that_came_along_and_that_tools_touched_are_named() -> None:
    file = FilePart("text/csv", b"", name="销售.csv")
    call = ToolCallPart("1", "write", '{"path": "out/报告.md", "text": "..."}')
    said = ledger_of([say("q0", "user", "?", file), say("a0", "assistant", "", call)])
    assert said == {"paths": ("销售.csv", "out/报告.md")}
    assert ledger_of([say("a1", "assistant", "", ToolCallPart("2", "x", "{broken"))]) == {}


def test_every_kind_has_its_share_and_new_goes_before_old() -> None:
    old = {"prohibitions": ("never a", "never b"), "identifiers": ("x_1", "x_2")}
    new = {"identifiers": ("x_3", "x_1")}
    everything = merged(old, new, COUNT, 1000)
    assert everything == {
        "prohibitions": ("never a", "never b"),
        "identifiers": ("x_2", "x_3", "x_1"),
    }
    limit = 4 * 3 + 12
    small = merged(old, new, COUNT, limit)
    assert small == {"identifiers": ("x_1",), "prohibitions": ("never b",)}
    assert ledger_tokens(small, COUNT) <= limit
    # Many rules leave room for the names all the same.
    rules = {"prohibitions": tuple(f"never do the thing number {n:03}" for n in range(100))}
    flooded = merged(rules, new, COUNT, 400)
    assert flooded["identifiers"] == ("x_3", "x_1")
    assert flooded["prohibitions"][-1].endswith("099")
    assert ledger_tokens(flooded, COUNT) <= 400


def test_what_a_rule_says_is_not_said_twice() -> None:
    said = {"prohibitions": ("Never write to data.csv at 5 kg",), "numbers": ("5 kg",)}
    assert merged(said, {"paths": ("data.csv", "a.csv")}, COUNT, 1000) == {
        "prohibitions": ("Never write to data.csv at 5 kg",),
        "paths": ("a.csv",),
    }


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a-",
        "ab ",
        "1 ",
        "1,",
        "a/",
        "a_",
        "中",
        "中a",
        "1/",
        "5 m/",
        "x.y",
        "aB",
        '"',
        "```\n",
        "=1",
    ],
)
def test_odd_text_does_not_hold_it_up(piece: str) -> None:
    text = (piece * 120 + " ") * 100
    begun = time.perf_counter()
    ledger_of([say("q0", "user", text)])
    assert time.perf_counter() - begun < 2


ROOT = Path(__file__).parent.parent.parent
FACTS = {
    "prohibitions": "Never write into the raw folder.",
    "decisions": "我们决定按周汇总。",
    "urls": "https://data.example.org/sets/orders",
    "paths": "data/raw/orders_2024.csv",
    "numbers": "42.5 kg",
    "identifiers": "LAB-4471",
}


def long_talk() -> list[Message]:
    """Return fifty turns: paragraphs of our own pages are asked, files of our own are answered."""
    pages = "\n\n".join(
        (ROOT / f"{name}.md").read_text("utf-8") for name in ("README", "CHANGELOG")
    )
    asked = [each for each in pages.split("\n\n") if len(each) > 100 and "```" not in each]
    files = [each for each in sorted((ROOT / "jan_magics").rglob("*.py")) if each.stem[0] != "_"]
    said: list[Message] = []
    for n in range(50):
        fact = tuple(FACTS.values())[n // 8] if n % 8 == 0 and n < 48 else ""
        code = "\n".join(files[n].read_text("utf-8").splitlines()[:60])
        answer = (
            f"This is how it could look; never mind the rest.\n\n```python\n{code}\n```\n\nDone."
        )
        said.append(say(f"q{n}", "user", f"{asked[n % len(asked)]}\n\n{fact}"))
        said.append(say(f"a{n}", "assistant", answer))
    return said


def test_a_long_talk_about_code_does_not_flood_it() -> None:
    tokenizer, talk = estimator_for("qwen3"), long_talk()
    whole = sum(tokenizer.count(text_of(message)) for message in talk)
    found = ledger_of(talk)
    kept = merged({}, found, tokenizer.count, 1228)
    assert ledger_tokens(kept, tokenizer.count) <= 1228 < whole / 20
    missing = [each for kind, each in FACTS.items() if each not in "\n".join(kept[kind])]
    assert missing == []
    # Rules and numbers of what was said, not of what a program says.
    assert len(found["prohibitions"]) + len(found["decisions"]) < 30
    assert len(found["numbers"]) < 50
    assert len(found["paths"]) < 50
