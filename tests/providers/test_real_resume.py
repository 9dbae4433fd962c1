"""A real llama-server goes on with a cut answer, and what it repeats is shown once."""

import jan_magics as jan

QUESTION = "Name the four seasons of the year, one a line."


def test_a_cut_answer_goes_on(real_model: str) -> None:
    with jan.Chat("seasons", model=real_model) as chat:
        whole = chat.send(QUESTION, temperature=0.0, seed=1, max_tokens=40, history=False)
        cut = chat.send(QUESTION, temperature=0.0, seed=1, max_tokens=8)
        assert cut.finish == "length"
        chat.use(temperature=0.0, max_tokens=32)
        resumed = chat.resume()
        assert [message["role"] for message in resumed.sent["messages"]] == ["user", "assistant"]
        assert resumed.text.startswith(cut.text.strip())
        assert len(resumed.text) > len(cut.text)
        assert resumed.text.count(cut.text.strip()) == 1
        assert resumed.text[:60] == whole.text[:60]  # as if it had never been cut
        assert list(chat.messages().text) == [QUESTION, resumed.text]
