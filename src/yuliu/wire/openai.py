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

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast, get_args

from yuliu.audio.formats import FORMATS, FormatName
from yuliu.errors import InvalidRequest, NothingToSpeak, UnknownVoice
from yuliu.types import MAX_SPEED, MIN_SPEED
from yuliu.wire.encoding import encoding_asked_for
from yuliu.wire.lexicons import parse_entries, parse_names
from yuliu.wire.strict_json import MEDIA_TYPE, check_flag, check_number, check_text, media_type, read_object
from yuliu.wire.synthesis_options import SynthesisOptions, parse_synthesis_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.audio.formats import Encoding
    from yuliu.text.lexicon import Entry
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
"""What is in the formats, by FFmpeg's names; told as ``X-Encoding``."""
MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15", "yuliu")
"""Model names that stand for whatever is loaded."""
ALIASES = frozenset(
    "alloy ash ballad coral echo fable nova onyx sage shimmer verse marin cedar".split()  # noqa: SIM905 - thirteen names
)
"""OpenAI's voices, which many clients insist on; they stand for the default voice."""


@dataclass(frozen=True, slots=True)
class SpeechLimits:
    """How much one request may hold."""

    max_characters: int = 200_000
    """Code points of ``input``: about ten hours of speech in Mandarin, three in English."""
    max_body_bytes: int = 2_621_440
    """Bytes of the body: enough for ``max_characters`` of any script, in UTF-8 or JSON escapes."""


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """What is to be spoken, and how. Its ``repr`` does not show the text."""

    input: str = field(repr=False)
    """Not empty; whether it holds anything that can be said is for the voice to find out."""
    model: str | None = None
    voice: str | None = None
    response_format: FormatName = DEFAULT_FORMAT
    speed: float = 1.0
    """From 0.25 to 4."""
    stream_format: StreamFormat = "audio"
    """``sse`` for events, else the bare sound."""
    stream: bool = True
    """Whether the sound is sent while it is made; else it is sent whole, with its true sizes. Ours."""
    sample_rate: int | None = None
    """Hz; None takes the voice's, or the next that the format can carry. Ours."""
    channels: int = 1
    """1, or 2 for the same sound on both sides. Ours."""
    kbps: int | None = None
    """Thousands of bits a second, for formats that give up something for size. Ours."""
    lexicon: tuple[str, ...] = ()
    """Names of lexicons, the strongest last. Ours."""
    lexicon_entries: tuple[Entry, ...] = field(default=(), repr=False)
    """Entries for this text alone. Ours."""
    manner: SynthesisOptions = field(default_factory=SynthesisOptions)
    """Class, weight, preset and the like. Ours."""


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
    """Read the body of a speech request.

    Args:
        body: As received, any bytes.
        content_type: The header's value, None if there was none. It must say JSON: a web page can send anything
            else to a server on its visitor's machine without asking.
        limits: What is still accepted.
        headers: The request's, by lower-case name; class and weight may stand there.

    Raises:
        InvalidRequest: Something is wrong, with ``param`` naming the field if one is to blame. Nothing else is raised.
    """
    if media_type(content_type) != MEDIA_TYPE:
        raise InvalidRequest("send the request as JSON, with the header 'Content-Type: application/json'")
    if len(body) > limits.max_body_bytes:
        raise InvalidRequest(f"the request body must be at most {limits.max_body_bytes} bytes")
    fields = read_object(body, what="the request body")
    _optional_text(fields, "instructions")
    return SpeechRequest(
        input=_input(fields, limits.max_characters),
        model=_optional_text(fields, "model"),
        voice=_voice(fields),
        response_format=_response_format(fields),
        speed=_speed(fields),
        stream_format=_stream_format(fields),
        stream=_stream(fields),
        sample_rate=_whole(fields, "sample_rate"),
        channels=1 if (channels := _whole(fields, "channels")) is None else channels,
        kbps=_whole(fields, "kbps"),
        lexicon=parse_names(fields.get("lexicon")),
        lexicon_entries=parse_entries(fields.get("lexicon_entries")),
        manner=parse_synthesis_options(fields, headers or {}),
    )


