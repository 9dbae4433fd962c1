"""`%%chat` asks, `%chat VERB` does everything else."""

import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets import CUnicode, Enum, TraitError, TraitType, Unicode, validate

from jan_magics.magics.arguments import HelpAsked, make_parser, parse
from jan_magics.magics.commands import ASKING, VERBS
from jan_magics.magics.line import for_reader, stopped_for_reader
from jan_magics.magics.loading import load

if TYPE_CHECKING:
    from jan_magics.api.answer import Answer


def fault_of_setting(name: str, value: object) -> str:
    """Say why a value cannot be that setting, "" where it can; an empty one takes it back."""
    from jan_magics.domain.errors import SettingError
    from jan_magics.engine.setting_list import BY_NAME
    from jan_magics.engine.settings import checked

    try:
        checked(BY_NAME[_setting_of(name)], value, "%config") if value else None
    except SettingError as fault:
        return str(fault)
    return ""


def _setting_of(trait: str) -> str:
    """Return the setting that `%config` spells so: there a dot would be an attribute."""
    return f"rag.{trait.removeprefix('rag_')}" if trait.startswith("rag_") else trait


def _is_ours(error: BaseException) -> bool:
    """Tell whether a verb or a turn of ours failed: its error says itself what to do."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is JanMagics.chat.__code__ for frame, _ in frames)


_ROUTERS: Final = ("", "keywords", "embedder", "model", "off")


@magics_class
class JanMagics(Magics):
    """Settings of this notebook: `%config JanMagics.model = "provider:name"`."""

    model = Unicode("", help="who answers: provider:name, or https://host/v1#name").tag(config=True)
    thread = Unicode("", help="the thread that cells write to").tag(config=True)
    assistant = Unicode("", help="as whom threads answer that have no assistant").tag(config=True)
    titles = Enum(["", "panel", "auto", "off"], "", help="which threads get a title").tag(
        config=True
    )
    data_folder = Unicode("", help="where threads are kept").tag(config=True)
    store = Unicode("", help="how threads are kept: sqlite, jsonl, or postgresql://…").tag(
        config=True
    )
    notebook = Unicode("", help="the path of this notebook").tag(config=True)
    rerun = Enum(["", "branch", "reuse", "append"], "", help="what running a cell again does").tag(
        config=True
    )
    gguf = Unicode("", help="a model file for a local llama-server").tag(config=True)
    display = Enum(["", "stream", "once"], "", help="stream: live; once: at the end").tag(
        config=True
    )
    overflow = Enum(["", "trim", "compact", "error"], "", help="when history does not fit").tag(
        config=True
    )
    strategy = Enum(["", "recent", "relevance"], "", help="what trimming keeps").tag(config=True)
    preset = Enum(["", "jan", "devflow", "chatbox"], "", help="values for the budget").tag(
        config=True
    )
    tokenizer = Enum(["", "auto", "estimate", "chars/3.5"], "", help="how tokens are counted").tag(
        config=True
    )
    tool_router = Enum(_ROUTERS, "", help="how tools are chosen").tag(config=True)
    language = Enum(["", "en", "zh"], "", help="the language of footers and summaries").tag(
        config=True
    )
    window = CUnicode("", help="the context window in tokens; 0: no limit").tag(config=True)
    reserve_output = CUnicode("", help="tokens kept back for the answer").tag(config=True)
    safety = CUnicode("", help="the share of the input that is filled").tag(config=True)
    warn = CUnicode("", help="the share of history that the footer warns at").tag(config=True)
    compact_at = CUnicode("", help="the share of history that is compacted").tag(config=True)
    compact_to = CUnicode("", help="the share that a compaction leaves").tag(config=True)
    trim_at = CUnicode("", help="the share of history that is trimmed").tag(config=True)
    trim_to = CUnicode("", help="the share that trimming falls to").tag(config=True)
    keep = CUnicode("", help="turns that a compaction leaves word for word").tag(config=True)
    replay = Unicode("", help="a cassette that answers instead of models").tag(config=True)
    replay_pace = Enum(["", "instant", "recorded"], "", help="how fast it answers").tag(config=True)
    embedder = Unicode("", help="who makes vectors for new collections").tag(config=True)
    index = Enum(
        ["", "auto", "numpy", "bits", "vec0", "hnsw", "hnsw-half"], "", help="who finds neighbours"
    ).tag(config=True)
    fusion = Enum(["", "convex", "rrf"], "", help="how words and vectors become one score").tag(
        config=True
    )
    sqlite_vec = Unicode("", help="the library of sqlite-vec").tag(config=True)
    attach = Enum(["", "auto", "inline", "embeddings"], "", help="where attached texts go").tag(
        config=True
    )
    project = Unicode("", help="the project whose collection notebooks share").tag(config=True)
    rag_enabled = CUnicode("", help="off: no collections, no retrieval tools").tag(config=True)
    rag_max_file_mb = CUnicode("", help="the largest file that is read, in MB").tag(config=True)
    rag_retrieval_limit = CUnicode("", help="chunks that the model's tool returns").tag(config=True)
    rag_threshold = CUnicode("", help="the least cosine for the model's tool").tag(config=True)

    SETTINGS: ClassVar[tuple[str, ...]] = tuple(
        name for name, trait in list(vars().items()) if isinstance(trait, TraitType)
    )

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.failure: tuple[str, BaseException] | None = None
        self.failed_in: str | None = None

    @validate(*SETTINGS)
    def _usable(self, proposal: Any) -> object:
        name, value = proposal["trait"].name, proposal["value"]
        if fault := fault_of_setting(name, value):
            raise TraitError(fault)
        return value

    def configured(self) -> Mapping[str, object]:
        """Return the settings that `%config` or a config file gave."""
        found = {name: value for name in self.SETTINGS if (value := getattr(self, name))}
        return {_setting_of(name): value for name, value in found.items()}

    def remember_failure(self, result: Any) -> None:
        """Remember the newest cell that failed, for `%chat fix`, until it runs well."""
        error = result.error_in_exec or result.error_before_exec
        code, cell = result.info.raw_cell or "", getattr(result.info, "cell_id", None)
        if error is not None and not _is_ours(error):
            self.failure = (code, error)
            self.failed_in = cell
        elif error is None and self.failure and (cell or code) in (self.failed_in, self.failure[0]):
            self.failure = None

    @no_var_expand
    @line_cell_magic("chat")  # type: ignore[arg-type]  # its stub takes no methods
    def chat(self, line: str, cell: str | None = None) -> object:
        r"""Ask a language model.

        ::

            %%chat                         the cell is the prompt
            Why is the sky blue?

            %%chat -m ollama:llama3 -o a   flags go on the first line
            Sum up {{ text }} in two sentences.

            %chat ask why is it dark?      a prompt on the line
            %chat threads                  %chat help lists the verbs

        ``{{ expression }}`` is replaced by its value; single braces are text. Running ``%%chat``
        returns an ``Answer``, also in ``_``. ``%%chat --help`` lists the flags.
        """
        try:
            load()
            if cell is None:
                from jan_magics.magics.verbs import run_verb

                return for_reader(run_verb(self, line))
            return self._ask(line, cell)
        except KeyboardInterrupt as interrupt:
            # Also what came while libraries were loaded, before there was a turn to stop.
            raise stopped_for_reader(interrupt, "no answer yet") from None
        except HelpAsked as asked:
            print(asked)
            return None

    @no_var_expand
    @line_cell_magic("jan")  # type: ignore[arg-type]  # its stub takes no methods
    def jan(self, line: str, cell: str | None = None) -> object:
        """Ask a language model; the same as `%%chat` and `%chat`."""
        return self.chat(line, cell)

    def _ask(self, line: str, cell: str) -> "Answer | object":
        parsed = parse(
            make_parser("%%chat", "The cell is the prompt.", ASKING, ("[MODEL|THREAD]",)), line
        )
        if not cell.strip() and not parsed.attach:
            raise UsageError("%%chat: the cell below the line is empty; write the prompt there")
        word = parsed.model_or_thread
        if word in {verb.name for verb in VERBS}:
            raise UsageError(
                f"%%chat: {word!r} is a verb, and has a line of its own: %chat {word}\n"
                f"For a thread of that name: %%chat -t {word}"
            )
        from jan_magics.magics.asking import ask

        return ask(self.shell, parsed, cell.rstrip("\n"))
