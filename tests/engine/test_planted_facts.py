"""Ten compactions in a row by a summariser that says nothing of use: the ledger keeps the facts."""

from dataclasses import replace

from jan_magics.context.compact import LEDGER_SHARE
from jan_magics.context.summary import summary_text
from tests.engine.compacted import Talk, compacting
from tests.engine.planted import ANSWER, FACTS, questions

WINDOW = 8192
ROUNDS = 10


def test_of_sixty_facts_hardly_one_is_lost(talk: Talk) -> None:
    talk = compacting(talk.kernel.folder, talk.kernel.store, overflow="trim", tokenizer="estimate")
    talk.model.window, talk.model.answer = WINDOW, ANSWER
    for number in range(ROUNDS):
        for question in questions(number):
            talk.ask(question)
        made = talk.compact(keep=0)
        assert made.summary.text == "The user plans an experiment. Its data are being cleaned."
        text = summary_text(made.summary)
        alone = summary_text(replace(made.summary, ledger={}))
        count = made.tokenizer.count
        assert count(text) - count(alone) <= LEDGER_SHARE * WINDOW
    assert len(talk.model.summaries) == ROUNDS
    talk.open()
    talk.ask("And now?")
    request = talk.model.asked[-1]
    assert len(request.messages) == 1
    lost = [fact for fact in FACTS if fact not in request.system]
    assert len(FACTS) == 60
    assert len(lost) <= 3, lost
