"""OpenAI's speech API as values: ``POST /v1/audio/speech``, ``GET /v1/models``, and the list of voices.

Source: OpenAI's API reference, "Create speech", as of its Python client 3.57 (``SpeechCreateParams``). Where it is
silent, ours is stricter or laxer for a reason:

- ``model`` and ``voice`` may be left out, null or empty: the default voice speaks;
- our own fields (:mod:`yuliu.wire.synthesis_options`, lexicons) are strict: a wrong value is an error, never a guess;
- fields we do not know are ignored (clients of other servers send many), ``instructions`` is checked and unused;
- a key that stands twice, NaN, and half a surrogate pair are rejected, since two readers would read them differently.

Events, for ``stream_format: "sse"``, are in :mod:`yuliu.wire.openai_events`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from msgspec import Struct

from yuliu.audio.formats import FORMATS, FormatName
from yuliu.errors import InvalidRequest, NothingToSpeak
from yuliu.text.lexicon import Entry
from yuliu.wire.encoding import encoding_asked_for
from yuliu.wire.faults import must
from yuliu.wire.lexicons import entries_of, entry_names
from yuliu.wire.response_bodies import ListedVoice, ModelEntry, ModelList, VoiceList, json_body
from yuliu.wire.schema import Schema
from yuliu.wire.strict_json import MEDIA_TYPE, media_type
from yuliu.wire.synthesis_options import SpeedField, SynthesisFields, SynthesisOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.audio.formats import Encoding
    from yuliu.types import Lang

StreamFormat = Literal["audio", "sse"]
STREAM_FORMATS: tuple[StreamFormat, ...] = get_args(StreamFormat)
DEFAULT_FORMAT: FormatName = "mp3"
"""OpenAI's, as is the rate of bare samples:"""
PCM_RATE = 24_000
"""Hz of ``pcm`` where no rate is asked for, whatever the voice's: OpenAI's clients take it for granted."""
CODECS: Mapping[FormatName, str] = {
    "mp3": "mp3",
    "opus": "opus",
    "aac": "aac",
    "flac": "flac",
    "wav": "pcm_s16le",
    "pcm": "pcm_s16le",
    "webm": "opus",
    "mp4": "opus",
    "mulaw": "pcm_mulaw",
    "alaw": "pcm_alaw",
}
"""Codec of each format, by FFmpeg's names; sent as ``X-Encoding``."""
MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15", "yuliu")
"""Model names that stand for whatever is loaded."""
ALIASES = frozenset(
    "alloy ash ballad coral echo fable nova onyx sage shimmer verse marin cedar".split()  # noqa: SIM905 - thirteen names
)
"""OpenAI's voices, which many clients insist on; they stand for the default voice."""


@dataclass(frozen=True, slots=True)
class SpeechLimits:
    """Limits of one request."""

    max_characters: int = 200_000
    """Code points of ``input``: about ten hours of speech in Mandarin, three in English."""
    max_body_bytes: int = 2_621_440
    """Bytes of the body: enough for ``max_characters`` of any script, in UTF-8 or JSON escapes."""


class SpeechRequest(Struct, frozen=True):
    """A text to speak, with its options. The ``repr`` does not show the text."""

    input: str
    """Not empty; whether it holds anything that can be said is for the voice to find out."""
    model: str | None = None
    voice: str | None = None
    response_format: FormatName = DEFAULT_FORMAT
    speed: float = 1.0
    """From 0.25 to 4."""
    stream_format: StreamFormat = "audio"
    """``sse`` for events, else the bare sound."""
    stream: bool = True
    """True if the sound is sent while it is made; else it is sent whole, with its true sizes."""
    sample_rate: int | None = None
    """Hz; None takes the voice's, or the next that the format can carry."""
    channels: int = 1
    """1, or 2 for the same sound on both sides."""
    kbps: int | None = None
    """Bit rate in thousands of bits a second, for lossy formats."""
    lexicon: tuple[str, ...] = ()
    """Names of lexicons, the strongest last."""
    lexicon_entries: tuple[Entry, ...] = ()
    """Entries for this text alone."""
    manner: SynthesisOptions = SynthesisOptions()
    """Class, weight, preset and the like."""

    def __repr__(self) -> str:
        """Return the request without its text."""
        return f"SpeechRequest(model={self.model!r}, voice={self.voice!r}, response_format={self.response_format!r})"


class VoiceObject(Struct, frozen=True):
    """A voice as OpenAI's custom voices are named."""

    id: str
    """Name of the voice."""


