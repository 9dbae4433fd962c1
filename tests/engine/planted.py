"""Sixty facts, ten of a kind, and a talk of ten rounds that mentions each of them once."""

from collections.abc import Iterator
from typing import Final

PLANTED: Final = {
    "paths": (
        ("The raw table lies at {}.", "data/raw/orders_2024.csv"),
        ("Please write the report to {}", "./out/report/final.md"),
        ("On my laptop it is {} for now.", r"D:\lab\Messdaten\probe7.xlsx"),
        ("清洗后的数据在 {} 里。", "数据/清洗后/订单.parquet"),
        ("The settings are read from {}.", "~/.config/lab/settings.toml"),
        ("The notebook is {}.", "notebooks/eda_02.ipynb"),
        ("图片都存到 {}。", "figures/box_plot.svg"),
        ("Logs go to {} on the server.", "/var/log/ingest/worker.log"),
        ("The weights are in {}.", "models/v3/encoder.safetensors"),
        ("Its schema is {}.", "sql/create_orders.sql"),
    ),
    "numbers": (
        ("The sample weighs {} when dry.", "42.5 kg"),
        ("样品的温度要保持在 {}。", "25.5℃"),
        ("We may spend at most {} on it.", "$1,250"),
        ("The learning rate was {} in the best run.", "3e-4"),
        ("The server listens on {}.", "port 8642"),
        ("There are {} in the table.", "18,433 rows"),
        ("截止日期是{}。", "2026年3月15日"),
        ("A run takes {} on that machine.", "95 minutes"),
        ("预算一共{}。", "3.5万元"),
        ("The dose is {} a day.", "12 mg"),
    ),
    "identifiers": (
        ("The column is called {} there.", "customer_ref"),
        ("函数 {} 负责合并。", "mergeOrders"),
        ("The ticket is {}.", "LAB-4471"),
        ("It broke with commit {}.", "9f3c2ab"),
        ("变量{}不能为空。", "max_gap_days"),
        ("We call it {} in the code.", "OrderIndex"),
        ("The model is {} here.", "qwen3-8b"),
        ("The table {} has the prices.", "dim_price"),
        ("The flag is {}.", "--skip-header"),
        ("批次编号是 {}。", "BATCH-2024-07"),
    ),
    "urls": (
        ("The docs are at {}", "https://docs.lab.example/v2/ingest?lang=en"),
        ("接口地址是 {} 。", "https://api.lab.example/订单/列表"),
        ("The dataset comes from {}.", "https://data.example.org/sets/orders"),
        ("Our bucket is {}", "s3://lab-bucket/orders/2024"),
        ("The dashboard: {}", "http://10.1.2.3:3000/d/orders"),
        ("The paper is {}.", "https://arxiv.example/abs/2401.01234"),
        ("The issue is {}", "https://git.example/lab/ingest/issues/88"),
        ("镜像在 {}", "https://mirror.example.cn/lab/"),
        ("The database is {}", "postgresql://db.lab.example:5432/orders"),
        ("An example is {}.", "https://example.com/a_b#c"),
    ),
    "prohibitions": (
        ("{}", "Never delete the raw orders."),
        ("{}", "不要修改生产库的表。"),
        ("{}", "Do not use pandas for the join."),
        ("{}", "You must not send names of customers to any server."),
        ("{}", "禁止在报告里出现客户姓名。"),
        ("{}", "Please don't change the public API."),
        ("{}", "Avoid global variables in the pipeline."),
        ("{}", "请勿覆盖旧的图片。"),
        ("{}", "Under no circumstances may the job run before midnight."),
        ("{}", "不得使用外部字体。"),
    ),
    "decisions": (
        ("{}", "We decided to use polars for everything."),
        ("{}", "我们决定按周汇总。"),
        ("{}", "Let's go with the second layout."),
        ("{}", "We agreed to drop orders without a date."),
        ("{}", "最终采用三折交叉验证。"),
        ("{}", "I'll use ISO weeks from Monday on."),
        ("{}", "We settled on UTC for all times."),
        ("{}", "文件名统一用小写字母。"),
        ("{}", "From now on the currency is euro."),
        ("{}", "We chose the median rather than the mean."),
    ),
}  # fmt: skip

KINDS: Final = tuple(PLANTED)
FACTS: Final = tuple(fact for kind in KINDS for _, fact in PLANTED[kind])

TALK: Final = (
    "I looked at the distribution again, and most orders arrive in the morning, which is what I "
    "had expected from the last meeting. Could you explain what the shape of the curve means for "
    "the people who plan the shifts, in plain words and without formulas?",
    "大部分订单集中在上午，这和上次会议讨论的情况差不多。请用通俗的语言解释一下曲线的形状对排班的人意味着什么，"
    "不需要公式，也不用太长，说清楚原因就可以了。",
)
ANSWER: Final = """The curve has one high peak and a long tail, so most of the work comes early.

```python
import polars as pl

def load(path):
    frame = pl.read_csv(path, try_parse_dates=True)
    total = frame.select(pl.len()).item()
    share = frame.filter(pl.col("hour") < 12).height/total
    for name, group in frame.group_by("weekday"):
        print(name, group.height, round(share * 100, 1))
    return frame
```

You would put more people on the early shift and let the late one be shorter. The tail is thin and
it does not need a team of its own; one person who can also answer the phone is enough for it."""


def questions(number: int) -> Iterator[str]:
    """Yield the three questions of a round: each mentions two facts, of all six kinds in all."""
    said = [PLANTED[kind][number][0].format(PLANTED[kind][number][1]) for kind in KINDS]
    for n in range(3):
        yield f"{said[n]} {TALK[number % 2]} {said[n + 3]}"
