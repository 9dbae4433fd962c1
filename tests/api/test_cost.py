"""What a turn cost stands in the table of turns, where its price is known, and nowhere else."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

import jan_magics as jan
from tests.providers.loopback import chunked
from tests.providers.serving import serving_here

WORD = b'data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}\n\n'
USED = {"prompt_tokens": 1000, "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400}}  # fmt: skip
COUNTED = b"data: " + json.dumps({"choices": [], "usage": USED}).encode() + b"\n\n"
GOOD = chunked(WORD, COUNTED, b"data: [DONE]\n\n")


def config(address: str, more: str = "") -> None:
    folder = Path(os.environ["JAN_CONFIG_FOLDER"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f'[providers.mine]\naddress = "{address}"\n{more}\n')


def test_a_price_of_the_config_makes_a_cost() -> None:
    with serving_here(GOOD) as server:
        config(server.address, "prices = {input = 2.0, output = 10.0, cached = 0.5}")
        with jan.Chat("prices", model="mine:m") as chat:
            chat.send("was kostet das?")
            cost = chat.turns().cost
    assert cost.dtype == "Float64"
    assert cost.iloc[0] == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)


def test_without_a_price_there_is_no_number() -> None:
    with serving_here(GOOD) as server:
        config(server.address)
        with jan.Chat("prices", model="mine:m") as chat:
            chat.send("hi")
            assert chat.turns().cost.iloc[0] is pd.NA


def test_what_was_counted_by_nobody_has_no_cost() -> None:
    with serving_here(chunked(WORD, b"data: [DONE]\n\n")) as server:
        config(server.address, "prices = {input = 2.0, output = 10.0}")
        with jan.Chat("prices", model="mine:m") as chat:
            chat.send("hi")
            assert chat.turns().cost.iloc[0] is pd.NA
