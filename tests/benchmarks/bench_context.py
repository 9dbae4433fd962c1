"""Time the plan of a thread of 4,000 messages: `python -m tests.benchmarks.bench_context`.

Beside LangChain's trim_messages on the same thread, where langchain-core is installed, and with
the share of turns of a long chat whose request begins with the one before it.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter

from jan_magics.context.budget import Budget
from jan_magics.context.plan import ContextPlan, Terms, plan_context
from jan_magics.context.rows import rows_of
from jan_magics.context.tokens import estimator_for
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.overlays import CellLink, Overlay
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.profiles import TEMPLATE
from tests.benchmarks.claims import claimed
from tests.context.histories import say

MESSAGES, WINDOW = 4_000, 32_768
TURNS = 300
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


def best(work: Callable[[], object], runs: int = 9) -> float:
    """The shortest time of several runs, in seconds: the others measure the machine."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def terms(window: int) -> Terms:
    return Terms(Budget(window=window), estimator_for("gpt-4o"), Cleaner(TEMPLATE), model="m:m")


def langchain(path: tuple[Message, ...]) -> float | None:
    """Return the seconds that LangChain takes, None where it is not installed."""
    if find_spec("langchain_core") is None:
        return None
    other = import_module("langchain_core.messages")
    kinds = {"user": other.HumanMessage, "assistant": other.AIMessage}
    said = [kinds[message.role](text_of(message)) for message in path]
    count = import_module("langchain_core.messages.utils").count_tokens_approximately

    def trim() -> object:
        return other.trim_messages(said, max_tokens=WINDOW, token_counter=count, start_on="human")

    return best(trim, 5)


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
    first = plan_context(path[: MESSAGES + 1], records, given)
    records += [first.cut] if first.cut else []
    earlier = plan_context(path[: MESSAGES + 1], records, given)
    cold = best(lambda: plan_context(path[: MESSAGES + 1], records, given))
    warm = best(lambda: plan_context(path[: MESSAGES + 3], records, given, earlier))
    rows = best(lambda: rows_of(earlier), 5)
    other, share = langchain(path[: MESSAGES + 1]), extended()
    write = sys.stdout.write
    write(f"plan of {MESSAGES:,} messages\n")
    kept = [claimed("plan, cold", cold * 1000, "ms", most=MOST_COLD * 1000)]
    kept.append(claimed("plan, after a turn", warm * 1000, "ms", most=MOST_WARM * 1000))
    write(f"  its rows     {rows * 1000:6.2f} ms, made when they are looked at\n")
    beside = "not installed" if other is None else f"{other * 1000:6.2f} ms, {other / warm:.1f} x"
    write(f"  LangChain's trim_messages: {beside}\n")
    kept.append(claimed("turns that extend a request", share, "", least=LEAST_EXTENDED))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
