"""Tools in a real kernel, over a real wire: what a person sees, is asked, and gets."""

import json
from ast import literal_eval
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kernel import Kernel, Ran, homes, running_kernel
from tests.providers.loopback import Reply, http
from tests.providers.serving import serving_here

WEATHER = """import jan_magics as jan

@jan.tool(safe=True)
def get_weather(city: str) -> str:
    "Tell the weather of a city."
    return f"21 °C in {city} <b>&"

@jan.tool
def send_mail(to: str) -> str:
    "Send a mail."
    return f"sent to {to}"

@jan.tool(main=True, safe=True)
def draw() -> str:
    "Draw something."
    import threading
    print("drawn in", threading.current_thread().name)
    return "drawn"
"""


def step(*calls: tuple[str, dict[str, Any]], text: str = "") -> Reply:
    """An answer of the OpenAI wire: text, then calls."""
    deltas: list[dict[str, Any]] = [{"content": text}] if text else []
    for n, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        deltas.append({"tool_calls": [{"index": n, "id": f"c{n}", "function": function}]})
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    reason = "tool_calls" if calls else "stop"
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return http("".join((*lines, "data: [DONE]\n\n")).encode())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("tools")
    with running_kernel(folder, **homes(folder)) as running:
        running.ok("%load_ext jan_magics")
        yield running


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    shared.ok(f"%chat new\n%chat use --tools none\n{WEATHER}")
    return shared


def asked(kernel: Kernel, flags: str, *steps: Reply, **how: Any) -> tuple[Ran, list[Any]]:
    """Ask a model that answers with these steps; returns the cell and what was sent."""
    with serving_here(*steps) as server:
        ran = kernel.run(f"%%chat -m {server.address}#m {flags}\nhow is it in 巴黎?", **how)
        return ran, [json.loads(body) for body in server.bodies]


def test_a_function_is_called_and_its_result_goes_back(kernel: Kernel) -> None:
    steps = (
        step(("get_weather", {"city": "巴黎"}), text="Let me look."),
        step(text="It is 21 °C."),
    )
    ran, sent = asked(kernel, "--tools get_weather -o answer", *steps)
    assert ran.status == "ok", ran.error
    turn = ran.turn
    assert turn["text"] == "Let me look.\n\nIt is 21 °C."
    assert turn["calls"] == [
        {
            "name": "get_weather",
            "arguments": '{"city": "巴黎"}',
            "output": "21 °C in 巴黎 <b>&",
            "state": "ok",
        }
    ]
    assert "· 1 tool call" in turn["footer"]
    assert [tool["function"]["name"] for tool in sent[0]["tools"]] == ["get_weather"]
    assert [message["role"] for message in sent[1]["messages"]] == ["user", "assistant", "tool"]
    assert sent[1]["messages"][-1]["content"] == "21 °C in 巴黎 <b>&"
    assert len(ran.displays) == 1


def test_calls_are_folded_in_every_form(kernel: Kernel) -> None:
    steps = (step(("get_weather", {"city": "巴黎"})), step(text="It is 21 °C."))
    ran, _ = asked(kernel, "--tools get_weather", *steps)
    shown = ran.displays[-1]
    line = '▸ called get_weather({"city": "巴黎"}) → 21 °C in 巴黎 <b>&'
    assert shown["text/plain"].startswith(f"It is 21 °C.\n\n{line}\n\n")
    assert '<details class="jan-call"><summary>called get_weather(' in shown["text/html"]
    assert "<b>" not in shown["text/html"]
    assert "<b>" not in shown["text/markdown"]
    assert "called get" in shown["text/markdown"]
    again = kernel.ok("%chat show").results[-1]
    assert line in again["text/plain"]
    assert '<details class="jan-call">' in again["text/html"]
    assert "called get" in again["text/markdown"]
    for form in ("code", "json"):
        ran, _ = asked(kernel, f"--tools get_weather -f {form}", *steps)
        assert "called" not in ran.displays[-1]["text/plain"]


def test_while_it_runs_the_cell_says_what_is_called(kernel: Kernel) -> None:
    for safe in (True, False):
        kernel.ok(
            f"import time\n@jan.tool(safe={safe})\ndef slow():\n    time.sleep(2.5)\n    return 1"
        )
        steps = (step(("slow", {}), text="Wait."), step(text="Done."))
        ran, _ = asked(kernel, "--tools slow --yes", *steps)
        live = [update.get("text/markdown", "") for update in ran.updates[:-1]]
        assert any("calling slow" in text and "Wait." in text for text in live)
        assert any("calling slow · 1 s" in text for text in live)
        assert any("calling slow · 2 s" in text for text in live)


