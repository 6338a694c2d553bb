"""All errors, grouped by the party at fault.

    YuliuError
    ├── InvalidRequest      the caller: text, voice, format or option that cannot be served
    │   ├── UnknownVoice        no voice of that name
    │   ├── UnknownLexicon      no lexicon of that name
    │   ├── NothingToSpeak      the text contains nothing that the voice can speak
    │   └── BodyTooLarge        the body of the request exceeds the limit of its route
    ├── VersionConflict     the caller: a lexicon has changed since it was read
    ├── VoiceNotReady       the installation: files of the voice are missing or damaged; names the command to run
    ├── PullFailed          the index, the network or the disk: a voice could not be fetched
    ├── Overloaded          the machine: the request exceeds its capacity; states when to retry
    │   └── QuotaExceeded       the caller: the request exceeds the quota of the key; states when to retry
    ├── NotAllowed          the caller: the key does not permit the request, or was revoked
    ├── TimedOut            the caller: no text came, no audio was taken, or the stream took too long
    ├── SynthesisFailed     the server: an engine raised, hung or broke its contract
    └── Closed              the caller: an object was used after it was closed

Each class has a stable ``code``; only ``wire/`` maps codes to HTTP statuses and close codes. Messages never contain the
text to be spoken.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = (
    "BodyTooLarge",
    "Closed",
    "InvalidRequest",
    "NotAllowed",
    "NothingToSpeak",
    "Overloaded",
    "PullFailed",
    "QuotaExceeded",
    "SynthesisFailed",
    "TimedOut",
    "UnknownLexicon",
    "UnknownVoice",
    "VersionConflict",
    "VoiceNotReady",
    "YuliuError",
)


class YuliuError(Exception):
    """Base of all errors; ``code`` is stable, the message is for people and states a remedy."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message: str = message
        """Description of the error and its remedy, in one or two sentences."""


class InvalidRequest(YuliuError):
    """The request cannot be served as it is.

    Args:
        message: The invalid value, the reason, and the accepted values.
        param: Name of the invalid field or option, if there is a single one.
    """

    code = "invalid_request"

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param: str | None = param
        """Name of the invalid field, as the caller spells it; None if there is no single one."""


class UnknownVoice(InvalidRequest):
    """No voice of that name exists."""

    code = "unknown_voice"


class UnknownLexicon(InvalidRequest):
    """No lexicon of that name exists."""

    code = "unknown_lexicon"


class NothingToSpeak(InvalidRequest):
    """The text is empty or contains nothing that the voice can speak."""

    code = "nothing_to_speak"


class BodyTooLarge(InvalidRequest):
    """The body of a request exceeds the limit of its route.

    Args:
        max_bytes: Maximum size.
    """

    code = "body_too_large"

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"the request body must be at most {max_bytes} bytes")


class VersionConflict(YuliuError):
    """The resource has changed since it was read: read it again and change the new version."""

    code = "version_conflict"


class VoiceNotReady(YuliuError):
    """Files of a known voice are missing or damaged; the message names the command to run."""

    code = "voice_not_ready"


class PullFailed(YuliuError):
    """A voice could not be fetched or installed; no partial installation is left."""

    code = "pull_failed"


class Overloaded(YuliuError):
    """The request exceeds the capacity of the machine.

    Args:
        message: The limit that was reached.
        retry_after_s: Time after which a retry is likely to succeed, in seconds.
    """

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s: float = retry_after_s
        """Time after which a retry is likely to succeed, in seconds."""


class QuotaExceeded(Overloaded):
    """The request exceeds a quota of the API key: requests, concurrent streams or characters."""

    code = "quota_exceeded"


class NotAllowed(YuliuError):
    """The API key was revoked or does not permit the request."""

    code = "not_allowed"


class TimedOut(YuliuError):
    """A stream reached one of its ``StreamLimits``: the writer, the reader or the whole stream took too long."""

    code = "timeout"


class SynthesisFailed(YuliuError):
    """An engine raised, hung or broke its contract while speaking."""

    code = "synthesis_failed"


class Closed(YuliuError):
    """A stream or synthesizer was used after it was closed."""

    code = "closed"
