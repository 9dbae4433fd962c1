"""Magic lines: flags, words, free text, and what people type by mistake."""

import re

import pytest
from IPython.core.error import UsageError

from jan_magics.domain.errors import KeyRefused
from jan_magics.magics.arguments import HelpAsked, Parser, make_parser, parse, parse_with_text
from jan_magics.magics.commands import ASKING, STICKY, VERBS, Verb
from jan_magics.magics.meanings import MEANINGS
from jan_magics.magics.rag_commands import RAG_VERBS
from jan_magics.magics.topics import help_text
from jan_magics.magics.verbs import verb_parser
from jan_magics.magics.words import words

CHAT_FLAGS = (
    "--again --assistant --at --attach --background --collection --concurrency --dry-run --grid "
    "--literal --map --max-cost --max-steps --max-tokens --model --needle --no-history "
    "--no-stream --overflow --prefix --query --reuse --schema --send-anyway --system --temperature "
    "--thread --threshold --to-cell --tools --window --yes -P -a -c -f -k -m -o -q -s -t"
)
VERB_NAMES = (
    "ask assistants budget clear compact config delete diff doctor drop export find fix go help "
    "import key leaks mark models new plan record rename replay resume retry show stop store "
    "threads tools tree undo use version"
)


def cell_parser() -> Parser:
    return make_parser("%%chat", "", ASKING, ("[MODEL|THREAD]",))


def line_parser(name: str) -> Parser:
    verb = next(each for each in VERBS if each.name == name)
    return make_parser(f"%chat {name}", verb.summary, verb.flags, verb.words)


def test_flags_are_those_of_the_surface() -> None:
    assert sorted(name for flag in ASKING for name in flag.names) == CHAT_FLAGS.split()


def test_verbs_are_those_of_the_surface() -> None:
    assert sorted(verb.name for verb in VERBS) == VERB_NAMES.split()


def test_what_sticks_is_who_where_how() -> None:
    sticky = {flag.key for flag in STICKY}
    assert sticky == {
        "model", "thread", "assistant", "system", "temperature", "max_tokens", "P", "window",
        "overflow", "tools", "max_steps", "collection", "k", "threshold",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("-m ollama:llama3", "model", "ollama:llama3"),
        ("-t notes", "thread", "notes"),
        ("-t 'my notes: two'", "thread", "my notes: two"),
        ("-i notes", "thread", "notes"),
        ("--chat_id notes", "thread", "notes"),
        ("--temperature 0.2", "temperature", 0.2),
        ("--temperature=0.2", "temperature", 0.2),
        ("--max-tokens 0", "max_tokens", 0),
        ("-a poet", "assistant", "poet"),
        ("-s '-be brief'", "system", "-be brief"),
        ("-s 中文🦊", "system", "中文🦊"),
        ("-P top_k=40 -P 'stop=[\"a\"]'", "P", [("top_k", 40), ("stop", ["a"])]),
        ("-P mode=fast", "P", [("mode", "fast")]),
        (
            '-P response_format={"type":"json_object"}',
            "P",
            [("response_format", {"type": "json_object"})],
        ),
        (
            '-P response_format={"type": "json_object", "名": ["a b"]} -q',
            "P",
            [("response_format", {"type": "json_object", "名": ["a b"]})],
        ),
        ('-P stop=["a b", "c"] -P top_k=3', "P", [("stop", ["a b", "c"]), ("top_k", 3)]),
        ("-P stop=[END]", "P", [("stop", "[END]")]),
        (
            "-P chat_template='{% for m in messages %}'",
            "P",
            [("chat_template", "{% for m in messages %}")],
        ),
        ("-P model=null -P window=None", "P", [("model", None), ("window", None)]),
        ("-s =5", "system", "=5"),
        ("-s ''", "system", ""),
        ('-s {"a": "b c"}', "system", '{"a": "b c"}'),
        ("-t 12345", "thread", "12345"),
        ("-t 2024", "thread", "2024"),
        ("-P top_p=None -P top_k=null", "P", [("top_p", None), ("top_k", None)]),
        ("-P cache_prompt=True", "P", [("cache_prompt", True)]),
        ("-P 'x=\"inf\"'", "P", [("x", "inf")]),
        ("-P 'top_k={{ k }}'", "P", [("top_k", "{{ k }}")]),
        ("ollama:llama3", "model_or_thread", "ollama:llama3"),
        ("--no-history", "no_history", True),
        ("--window 4096 --overflow error", "window", 4096),
        ("--tools get_weather,天气", "tools", ("get_weather", "天气")),
        ("--tools none", "tools", ()),
        ("--max-steps 3", "max_steps", 3),
        ("--yes", "yes", True),
        (
            "--grid overflow=trim,compact --grid window=2000",
            "grid",
            [("overflow", ["trim", "compact"]), ("window", [2000])],
        ),
        (
            '--grid response_format={"type": "text", "a": 1},{"type": "json_object"}',
            "grid",
            [("response_format", [{"type": "text", "a": 1}, {"type": "json_object"}])],
        ),
        ("", "no_history", False),
    ],
)
def test_flags_are_read(line: str, name: str, value: object) -> None:
    assert getattr(parse(cell_parser(), line), name) == value


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("-t 0.2", "--temperature 0.2"),
        ("-t 1,5", "--temperature 1.5"),
        ("-t 3.5", "--temperature X, from 0 to 2"),
        ("-m ''", "no model is named; write provider:name"),
        ("-P =3", "'=3' is not key=value, like top_p=0.9"),
        ("-P stream=false", "stream is no parameter; to see"),
        ("-P messages=[]", "messages is no parameter; the thread holds them"),
        ("-P model=x", "-m PROVIDER:NAME"),
        ("-P tools=[]", "--tools NAME"),
        ("-P system=x", "-s TEXT"),
        ("-P window=500", "--window N"),
        ("-P ctx_len=500", "--window N"),
        ("-P 'model={{ m }}'", "-m PROVIDER:NAME"),
        ('-P response_format={"type":"json"', "begins as JSON does and is none"),
        ("-P response_format={'type':'json'}", "in double quotes"),
        ("--modle a:b", "closest: --model"),
        ("--temprature 1", "closest: --temperature"),
        ("--temp 1", "closest: --temperature"),
        ("--max-t 1", "closest: --max-tokens"),
        ("--no 1", "closest: --no-"),
        ("--zzz", "See: %%chat --help"),
        ("-m llama3", "write provider:name"),
        ("--temperature warm", "not a number"),
        ("--temperature 9", "temperature is a number from 0 to 2, not 9"),
        ("--temperature nan", "not nan"),
        ("-P top_p=3", "top_p is a number from 0 to 1, not 3"),
        ("-P max_tokens=-1", "max_tokens is a whole number from 0, not -1"),
        ("-P top_k=many", "top_k is a whole number from -1, not 'many'"),
        ("-P x=NaN", "NaN is no number that can be sent"),
        ("-P x=-inf", "-inf is no number that can be sent"),
        ("--max-tokens -1", "not a whole number"),
        ("-P nothing", "not key=value"),
        ("--overflow shrink", "choose from"),
        ("--window 2k", "not a whole number"),
        ("--grid window", "not key=a,b"),
        ("-m", "expected one argument"),
        ("-f html", "choose from"),
        ("a:b c:d", "one word too many"),
        ("-s what's", "column 8 is never closed"),
    ],
)
def test_mistakes_are_told_with_the_next_step(line: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(cell_parser(), line)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "line", ["-P api_key=abc", "-P apikey=abc", "-s sk-" + "a" * 30, "-P secret=1"]
)
def test_a_key_on_the_line_is_refused_and_not_repeated(line: str) -> None:
    with pytest.raises(KeyRefused) as caught:
        parse(cell_parser(), line)
    assert "%chat key" in str(caught.value)
    assert "aaaa" not in str(caught.value)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("why is the sky blue?", "why is the sky blue?"),
        ("it's Anna's \"cat\" isn't it", "it's Anna's \"cat\" isn't it"),
        ("-m a:b what  about   spaces?  ", "what  about   spaces?"),
        ("-s 'be brief' --no-history  don't", "don't"),
        ("--temperature 1 - a list - of things", "- a list - of things"),
        ("-5 + 3 is?", "-5 + 3 is?"),
        ("what is C:\\new\\table?", "what is C:\\new\\table?"),
        ("hi;", "hi;"),
        ("", ""),
        ("中文 {x} {{y}} $z", "中文 {x} {{y}} $z"),
    ],
)
def test_free_text_arrives_as_it_was_typed(line: str, text: str) -> None:
    assert parse_with_text(line_parser("ask"), line)[1] == text


