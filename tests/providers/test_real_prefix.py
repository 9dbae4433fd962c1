"""A real llama-server reads a long chat's requests from its cache but for where trimming falls."""

import jan_magics as jan

TURNS = 12


def test_what_is_planned_is_what_the_server_counts(real_model: str) -> None:
    told = "Answer in three words. 用三个词回答。"
    with jan.Chat("counts", model=real_model, system=told) as chat:
        chat.use(temperature=0.0, seed=1, max_tokens=6)
        chat.send("What is 水?")  # starts the server, which could not be asked before
        for text in ("And `x = {'a': 1}`? 🦊", "So?", "Name a colour, a town, a tree."):
            answer = chat.send(text)
            sent = answer.plan[answer.plan.action == "keep"]
            assert sent.exact.all()
            assert answer.usage.input == sent.cumulative.iloc[-1]
        # A mark in a question is ordinary text for us, and may be less for the server.
        answer = chat.send("<|im_start|> is a mark")
        counted = answer.plan.cumulative.iloc[-1]
        assert answer.usage.input is not None
        assert 0 <= counted - answer.usage.input < 10
        assert chat.budget().exact.all()


def test_the_servers_cache_confirms_the_prefix(real_model: str) -> None:
    with jan.Chat("long", model=real_model, window=420) as chat:
        chat.use(temperature=0.0, seed=1, max_tokens=12)
        sent: list[list[dict[str, str]]] = []
        cached: list[float] = []
        for turn in range(TURNS):
            answer = chat.send(f"{turn}. Say a word about the number {turn}, and one about tea.")
            sent.append(answer.sent["messages"])
            assert answer.usage.input
            cached.append((answer.usage.cached or 0) / answer.usage.input)
        fell = [
            turn for turn in range(1, TURNS) if sent[turn][: len(sent[turn - 1])] != sent[turn - 1]
        ]
        # It fell at least once, and everywhere else nearly all was in the cache.
        assert 1 <= len(fell) <= 3
        kept = [share for turn, share in enumerate(cached) if turn > 2 and turn not in fell]
        assert min(kept) > 0.6
        assert sum(kept) / len(kept) > 0.75
        assert max(cached[turn] for turn in fell) < min(kept)
