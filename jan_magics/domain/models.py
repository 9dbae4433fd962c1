"""Who answers and what is sent: models, options, requests, usage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json, Message

CapabilitySource: TypeAlias = Literal["declared", "probed", "learned"]
Purpose: TypeAlias = Literal["turn", "title", "compaction", "map", "embedding"]
"""What a request is for; where several wait for one server, those named first go first."""
SENDS: Final = 4
"""How often the request of a step goes out at most, over all causes."""
PATIENT: Final = 8
"""How often one of a map does: nobody waits for a single row."""
SystemPlaces: TypeAlias = Literal["any", "first", "none"]
"""Where system messages may stand: anywhere, one at the beginning, or nowhere."""
Resent: TypeAlias = Literal["never", "signed", "always"]
"""Which reasoning of earlier answers is sent again; signed is what its provider marked."""
Schemas: TypeAlias = Literal["never", "alone", "always"]
"""Whether a server holds answers to a schema; alone: not where tools are offered too."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model by name: `provider:name`, or `https://host/v1#name` for any OpenAI-like host."""

    provider: str
    name: str
    address: str | None = None

    def __str__(self) -> str:
        return f"{self.address}#{self.name}" if self.address else f"{self.provider}:{self.name}"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model; `window` in tokens, None where nobody says.

    `lacks` are capabilities that it is known not to have.
    """

    ref: ModelRef
    window: int | None = None
    capabilities: Mapping[str, CapabilitySource] = field(default_factory=dict)
    loaded: bool | None = None
    lacks: Mapping[str, CapabilitySource] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it: a name, a sentence, a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The form of an answer: the JSON schema of an object, under a name that every wire takes.

    `wrapped`: what is wanted is no object, and stands under `value` in one.
    """

    name: str
    body: Mapping[str, Json]
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Parameters of one request; None = the server's own default. `timeout` is between bytes.

    `think` False: no reasoning, where the server knows how to leave it out.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    timeout: float | None = None
    think: bool | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything that is sent; `stable` = how many leading messages the next turn repeats.

    `window` is the context window in tokens that somebody asked for, None for the model's own;
    `sends` is how often it may go out. `schema` is what the server holds the answer to. `anyway`:
    it is sent also with a key in it. `at_once` is how many the user wants to be under way at a
    time, 0: as many as the server's limiter has places.
    """

    model: ModelRef
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    options: ChatOptions = field(default_factory=ChatOptions)
    stable: int = 0
    window: int | None = None
    purpose: Purpose = "turn"
    sends: int = SENDS
    schema: AnswerSchema | None = None
    anyway: bool = False
    at_once: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a turn as the server counted them; None = not said."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of a turn, and the decode speed in tokens per second; None = not known."""

    load: float | None = None
    first_token: float | None = None
    prefill: float | None = None
    decode: float | None = None
    total: float | None = None
    tokens_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider's wire takes of a history.

    A capability is None where nobody knows; what it is for is sent then. `alternating`: question
    and answer take turns, and a question never follows a tool result. `waves`: tool calls and their
    results are messages of their own on the wire. `unique_calls`: no id of a tool call comes twice
    in a request. `call_ids` is the pattern of a whole id; nine small letters and digits always fit.
    `media` is the pattern of the media types that are taken at all, in small letters; `image/*` is
    an image of unknown type. `addressed` are those that may be an address instead of bytes.
    `answer_files`: answers may hold files. `reasoning_with_calls`: only the reasoning of answers
    that have called tools is sent again. `calls_alone`: tool calls may be sent where no tools are
    offered. Names in characters. With `model` known, opaque data of any other model is left out.
    """

    name: str
    system: SystemPlaces = "first"
    alternating: bool = False
    waves: bool = True
    images: bool | None = None
    audio: bool | None = None
    video: bool | None = None
    files: bool | None = None
    tools: bool | None = None
    media: str = r".*"
    addressed: str = r".*"
    answer_files: bool = False
    reasoning: Resent = "never"
    reasoning_with_calls: bool = False
    unique_calls: bool = False
    calls_alone: bool = True
    call_ids: str = r"[A-Za-z0-9_-]{1,40}"
    longest_tool_name: int = 64
    longest_file_name: int = 255
    model: ModelRef | None = None
    schemas: Schemas = "never"


_PICTURES: Final = r"image/(png|jpe?g|gif|webp|\*)"
STRICT_OPENAI: Final = Profile(
    "strict OpenAI",
    system="any",
    media=rf"{_PICTURES}|audio/(mpeg|mp3|wav|wave|x-wav)|application/pdf",
    addressed=r"image/.*",
)
ANTHROPIC: Final = Profile(
    "Anthropic",
    media=rf"{_PICTURES}|application/pdf",
    reasoning="signed",
    unique_calls=True,
    calls_alone=False,
)
GEMINI: Final = Profile("Gemini", alternating=True, answer_files=True, reasoning="signed")
ALTERNATING: Final = Profile("alternating template", alternating=True, files=False)


def plain_address(text: str) -> str:
    """Return an address with its scheme in small letters and no slash at the end.

    >>> plain_address("HTTPS://Host/V1/")
    'https://Host/V1'
    """
    scheme, slashes, rest = text.strip().partition("://")
    return f"{scheme.lower()}://{rest.rstrip('/')}" if slashes else text.strip()


def parse_model(text: str) -> ModelRef:
    """Read `provider:name` or `https://host/v1#name`.

    Raises:
        SettingError: when the text is neither.
    """
    if plain_address(text).startswith(("http://", "https://")):
        address, _, name = text.partition("#")
        address = plain_address(address)
        if "?" in address:
            # Where others put a key: the address is shown and stored, so it must not hold one.
            raise SettingError(
                "the address of a model ends before its ?",
                "Leave the rest out, and store a key: %chat key https://HOST",
            )
        if address.endswith("://"):
            raise SettingError(
                f"{text!r} names no server", "Write the whole address: https://HOST/v1#MODEL"
            )
        if not name:
            raise SettingError(
                f"{text!r} names a server but no model",
                f"Write the model behind it: {address}#NAME",
            )
        return ModelRef("custom", name, address)
    provider, colon, name = text.partition(":")
    if not colon or not provider or not name:
        raise SettingError(
            f"{text!r} is no model name", "Write provider:name; list them with: %chat models"
        )
    return ModelRef(provider.lower(), name)