def test_a_flag_after_the_text_is_an_error_that_says_so() -> None:
    with pytest.raises(UsageError, match=r"the flag -m stands inside the text.*%%chat cell"):
        parse_with_text(line_parser("ask"), "why is the sky blue? -m a:b")


def test_an_unknown_flag_before_the_text_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="closest: --model"):
        parse_with_text(line_parser("ask"), "--modle a:b why?")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_has_help(verb: object) -> None:
    name = getattr(verb, "name", "")
    with pytest.raises(HelpAsked) as caught:
        parse(line_parser(name), "--help")
    assert f"%chat {name}" in str(caught.value)


def test_every_word_of_a_verb_has_a_meaning() -> None:
    verbs = (*VERBS, *RAG_VERBS)
    names = {name.strip("[]…") for verb in verbs for name in (*verb.words, verb.text) if name}
    assert names | {"MODEL|THREAD"} == MEANINGS.keys()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_help_shows_every_word_and_no_escape(verb: Verb) -> None:
    text = help_text(verb.name)
    usage = " ".join(text.partition("\n\n")[0].split())
    for name in filter(None, (*verb.words, verb.text)):
        assert name.strip("…") in usage
        assert MEANINGS[name.strip("[]…")].split(":")[0] in " ".join(text.split())
    assert "%%chat assistants" not in text


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("shwo", "closest: show. List the verbs: %chat help"),
        ("assist", "closest: assistants"),
        ("nope", "no help on 'nope'. List the verbs: %chat help"),
    ],
)
def test_help_on_what_does_not_exist(topic: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        help_text(topic)


def test_rename_takes_one_name_or_two() -> None:
    one, two = parse(line_parser("rename"), "b"), parse(line_parser("rename"), "'a c' b")
    assert (one.old, one.new) == (None, "b")
    assert (two.old, two.new) == ("a c", "b")


def test_words_know_their_places() -> None:
    line = "-t 'a b'  c"
    assert [(word.text, line[word.start : word.end]) for word in words(line)] == [
        ("-t", "-t"),
        ("a b", "'a b'"),
        ("c", "c"),
    ]


@pytest.mark.parametrize(
    "line", ["go", "go 1 2", "go 1 --nope", "compact --keep x", "store --convert x", "drop", "mark"]
)
def test_a_line_that_cannot_be_read_says_where_help_is(line: str) -> None:
    name, _, rest = line.partition(" ")
    verb = next(each for each in VERBS if each.name == name)
    with pytest.raises(UsageError) as caught:
        parse(verb_parser(verb), rest)
    said, step = str(caught.value).splitlines()
    assert said.startswith(f"%chat {name}: ")
    assert step == f"See: %chat {name} --help"
