"""How many of sixty facts are left after ten compactions in a row: summary alone, with the ledger.

    python -m tests.benchmarks.bench_compaction [--model]

With a summariser that says two fixed sentences; `--model`: with the packaged model too, which
takes minutes, where a llama-server runs here. Every fact is mentioned once, six in a round of three
questions.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from jan_magics.context.compact import LEDGER_SHARE
from jan_magics.context.summary import summary_text
from jan_magics.domain.errors import JanError
from jan_magics.domain.events import StreamEvent
from jan_magics.domain.models import ChatRequest
from jan_magics.engine.compacting import Compacted, compact
from jan_magics.providers.local import LocalProvider, LocalServer
from tests.benchmarks.claims import claimed
from tests.engine.compacted import Summarising, Talk, is_summary
from tests.engine.planted import ANSWER, FACTS, KINDS, PLANTED, questions
from tests.engine.threads import Kernel

WINDOW = 8192
ROUNDS = 10
LONGEST = 160  # tokens of the packaged model's summary: it has nothing more to say, only slower
REQUIRED = 0.95


@dataclass
class Packaged(Summarising):
    """Scripted turns whose summaries the packaged model writes."""

    provider: LocalProvider = field(default_factory=lambda: LocalProvider(LocalServer()))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        if not is_summary(request):
            async for event in super().stream(request):
                yield event
            return
        self.summaries.append(request)
        model = LocalServer().available()
        assert model
        options = replace(request.options, max_tokens=LONGEST)
        async for event in self.provider.stream(replace(request, model=model, options=options)):
            yield event


def main() -> int:
    """Print both tables; 1 when the ledger keeps too little, or grows too large."""
    scripted = measured("two fixed sentences", Summarising(window=WINDOW, answer=ANSWER))
    if "--model" not in sys.argv:
        return not scripted
    if LocalServer().available() is None:
        print("No model server runs here; the packaged model was not measured.")
        return not scripted
    server = LocalServer(window=WINDOW)
    model = Packaged(window=WINDOW, answer=ANSWER, provider=LocalProvider(server))
    return not (measured("the packaged model", model, server) and scripted)


def measured(name: str, model: Summarising, server: LocalServer | None = None) -> bool:
    """Print what is left of the facts after all rounds; tell whether the promise is kept."""
    begun, failed = time.perf_counter(), list[str]()
    with thread(model) as talk:
        made = asyncio.run(rounds(talk, failed, server))
    text, alone = summary_text(made.summary), summary_text(replace(made.summary, ledger={}))
    share = (made.tokenizer.count(text) - made.tokenizer.count(alone)) / WINDOW
    print(f"\n{name}: {ROUNDS - len(failed)} compactions, {time.perf_counter() - begun:.0f} s")
    print(f"  {'':14}summary alone   with ledger")
    for kind in KINDS:
        facts = [fact for _, fact in PLANTED[kind]]
        print(f"  {kind:14}{left(facts, alone):13} {left(facts, text):13}")
    print(f"  {'of ' + str(len(FACTS)):14}{left(FACTS, alone):13} {left(FACTS, text):13}")
    print(f"  the summary has {made.tokenizer.count(alone)} tokens, the ledger {share:.1%}")
    for why in failed:
        print(f"  not compacted: {why}")
    kept = claimed(f"{name}: facts left, summary and ledger", left(FACTS, text) / len(FACTS) * 100,
                   "%", least=REQUIRED * 100)  # fmt: skip
    claimed(f"{name}: facts left, summary alone", left(FACTS, alone) / len(FACTS) * 100, "%")
    most = LEDGER_SHARE * 100
    return claimed(f"{name}: ledger, of the window", share * 100, "%", most=most) and kept


async def rounds(talk: Talk, failed: list[str], server: LocalServer | None) -> Compacted:
    """Talk and compact; what could not be compacted in a round is there in the next one."""
    made: Compacted | None = None
    try:
        for number in range(ROUNDS):
            for question in questions(number):
                await talk.send(question)
            try:
                made = await compact(talk.session, 0, talk.show, dry_run=False)
                print(f"  {number + 1}: {made.said}", file=sys.stderr)
            except JanError as failure:
                failed.append(failure.message)
    finally:
        if server:
            await server.close()
    if made is None:
        raise SystemExit(f"Nothing was compacted: {failed}")
    return made


@contextmanager
def thread(model: Summarising) -> Iterator[Talk]:
    """Open a thread of its own."""
    with TemporaryDirectory() as folder:
        yield Talk(Kernel(Path(folder), settings={"tokenizer": "estimate"}), model)


def left(facts: tuple[str, ...] | list[str], text: str) -> int:
    return sum(fact in text for fact in facts)


if __name__ == "__main__":
    sys.exit(main())
