"""Every setting: its name, what it means, its default, what it can be. Data."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

SWITCH: Final = ("on", "off")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting; `foreign` = a project that came from elsewhere may set it too.

    `between`: the setting is a number from the one to the other, a whole one where both are whole.
    """

    name: str
    meaning: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    foreign: bool = True
    between: tuple[float, float] | None = None


SETTINGS: Final = (
    Setting("model", "who answers: provider:name, or https://host/v1#name"),
    Setting("thread", "the thread that cells write to"),
    Setting("assistant", "as whom a thread answers that has no assistant of its own"),
    Setting("data_folder", "where threads are kept", foreign=False),
    Setting("store", "how threads are kept; or in which database of a team:"
            " postgresql://host/database#schema", "sqlite", ("sqlite", "jsonl"), foreign=False),
    Setting("notebook", "the path of this notebook, where nothing else tells", foreign=False),
    Setting("rerun", "what running a cell again does", "branch", ("branch", "reuse", "append")),
    Setting("titles", "who gets a title made by its model: threads begun in the panel, all (auto), "
            "none (off)", "panel", ("panel", "auto", "off")),
    Setting("gguf", "a model file for a local llama-server", foreign=False),
    Setting("display", "stream: live; once: one stable display at the end", "stream",
            ("stream", "once")),
    Setting("overflow", "what is done when history does not fit: leave the oldest out (trim), "
            "summarise it (compact), or refuse (error); unset: trim", None,
            ("trim", "compact", "error")),
    Setting("strategy", "what trimming keeps: the newest (recent), or also rules and what is near "
            "the prompt (relevance)", "recent", ("recent", "relevance")),
    Setting("preset", "named values for all of the budget", None, ("jan", "devflow", "chatbox")),
    Setting("window", "the context window in tokens, where it is not the model's; 0: no limit",
            between=(0, 100_000_000)),
    Setting("reserve_output", "tokens kept back for the answer; unset: 2,048, at most a quarter of "
            "the window", between=(0, 100_000_000)),
    Setting("safety", "the share of the input that is filled; unset: 1 where tokens are counted "
            "exactly, else 0.85", between=(0.05, 1.0)),
    Setting("warn", "the share of history from which on the footer warns", between=(0.0, 1.0)),
    Setting("compact_at", "the share of history at which a compaction begins by itself",
            between=(0.05, 1.0)),
    Setting("compact_to", "the share of history that a compaction leaves", between=(0.0, 1.0)),
    Setting("trim_at", "the share of history at which trimming begins", between=(0.05, 1.0)),
    Setting("trim_to", "the share of history that trimming falls to", between=(0.05, 1.0)),
    Setting("keep", "turns that %chat compact leaves word for word", between=(0, 1000)),
    Setting("tokenizer", "how tokens are counted: by the server or the model's vocabulary, where "
            "there is one (auto), estimated, or as chars/3.5", "auto",
            ("auto", "estimate", "chars/3.5")),
    Setting("tool_router", "how tools are chosen where their schemas take over a tenth of the "
            "input, or come from several MCP servers: by words of the prompt (keywords), also by "
            "the embedder of this machine, by the model itself with a request of its own, or not "
            "(off)", "keywords", ("keywords", "embedder", "model", "off")),
    Setting("language", "the language of footers, views and summaries; unset: that of JupyterLab's "
            "page, and of a summary the thread's own", None, ("en", "zh")),
    Setting("replay", "a cassette, or a folder of them, that answers instead of models"),
    Setting("replay_pace", "how fast a cassette answers: at once (instant), or as it was recorded",
            "instant", ("instant", "recorded")),
    Setting("embedder", "who makes vectors for new collections; unset: the best that is installed, "
            "none: words only", foreign=False),
    Setting("index", "who finds neighbours: numpy in memory, sqlite-vec on the disk (vec0), or as "
            "their size asks (auto); among very many a bit a dimension (bits), which finds nearly "
            "all; of a collection in PostgreSQL the server (auto), or its graph "
            "(hnsw), which finds most of them, also in half precision (hnsw-half)", "auto",
            ("auto", "numpy", "bits", "vec0", "hnsw", "hnsw-half")),
    Setting("fusion", "how the scores of words and vectors become one", "convex",
            ("convex", "rrf")),
    Setting("sqlite_vec", "the library of sqlite-vec, where it is not beside its package",
            foreign=False),
    Setting("attach", "where attached texts go: whole into their question (inline), into a "
            "collection (embeddings), or as there is room (auto)", "auto",
            ("auto", "inline", "embeddings")),
    Setting("project", "the project whose collection its notebooks share"),
    Setting("rag.enabled", "off: nothing is read into collections and no retrieval tool offered",
            "on", SWITCH),
    Setting("rag.max_file_mb", "the largest file that is read, in MB", "100", between=(1, 200)),
    Setting("rag.retrieval_limit", "how many chunks the model's tool returns", "3",
            between=(1, 20)),
    Setting("rag.threshold", "the cosine below which the model's tool returns nothing", "0.3",
            between=(0.0, 1.0)),
)  # fmt: skip
BY_NAME: Final[Mapping[str, Setting]] = MappingProxyType({each.name: each for each in SETTINGS})


def variable_of(name: str) -> str:
    """Return the environment variable of a setting.

    >>> variable_of("rag.max_file_mb")
    'JAN_RAG_MAX_FILE_MB'
    """
    return "JAN_" + trait_of(name).upper()


def trait_of(name: str) -> str:
    """Return how `%config` spells a setting: a dot would be an attribute there.

    >>> trait_of("rag.enabled")
    'rag_enabled'
    """
    return name.replace(".", "_")