class SpeechBody(SynthesisFields, frozen=True, kw_only=True):
    """Body of a speech request. Null counts as left out, as do empty names; unknown fields are ignored."""

    input: Annotated[str, must("a string: the text to be spoken", extra_json_schema={"minLength": 1})]
    """The text to be spoken."""
    model: str | None = None
    """One of OpenAI's models, which stand for whatever is loaded, or a voice."""
    voice: Annotated[str | VoiceObject | None, must("a name or an object with an 'id'")] = None
    """Name of a voice; OpenAI's names stand for the default voice."""
    instructions: str | None = None
    """Checked and not used."""
    response_format: Annotated[FormatName | Literal[""] | None, must(f"one of {', '.join(FORMATS)}")] = None
    """Format of the sound; ``mp3`` if left out."""
    speed: SpeedField | None = None
    """Pace; 1 is the voice's own."""
    stream_format: Annotated[
        StreamFormat | Literal[""] | None, must(f"one of {', '.join(STREAM_FORMATS)}; both stream")
    ] = None
    """``audio`` for the bare sound, ``sse`` for server-sent events."""
    stream: bool | None = None
    """``false`` sends the sound whole; else it is sent while it is made."""
    sample_rate: int | None = None
    """Sample rate, Hz; the voice's if left out, or the next that the format can carry."""
    channels: int | None = None
    """1, or 2 for the same sound on both sides."""
    kbps: int | None = None
    """Bit rate in thousands of bits a second, for lossy formats."""

    def request(self, max_characters: int, headers: Mapping[str, str]) -> SpeechRequest:
        """Return the request.

        Raises:
            InvalidRequest: The text is empty or too long, fields contradict each other, or a header is wrong.
        """
        self._check(max_characters)
        return SpeechRequest(
            self.input,
            self.model or None,
            (self.voice.id if isinstance(self.voice, VoiceObject) else self.voice) or None,
            self.response_format or DEFAULT_FORMAT,
            1.0 if self.speed is None else self.speed,
            self.stream_format or STREAM_FORMATS[0],
            self.stream is not False,
            self.sample_rate,
            1 if self.channels is None else self.channels,
            self.kbps,
            entry_names(self.lexicon),
            entries_of(self.lexicon_entries),
            self.manner(headers),
        )

    def _check(self, max_characters: int) -> None:
        if not self.input:
            raise NothingToSpeak("'input' is empty", param="input")
        if len(self.input) > max_characters:
            message = f"'input' has {len(self.input)} characters; at most {max_characters} are taken at once"
            raise InvalidRequest(message, param="input")
        if self.stream is False and self.stream_format == "sse":
            raise InvalidRequest("events are a stream; leave out 'stream' or 'stream_format'", param="stream")


_BODY: Schema[SpeechBody] = Schema(SpeechBody, what="the request body")


@dataclass(frozen=True, slots=True)
class VoiceEntry:
    """A voice as it is listed."""

    name: str
    languages: tuple[Lang, ...]
    sample_rate: int
    """Hz."""
    is_default: bool = False


def parse_speech(
    body: bytes, content_type: str | None, limits: SpeechLimits, *, headers: Mapping[str, str] | None = None
) -> SpeechRequest:
    """Return the request in a body.

    Args:
        body: As received, any bytes.
        content_type: The header's value, None if there was none. It must say JSON: a web page can send anything
            else to a server on its visitor's machine without asking.
        limits: Limits of the request.
        headers: The request's, by lower-case name; class and weight may stand there.

    Raises:
        InvalidRequest: Something is wrong, with ``param`` naming the field if one is to blame. Nothing else is raised.
    """
    if media_type(content_type) != MEDIA_TYPE:
        raise InvalidRequest("send the request as JSON, with the header 'Content-Type: application/json'")
    if len(body) > limits.max_body_bytes:
        raise InvalidRequest(f"the request body must be at most {limits.max_body_bytes} bytes")
    return _BODY.decode(body).request(limits.max_characters, headers or {})


def check_model(model: str | None, voices: Sequence[str]) -> None:
    """Refuse an unknown model.

    Args:
        model: What the request names; None names none.
        voices: Names of the loaded voices, which some clients can only give here.

    Raises:
        InvalidRequest: ``model`` is neither a model that is taken for ours nor a loaded voice.
    """
    if model is not None and model not in (*MODELS, *voices):
        raise InvalidRequest(f"no such model; there are {', '.join((*MODELS, *voices))}", param="model")


def speech_encoding(request: SpeechRequest, source_rate: int) -> Encoding:
    """Return the encoding of the sound of a request.

    Args:
        request: The request.
        source_rate: The voice's, Hz.

    Raises:
        InvalidRequest: The format cannot be had at such a rate, channels or bit rate; ``param`` names the field.
    """
    sample_rate = request.sample_rate
    if sample_rate is None and request.response_format == "pcm":
        sample_rate = PCM_RATE
    return encoding_asked_for(
        request.response_format,
        source_rate,
        field="response_format",
        sample_rate=sample_rate,
        channels=request.channels,
        kbps=request.kbps,
    )


def models_body(voices: Sequence[VoiceEntry]) -> bytes:
    """Return OpenAI's list of models: the names that stand for any voice, and each voice."""
    return json_body(ModelList(data=tuple(map(ModelEntry, _model_names(voices)))))


def model_body(name: str, voices: Sequence[VoiceEntry]) -> bytes | None:
    """Return one entry of the list of models; None if there is no such model."""
    return json_body(ModelEntry(name)) if name in _model_names(voices) else None


def voices_body(voices: Sequence[VoiceEntry], *, names_only: bool = False) -> bytes:
    """Return the list of voices, which OpenAI does not have: objects, or the bare names that older clients expect."""
    if names_only:
        return json_body(VoiceList(tuple(voice.name for voice in voices)))
    listed = (ListedVoice(each.name, each.name, each.languages, each.sample_rate, each.is_default) for each in voices)
    return json_body(VoiceList(tuple(listed)))


def _model_names(voices: Sequence[VoiceEntry]) -> list[str]:
    return [*MODELS, *(voice.name for voice in voices)]