def choose_voice(request: SpeechRequest, voices: Sequence[str], default: str) -> str:
    """Which of the loaded voices speaks.

    A loaded voice that is named as ``voice`` wins; then one that is named as ``model`` (some clients know no other
    place); OpenAI's names and no name at all mean the default.

    Raises:
        UnknownVoice: ``voice`` names neither a loaded voice nor one of OpenAI's.
        InvalidRequest: ``model`` names neither a model that is taken for ours nor a loaded voice.
    """
    if request.model is not None and request.model not in (*MODELS, *voices):
        raise InvalidRequest(f"no such model; there are {', '.join((*MODELS, *voices))}", param="model")
    if request.voice in voices:
        return cast("str", request.voice)
    if request.voice is not None and request.voice not in ALIASES:
        raise UnknownVoice(f"no such voice is loaded; there are {', '.join(voices)}", param="voice")
    return request.model if request.model is not None and request.model in voices else default


def speech_encoding(request: SpeechRequest, source_rate: int) -> Encoding:
    """What the sound of a request is sent as.

    Args:
        request: What was asked for.
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
    """OpenAI's list of models: the names that stand for any voice, and each voice."""
    names = [*MODELS, *(voice.name for voice in voices)]
    return _dump({"object": "list", "data": [_model(name) for name in names]})


def model_body(name: str, voices: Sequence[VoiceEntry]) -> bytes | None:
    """One entry of the list of models; None if there is no such model."""
    names = [*MODELS, *(voice.name for voice in voices)]
    return _dump(_model(name)) if name in names else None


def voices_body(voices: Sequence[VoiceEntry], *, names_only: bool = False) -> bytes:
    """The list of voices, which OpenAI does not have: objects, or the bare names that older clients expect."""
    if names_only:
        return _dump({"voices": [voice.name for voice in voices]})
    return _dump(
        {
            "voices": [
                {
                    "id": voice.name,
                    "name": voice.name,
                    "languages": list(voice.languages),
                    "sample_rate": voice.sample_rate,
                    "default": voice.is_default,
                }
                for voice in voices
            ]
        }
    )


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "yuliu"}


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _optional_text(fields: Mapping[str, object], param: str) -> str | None:
    """A string; None if it is left out, null or empty."""
    value = fields.get(param)
    return None if value is None else check_text(value, param) or None


def _input(fields: Mapping[str, object], max_characters: int) -> str:
    value = fields.get("input")
    if value is None:
        raise InvalidRequest("'input', the text to be spoken, is missing", param="input")
    text = check_text(value, "input")
    if not text:
        raise NothingToSpeak("'input' is empty", param="input")
    if len(text) > max_characters:
        message = f"'input' has {len(text)} characters; at most {max_characters} are taken at once"
        raise InvalidRequest(message, param="input")
    return text


def _voice(fields: Mapping[str, object]) -> str | None:
    """A name, or OpenAI's ``{"id": name}``."""
    value = fields.get("voice")
    if isinstance(value, dict):
        if "id" not in value:
            raise InvalidRequest("'voice' must be a name or an object with an 'id'", param="voice")
        value = value["id"]
    return None if value is None else check_text(value, "voice") or None


def _response_format(fields: Mapping[str, object]) -> FormatName:
    name = _optional_text(fields, "response_format") or DEFAULT_FORMAT
    if name not in FORMATS:
        message = f"'response_format' must be one of {', '.join(FORMATS)}"
        raise InvalidRequest(message, param="response_format")
    return name


def _speed(fields: Mapping[str, object]) -> float:
    value = fields.get("speed")
    return 1.0 if value is None else check_number(value, "speed", MIN_SPEED, MAX_SPEED)


def _stream_format(fields: Mapping[str, object]) -> StreamFormat:
    name = _optional_text(fields, "stream_format") or STREAM_FORMATS[0]
    if name not in STREAM_FORMATS:
        message = f"'stream_format' must be one of {', '.join(STREAM_FORMATS)}; both stream"
        raise InvalidRequest(message, param="stream_format")
    return name


def _stream(fields: Mapping[str, object]) -> bool:
    value = fields.get("stream")
    if value is None or check_flag(value, "stream"):
        return True
    if fields.get("stream_format") == "sse":
        raise InvalidRequest("events are a stream; leave out 'stream' or 'stream_format'", param="stream")
    return False


def _whole(fields: Mapping[str, object], param: str) -> int | None:
    value = fields.get(param)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise InvalidRequest(f"{param!r} must be a whole number", param=param)
    return value