@pytest.mark.parametrize(
    ("typed", "output", "state"),
    [
        ("y", "sent to 李", "ok"),
        ("n", "the user has refused this call", "denied"),
        ("always", "sent to 李", "ok"),
    ],
)
def test_a_person_is_asked(kernel: Kernel, typed: str, output: str, state: str) -> None:
    steps = (step(("send_mail", {"to": "李"})), step(text="Done."))
    ran, _ = asked(kernel, "--tools send_mail", *steps, typed=typed)
    assert ran.status == "ok", ran.error
    (call,) = ran.turn["calls"]
    assert (call["output"], call["state"]) == (output, state)
    if typed == "always":  # so nobody is asked again in this kernel
        ran, _ = asked(kernel, "--tools send_mail", *steps)
        assert ran.turn["calls"][0]["state"] == "ok"
        kernel.ok("%chat tools --add send_mail\n%chat tools --remove send_mail")


def test_without_a_person_it_is_denied_and_yes_is_named(kernel: Kernel) -> None:
    steps = (step(("send_mail", {"to": "x"})), step(text="Sorry."))
    ran, sent = asked(kernel, "--tools send_mail", *steps)
    assert ran.turn["calls"][0]["state"] == "denied"
    assert "nobody can be asked here · allow all calls: --yes" in ran.turn["footer"]
    assert "nobody could be asked" in sent[1]["messages"][-1]["content"]
    ran, _ = asked(kernel, "--tools send_mail --yes", *steps)
    assert ran.turn["calls"][0]["output"] == "sent to x"


def test_the_main_thread_runs_what_needs_it(kernel: Kernel) -> None:
    ran, _ = asked(kernel, "--tools draw", step(("draw", {})), step(text="There."))
    assert ran.out == "drawn in MainThread\n"
    assert ran.turn["calls"][0]["output"] == "drawn"


def test_a_background_turn_has_no_main_thread_and_nobody_to_ask(kernel: Kernel) -> None:
    both = step(("draw", {}), ("send_mail", {"to": "x"}))
    with serving_here(both, step(text="There.")) as server:
        flags = f"-m {server.address}#m --tools draw,send_mail --background -o running"
        kernel.ok(f"%%chat {flags}\ngo")
        kernel.ok("running.wait()")
    shown = kernel.ok("%chat show").results[-1]["text/plain"]
    assert "▸ called draw() → error: not run: it needs the main thread" in shown
    assert "▸ called send_mail" in shown
    assert "denied: send_mail was not run" in shown


def test_ctrl_c_ends_a_tool_and_keeps_what_there_is(kernel: Kernel) -> None:
    kernel.ok("import time\n@jan.tool(safe=True)\ndef endless():\n    time.sleep(60)")
    steps = (step(("endless", {}), text="Wait."), step(text="never"))
    ran, sent = asked(kernel, "--tools endless", *steps, interrupt=1.5)
    assert ran.error is not None
    assert ran.error[0] == "Stopped"
    assert ran.interrupted_after is not None
    assert ran.interrupted_after < 1.5
    assert len(sent) == 1
    assert ran.turn["calls"][0]["state"] == "interrupted"
    ran, sent = asked(kernel, "", step(text="Here again."))
    assert ran.turn["text"] == "Here again."


def test_ctrl_c_at_the_question_stops_the_turn(kernel: Kernel) -> None:
    kernel.ok("@jan.tool(main=True, safe=True)\ndef waits():\n    import time\n    time.sleep(60)")
    steps = (step(("waits", {})), step(text="never"))
    ran, sent = asked(kernel, "--tools waits", *steps, interrupt=1.5)
    assert ran.error is not None
    assert ran.error[0] == "Stopped"
    assert len(sent) == 1


