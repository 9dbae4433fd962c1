"""What a summariser is told: in the thread's language, or in the user's own words."""

import asyncio
import threading
from dataclasses import dataclass, field

import pytest

from jan_magics.context.budget import Budget
from jan_magics.context.compact import stretch_of
from jan_magics.context.prompts import SUMMARISE
from jan_magics.context.segments import Seen
from jan_magics.domain.errors import SettingError, ThreadError
from jan_magics.domain.messages import text_of
from jan_magics.domain.models import ModelRef
from jan_magics.engine.asking import Asking
from jan_magics.engine.summarising import Summariser
from tests.context.histories import Letters, say
from tests.engine.compacted import WORDS, Talk

CHINESE = "请把订单数据清洗一下，然后按周汇总。" * 20


def chinese(talk: Talk) -> None:
    for n in range(3):
        talk.ask(f"{CHINESE} 第 {n}")


def test_a_chinese_thread_is_summarised_in_chinese(talk: Talk) -> None:
    chinese(talk)
    talk.model.told = lambda _: "用户要清洗订单数据，并按周汇总。"
    talk.compact(keep=1)
    (request,) = talk.model.summaries
    assert request.system == SUMMARISE["zh"]
    assert text_of(request.messages[0]).startswith("对话:")
    talk.ask("下一步?")
    assert talk.model.asked[-1].system.startswith("## 此前对话的摘要\n\n用户要清洗订单数据")
    talk.compact(keep=0)
    assert text_of(talk.model.summaries[-1].messages[0]).startswith("更早的内容已有摘要")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_setting_goes_before_the_threads_language(talk: Talk, language: str) -> None:
    talk.kernel.settings["language"] = language
    talk.open()
    if language == "en":
        chinese(talk)
    else:
        talk.chat(1, 3)
    talk.compact(keep=1)
    assert talk.model.summaries[0].system == SUMMARISE[language]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_users_own_instructions_go_before_ours(talk: Talk, language: str) -> None:
    own = "Write one line. 写一行。"
    (talk.kernel.folder / f"summarise.{language}.txt").write_text(f"\ufeff{own}\n", "utf-8")
    talk.kernel.settings["language"] = language
    talk.open()
    talk.chat(1, 3)
    talk.compact(keep=1)
    assert talk.model.summaries[0].system == own
    assert "user: word" in text_of(talk.model.summaries[0].messages[0])


@pytest.mark.parametrize(
    ("content", "words"), [(b" \n", "are empty"), (b"\xff\xfe", "cannot be read")]
)
def test_instructions_that_say_nothing_are_refused(talk: Talk, content: bytes, words: str) -> None:
    path = talk.kernel.folder / "summarise.en.txt"
    path.write_bytes(content)
    talk.chat(1, 5)
    with pytest.raises(SettingError, match=words) as raised:
        talk.compact(keep=1)
    assert "'summarise.en.txt'" in raised.value.message
    assert "remove the file" in raised.value.next_step
    # In a turn it is told, and the turn goes on.
    outcome = talk.ask(f"{WORDS}question 6")
    assert words in outcome.lines[-1]
    assert outcome.turn.finish == "stop"
    assert talk.records() == []
    path.unlink()
    talk.compact(keep=1)
    assert talk.model.summaries[0].system == SUMMARISE["en"]


def test_a_summary_stands_below_the_instructions_in_one_system_text(talk: Talk) -> None:
    talk.chat(1, 3)
    talk.compact(keep=1)
    talk.ask("next 4", system="Be brief.")
    system = talk.model.asked[-1].system
    assert system.startswith("Be brief.\n\n## Summary of the conversation so far\n\nThe user plans")
    assert all(message.role != "system" for message in talk.model.asked[-1].messages)


def test_a_summary_is_asked_for_soberly_and_briefly(talk: Talk) -> None:
    talk.chat(1, 3)
    talk.compact(keep=1)
    options = talk.model.summaries[0].options
    assert (options.temperature, options.max_tokens, options.think) == (0.0, 130, False)


@dataclass(frozen=True, slots=True)
class Watched(Letters):
    """Notes where facts of the ledger are counted."""

    threads: list[str] = field(default_factory=list, compare=False)

    def count(self, text: str) -> int:
        if text == "out/a.csv":
            self.threads.append(threading.current_thread().name)
        return len(text)


def test_the_ledger_is_written_beside_the_loop(talk: Talk) -> None:
    tokenizer = Watched()
    path = (say("q0", "user", f"It is out/a.csv. {WORDS}"), say("a0", "assistant", WORDS))
    stretch = stretch_of(path, Seen(), tokenizer, 0)
    assert stretch
    summariser = Summariser(
        talk.session.engine, talk.model, ModelRef("double", "m"), Budget(window=8000), tokenizer,
        "en", talk.show,
    )  # fmt: skip
    made = asyncio.run(summariser.summary(stretch))
    assert made.ledger["paths"] == ("out/a.csv",)
    assert tokenizer.threads
    assert threading.main_thread().name not in tokenizer.threads


def test_a_model_that_says_nothing_is_not_asked_about_the_other_parts(talk: Talk) -> None:
    talk.chat(1, 5)
    talk.session.sticky = Asking(window=600)  # so small that a summary is made in parts
    assert len(talk.compact(keep=0, dry_run=True).summary.covers) == 10
    parts = len(talk.model.summaries)
    assert parts > 2
    talk.model.told = lambda _: " "
    with pytest.raises(ThreadError, match="of no use"):
        talk.compact(keep=0)
    assert len(talk.model.summaries) == parts + 1
