"""Time the plan of a thread of 4,000 messages: `python -m tests.benchmarks.bench_context`.

Beside LangChain's trim_messages on the same thread, where langchain-core is installed, and with
the share of turns of a long chat whose request begins with the one before it.
"""

import sys
from collections.abc import Callable
from importlib import import_module

from jan_magics.context.budget import Budget
from jan_magics.context.plan import ContextPlan, Terms, plan_context
from jan_magics.context.rows import rows_of
from jan_magics.context.tokens import estimator_for
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.overlays import CellLink, Overlay
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.profiles import TEMPLATE
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.rounds import installed, interleaved, judged, ratios, scaled
from tests.context.histories import say

MESSAGES, WINDOW = 4_000, 32_768
TURNS, ROUNDS = 300, 11
MOST_WARM, MOST_COLD = 0.002, 0.025  # seconds
LEAST_EXTENDED = 0.95
WORDS = ("the", "model", "was", "trained", "on", "a", "batch", "and", "then", "evaluated", "twice")


def text_of_turn(n: int) -> str:
    return " ".join(WORDS[(n + k) % len(WORDS)] for k in range(36))


def thread(messages: int) -> tuple[Message, ...]:
    roles = ("user", "assistant")
    return tuple(
        say(f"m{n}", "user" if roles[n % 2] == "user" else "assistant", text_of_turn(n))
        for n in range(messages)
    )


def terms(window: int) -> Terms:
    return Terms(Budget(window=window), estimator_for("gpt-4o"), Cleaner(TEMPLATE), model="m:m")


def langchain(path: tuple[Message, ...]) -> dict[str, Callable[[], object]]:
    """Return LangChain's way to trim a thread, none where it is not installed."""
    if not installed("langchain_core", "langchain-core"):
        return {}
    other = import_module("langchain_core.messages")
    kinds = {"user": other.HumanMessage, "assistant": other.AIMessage}
    said = [kinds[message.role](text_of(message)) for message in path]
    count = import_module("langchain_core.messages.utils").count_tokens_approximately

    def trim() -> object:
        return other.trim_messages(said, max_tokens=WINDOW, token_counter=count, start_on="human")

    return {"LangChain": trim}


def newest(path: tuple[Message, ...], plan: ContextPlan) -> None:
    """Fail where a plan is above its budget, or leaves the newest question out."""
    assert plan.tokens <= plan.budget.input
    assert text_of(plan.messages[-1]).endswith(text_of(path[-1]))


def extended() -> float:
    """Return the share of turns whose request begins with all of the one before."""
    path, records, before = thread(2 * TURNS), list[Overlay](), tuple[Message, ...]()
    plan: ContextPlan | None = None
    count = 0
    for turn in range(TURNS):
        plan = plan_context(path[: 2 * turn + 1], records, terms(8192), plan)
        records += [plan.cut] if plan.cut else []
        count += plan.messages[: len(before)] == before
        before = plan.messages
    return count / TURNS


def main() -> int:
    path = thread(MESSAGES + 3)
    records: list[Overlay] = [CellLink("n", f"c{n}", 0, f"m{n}") for n in range(0, MESSAGES, 2)]
    given = terms(WINDOW)
    before, after = path[: MESSAGES + 1], path[: MESSAGES + 3]
    first = plan_context(before, records, given)
    records += [first.cut] if first.cut else []
    earlier = plan_context(before, records, given)
    newest(before, earlier)
    newest(after, plan_context(after, records, given, earlier))
    ways: dict[str, Callable[[], object]] = {
        "cold": lambda: plan_context(before, records, given),
        "warm": lambda: plan_context(after, records, given, earlier),
        "rows": lambda: rows_of(earlier),
        **langchain(before),
    }
    times = interleaved(ways, ROUNDS)
    size = f"{MESSAGES:,} messages"
    kept = [claimed(f"plan of {size}, cold", scaled(times["cold"]), "ms", most=MOST_COLD * 1000)]
    kept.append(claimed("plan, after a turn", scaled(times["warm"]), "ms", most=MOST_WARM * 1000))
    claimed("its rows, made when they are looked at", scaled(times["rows"]), "ms")
    if theirs := times.get("LangChain"):
        claimed("LangChain's trim_messages", scaled(theirs), "ms")
        claimed("its time, of ours after a turn", judged(theirs, times["warm"]), RATIO, least=1)
        claimed("its time, of ours cold", ratios(theirs, times["cold"]), RATIO)
    kept.append(claimed("turns that extend a request", extended(), "", least=LEAST_EXTENDED))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