def test_tools_stick_and_are_listed(kernel: Kernel) -> None:
    kernel.ok("def plain(x: int) -> int:\n    return x")
    kernel.ok("rows = jan.tools().set_index('name')")
    assert kernel.ok("rows.approval['get_weather']").result == "'auto'"
    assert "not offered" in kernel.ok("rows.status['get_weather']").result
    assert kernel.ok("'plain' in rows.index").result == "False"  # nobody has marked it
    kernel.ok("%chat tools --add plain")
    kernel.ok("%chat tools --add get_weather")
    _, sent = asked(kernel, "", step(text="hello"))
    names = [tool["function"]["name"] for tool in sent[0]["tools"]]
    assert names == ["plain", "get_weather"]
    assert "plain, get_weather" in str(kernel.ok("%chat").results)
    kernel.ok("%chat tools --remove plain")
    _, sent = asked(kernel, "--tools none", step(text="hello"))
    assert "tools" not in sent[0]
    kernel.ok("rows = %chat tools")
    frame = kernel.ok("rows.set_index('name').status['get_weather']").result
    assert "offered at every turn" in frame
    wrong = kernel.run("%chat tools --add get_wether")
    assert wrong.error is not None
    assert "closest: 'get_weather'" in wrong.error[1]
    assert kernel.run("%chat tools --remove nothing").status == "error"


def test_a_cell_that_defines_a_tool_again_changes_it(kernel: Kernel) -> None:
    kernel.ok("%chat use --tools get_weather --max-steps 2")
    kernel.ok("@jan.tool(safe=True)\ndef get_weather(town: str):\n    return 'rain in ' + town")
    steps = (step(("get_weather", {"town": "x"})), step(("get_weather", {"town": "y"})))
    ran, sent = asked(kernel, "", *steps)
    assert list(sent[0]["tools"][0]["function"]["parameters"]["properties"]) == ["town"]
    assert [call["output"] for call in ran.turn["calls"]] == ["rain in x", "rain in y"]
    assert ran.turn["finish"] == "max_steps"
    assert "ended after 2 steps" in ran.turn["footer"]
    kernel.ok("%chat use --max-steps 8")


def test_tables_go_in_and_out(kernel: Kernel) -> None:
    kernel.ok(
        "import pandas as pd\n"
        "@jan.tool(safe=True)\n"
        "def total(rows: pd.DataFrame) -> pd.DataFrame:\n"
        "    return rows.sum(numeric_only=True).to_frame('total')\n"
    )
    rows = [{"城市": "x", "n": 1}, {"城市": "y", "n": 2}]
    ran, sent = asked(kernel, "--tools total", step(("total", {"rows": rows})), step(text="3"))
    assert ran.turn["calls"][0]["output"] == "   total\nn      3"
    assert sent[0]["tools"][0]["function"]["parameters"]["properties"]["rows"]["type"] == "array"


def test_python_takes_functions_and_names(kernel: Kernel) -> None:
    with serving_here(step(("get_weather", {"city": "x"})), step(text="fine")) as server:
        code = (
            f"with jan.Chat('tools', model='{server.address}#m') as chat:\n"
            "    answer = chat.send('hi', tools=[get_weather], max_steps=3)\n"
            "    sent = answer.sent\n"
        )
        kernel.ok(code)
    assert kernel.ok("answer.text, answer.finish").result == "('fine', 'stop')"
    assert kernel.ok("[t['name'] for t in sent['tools']]").result == "['get_weather']"
    assert "'output': '21 °C in x <b>&'" in kernel.ok("sent['messages'][-1]['results']").result
    assert kernel.run("jan.current().send('x', tools=3)").status == "error"


def test_a_dry_run_shows_what_would_be_offered(kernel: Kernel) -> None:
    ran, sent = asked(kernel, "--tools get_weather --dry-run", step(text="never"))
    assert sent == []
    assert "tools    get_weather" in ran.result


PAGES = """import json, jan_magics as jan

@jan.tool(safe=True)
def search_web(words: str) -> str:
    "Search the web."
    pages = [
        {"url": "https://example.org/巴黎", "title": "Paris 🗼", "snippet": "21 °C", "score": 0.9},
        {"url": "https://example.org/wind", "title": "Wind", "content": "calm <b>"},
        {"url": "https://example.org/巴黎", "title": "once more"}, {"url": "javascript:alert(1)"},
    ]
    return json.dumps({"query": words, "results": pages})
"""


def test_pages_that_a_tool_found_are_sources(kernel: Kernel) -> None:
    kernel.ok(PAGES)
    found = step(("search_web", {"words": "weather"}))
    asked(kernel, "--tools search_web -o answer", found, step(text="It is 21 °C [1]."))
    shown = kernel.ok(
        "answer.sources[['n', 'source', 'headings', 'text', 'cited']].values.tolist()"
    ).result
    assert literal_eval(shown) == [
        [1, "https://example.org/巴黎", "Paris 🗼", "21 °C", True],
        [2, "https://example.org/wind", "Wind", "calm <b>", False],
    ]
    assert kernel.ok("answer.sources.score.isna().tolist()").result == "[False, True]"
