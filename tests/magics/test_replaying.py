"""Recording and replaying in real kernels, over a real wire: the same answers without a server."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernel import TURN, Kernel, Ran, running_kernel
from tests.magics.test_tools import WEATHER, step
from tests.providers.serving import serving_here

FILE = "lesson.jan.jsonl"
KEY = "sk-never-in-a-cassette-123"
PROMPT = "how is it in 巴黎? 🎉"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def kernel_in(folder: Path, **environment: str) -> Any:
    return running_kernel(folder, **environment)


@pytest.fixture
def kernel(folder: Path) -> Iterator[Kernel]:
    with kernel_in(folder) as running:
        running.ok("%load_ext jan_magics")
        yield running


def plain(ran: Ran) -> str:
    return str(ran.displays[-1]["text/plain"])


def record(kernel: Kernel, *cells: str) -> None:
    kernel.ok(f"%chat record {FILE}")
    for cell in cells:
        kernel.ok(cell)
    kernel.ok("%chat record --off")


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE).read_text("utf-8").splitlines()]


def test_a_turn_with_tools_is_replayed_in_a_fresh_kernel_without_its_server(folder: Path) -> None:
    steps = (
        step(("get_weather", {"city": "巴黎"}), text="Let me look."),
        step(text="It is 21 °C."),
    )
    with serving_here(*steps) as server, kernel_in(folder, CUSTOM_API_KEY=KEY) as kernel:
        kernel.ok(f"%load_ext jan_magics\n{WEATHER}")
        cell = f"%%chat -m {server.address}#m --tools get_weather\n{PROMPT}"
        record(kernel, cell)
        address = server.address
        assert len(server.bodies) == 2
    text = (folder / FILE).read_text("utf-8")
    assert [line.get("kind") for line in lines(folder)] == [None, "chat", "tool", "chat"]
    assert not [each for each in (address, "127.0.0.1", KEY, "authorization") if each in text]
    assert "巴黎" in text

    shown = []
    for _ in range(2):
        with kernel_in(folder, JAN_REPLAY=FILE) as kernel:
            kernel.ok(f"%load_ext jan_magics\n{WEATHER}")
            kernel.ok("def get_weather(city: str): raise RuntimeError('a tool was run')")
            kernel.ok(WEATHER.replace('return f"21', 'raise RuntimeError; return f"21'))
            ran = kernel.ok(cell)
            table = kernel.ok("import jan_magics as jan\njan.current().turns()").results[-1]
            tree = kernel.ok("jan.current().messages(all=True)").results[-1]
            shown.append((ran.displays, table, tree, kernel.ok("%chat").result))
    assert shown[0] == shown[1]
    (display,), table, *_ = shown[0]
    assert display[TURN]["text"].endswith("It is 21 °C.")
    assert "21 °C in 巴黎" in json.dumps(display[TURN]["calls"], ensure_ascii=False)
    assert "replayed" in display["text/plain"]
    assert display[TURN]["timings"] is None
    assert "<NA>" in table["text/plain"]


def test_what_changed_is_told_and_others_may_answer(kernel: Kernel) -> None:
    record(kernel, "%%chat\nWhy is it dark?")
    kernel.ok(f"%chat replay {FILE}")
    ran = kernel.run("%%chat\nWhy is it so dark?")
    assert ran.error is not None
    name, _, said = ran.error
    assert name == "NotRecorded"
    assert "recorded 'Why is it dark?', now 'Why is it so dark?'" in said[0]
    assert said[1].startswith("Record it: %chat replay --off")
    assert len(said) == 2
    for missing, asked in (("offline", "offline:quote"), ("live", "the model itself")):
        kernel.ok(f"%chat replay {FILE} --missing {missing}")
        other = plain(kernel.ok("%%chat -m offline:echo\nsomething else"))
        assert f"not recorded, so it was asked of {asked}" in other
        assert "replayed" not in other
        kernel.ok("%chat replay --off")


def test_a_replay_has_a_store_of_its_own_and_leaves_all_as_it_was(kernel: Kernel) -> None:
    record(kernel, "%chat use -t lab -m offline:echo", "%%chat\nfirst", "%%chat\nsecond")
    before = kernel.ok("%chat threads").result
    said = kernel.ok(f"%chat replay {FILE}").result
    assert said == f"replaying 2 answers of {FILE}; no model is asked"
    assert "lab (new)" in plain(kernel.ok("%%chat\nfirst"))
    assert f"a scratch one, while {FILE} is replayed" in kernel.ok("%chat").result
    assert f"not recorded: {FILE} is being replayed" in kernel.ok("%chat record").result
    assert "4b2277" in kernel.ok("%chat tree").result
    assert kernel.ok("%chat replay --off").result == "as before"
    assert kernel.ok("%chat threads").result == before
    assert kernel.ok("%chat replay --off").result == "nothing is being replayed"
    assert "third" in plain(kernel.ok("%%chat\nthird"))


def test_python_replays_too_and_every_chat_with_it(kernel: Kernel) -> None:
    ask = 'chat = jan.Chat("x", model="offline:echo")\nprint(chat.send("one").text)'
    record(kernel, f"import jan_magics as jan\n{ask}")
    code = f'with jan.replay("{FILE}"):\n    with jan.Chat("x", model="offline:echo") as chat:\n'
    seen = kernel.ok(code + '        print(chat.send("one").text, len(chat.messages()))')
    assert seen.out == "one 2\n"
    failed = kernel.run(code + '        chat.send("two")')
    assert failed.error is not None
    assert failed.error[0] == "NotRecorded"
    assert kernel.ok("print(chat._host.opening.deck.playing)").out == "None\n"


def test_a_chat_that_was_there_before_replays_with_the_others(kernel: Kernel) -> None:
    kernel.ok('import jan_magics as jan\nchat = jan.Chat("x", model="offline:echo")')
    record(kernel, 'print(chat.send("one").text)', 'print(chat.send("two").text)')
    before = kernel.ok("%chat threads").result
    kernel.ok(f"%chat replay {FILE}")
    assert kernel.ok('chat.send("one").message').result.startswith("'ef2d12")
    assert kernel.ok("print(len(chat.messages()))").out == "2\n"
    assert kernel.ok("%chat threads").result != before
    kernel.ok("%chat replay --off")
    assert kernel.ok("print(len(chat.messages()))").out == "4\n"
    assert kernel.ok("%chat threads").result == before


def test_files_that_cannot_be_played_leave_everything_as_it_was(kernel: Kernel) -> None:
    for name in ("gone.jan.jsonl", "."):
        ran = kernel.run(f"%chat replay {name}")
        assert ran.error is not None
        assert ran.error[0] == "SettingError"
    assert "offline" in plain(kernel.ok("%%chat\nhello"))
    refused = kernel.run("%chat record")
    assert refused.error is not None
    assert "%chat record lesson.jan.jsonl" in refused.error[2][1]


def test_a_setting_that_names_no_cassette_can_be_let_go_of(folder: Path) -> None:
    with kernel_in(folder, JAN_REPLAY="gone.jan.jsonl") as kernel:
        kernel.ok("%load_ext jan_magics")
        failed = kernel.run("%%chat\nhi")
        assert failed.error is not None
        assert failed.error[2][1].endswith("Go on without: %chat replay --off")
        assert "gone.jan.jsonl" in kernel.ok("%chat").result
        kernel.ok("%chat replay --off")
        record(kernel, "%%chat -m offline:echo\nhi")
        assert kernel.ok(f"%chat replay {FILE}").result.startswith("replaying 1 answer")


def test_damage_is_told_once_and_the_rest_is_replayed(folder: Path, kernel: Kernel) -> None:
    record(kernel, "%%chat -m offline:echo\nfirst", "%%chat\nsecond")
    whole = (folder / FILE).read_text("utf-8")
    (folder / FILE).write_text(f"<<<<<<< ours\n{whole}{{", "utf-8")
    assert "lines 1, 5 are skipped" in kernel.ok(f"%chat replay {FILE}").result
    assert "lines 1, 5 are skipped" in plain(kernel.ok("%%chat -m offline:echo\nfirst"))
    assert "skipped" not in plain(kernel.ok("%%chat\nsecond"))


def test_titles_compactions_and_windows_are_replayed(folder: Path) -> None:
    small = "%config JanMagics.titles = 'auto'\n%chat use --window 900 --overflow compact"
    words = "".join(f"fact {n} is that the sample weighs {n} kg. " for n in range(40))
    steps = [step(text="noted"), step(text="Samples and weights"), step(text="The user weighs.")]
    with serving_here(*steps, step(text="noted well")) as server, kernel_in(folder) as kernel:
        kernel.ok("%load_ext jan_magics")
        cells = [f"{small} -m {server.address}#m", *(f"%%chat\n{n} {words}" for n in range(3))]
        kernel.ok(f"%chat record {FILE}")
        for cell in cells:
            kernel.ok(cell)
        compacted = kernel.ok("%chat compact --keep 1").result
        asked = len(server.bodies)
        assert asked > 4
    for _ in range(2):
        with kernel_in(folder, JAN_REPLAY=FILE) as kernel:
            kernel.ok("%load_ext jan_magics")
            for cell in cells:
                kernel.ok(cell)
            assert kernel.ok("%chat compact --keep 1").result == compacted
            assert "Samples and weights" in kernel.ok("%chat threads").result


def test_the_clock_of_templates_stands_where_the_cassette_was_begun(folder: Path) -> None:
    cell = (
        '%%chat -m offline:echo -s "It is {{current_date}}, {{current_time}} in {{notebook}}"\nhi'
    )
    with kernel_in(folder, JAN_NOTEBOOK=str(folder / "时间.ipynb")) as kernel:
        kernel.ok("%load_ext jan_magics")
        record(kernel, cell)
    text = (folder / FILE).read_text("utf-8").replace(lines(folder)[0]["time"][:10], "1999-12-31")
    assert lines(folder)[0]["notebook"] == "时间.ipynb"
    with kernel_in(folder, JAN_REPLAY=str(folder)) as kernel:
        kernel.ok("%load_ext jan_magics")
        assert "replayed" in plain(kernel.ok(cell))
    (folder / FILE).write_text(text, "utf-8")
    with kernel_in(folder, JAN_REPLAY=str(folder)) as kernel:
        kernel.ok("%load_ext jan_magics")
        failed = kernel.run(cell)
        assert failed.error is not None
        assert "December 31, 1999" in failed.error[2][0]


def test_exact_counts_are_replayed_where_nobody_can_count(folder: Path) -> None:
    pytest.importorskip("splintr")
    budget = "jan.current().budget()[['piece', 'tokens', 'exact']].to_string()"
    with serving_here(step(text="noted")) as server, kernel_in(folder) as kernel:
        kernel.ok("%load_ext jan_magics\nimport jan_magics as jan")
        cell = f"%%chat -m {server.address}#gpt-4o --window 4000\n{PROMPT}"
        record(kernel, cell, f"%%chat --window 4000\n{'数一数 tokens ' * 30}", budget)
        counted = kernel.ok(budget).result
    assert "count" in {line.get("kind") for line in lines(folder)}
    assert lines(folder)[0]["models"]["custom:gpt-4o"]["counts"]["opening"]
    with kernel_in(folder, JAN_REPLAY=FILE) as kernel:
        kernel.ok("import sys; sys.modules['splintr'] = None")
        kernel.ok("%load_ext jan_magics\nimport jan_magics as jan")
        kernel.ok(cell)
        kernel.ok(f"%%chat --window 4000\n{'数一数 tokens ' * 30}")
        assert kernel.ok(budget).result == counted
        assert "True" in counted


def test_the_model_of_a_setting_is_known_to_the_cassette(folder: Path) -> None:
    with kernel_in(folder, JAN_MODEL="offline:echo") as kernel:
        kernel.ok("%load_ext jan_magics")
        record(kernel, "%%chat\nhi")
    with kernel_in(folder, JAN_MODEL="", JAN_REPLAY=FILE) as kernel:
        kernel.ok("%load_ext jan_magics")
        shown = plain(kernel.ok("%%chat\nhi"))
        assert "offline:echo" in shown
        assert "the cassette has it" in shown


def test_a_second_recording_of_the_same_cells_changes_only_times(folder: Path) -> None:
    def recorded() -> list[Any]:
        with kernel_in(folder) as kernel:
            kernel.ok("%load_ext jan_magics")
            record(kernel, "%%chat -m offline:echo\nfirst", "%%chat\nsecond")
        header, *entries = lines(folder)
        return [header, *({**each, "events": [e[1:] for e in each["events"]]} for each in entries)]

    assert recorded() == recorded()


def test_a_replay_may_be_as_slow_as_its_recording(folder: Path) -> None:
    with kernel_in(folder) as kernel:
        kernel.ok("%load_ext jan_magics")
        record(kernel, f"%%chat -m offline:echo\n{PROMPT}")
    slowed = lines(folder)
    for entry in slowed:
        for place, event in enumerate(entry.get("events", [])):
            event[0] = 0.4 * (place + 1)
    text = "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in slowed)
    (folder / FILE).write_text(text, "utf-8")
    shown = []
    for pace in ("instant", "recorded"):
        with kernel_in(folder, JAN_REPLAY=str(folder / FILE), JAN_REPLAY_PACE=pace) as kernel:
            kernel.ok("%load_ext jan_magics")
            begun = time.monotonic()
            shown.append(plain(kernel.ok(f"%%chat -m offline:echo\n{PROMPT}")))
            assert pace == "instant" or time.monotonic() - begun > 0.75
    assert shown[0] == shown[1]
