"""Everything that can go wrong, by whose fault it is.

    YuliuError
    ├── InvalidRequest      the caller's: text, voice, format or option that cannot be served
    │   ├── UnknownVoice        no voice of that name
    │   ├── UnknownLexicon      no lexicon of that name
    │   └── NothingToSpeak      the text holds nothing that the voice can say
    ├── VersionConflict     the caller's: a lexicon has changed since it was read
    ├── VoiceNotReady       the installation's: the voice's files are missing or damaged; says what to run
    ├── PullFailed          the index's, the network's or the disk's: a voice could not be fetched
    ├── Overloaded          the machine's: more was asked than it can carry; says when to try again
    │   └── QuotaExceeded       the caller's: more was asked than his key allows; says when to try again
    ├── NotAllowed          the caller's: his key is not for this, or was revoked
    ├── TimedOut            the caller's: text did not come, sound was not taken, or all took too long
    ├── SynthesisFailed     ours: an engine raised, hung or broke its contract
    └── Closed              the caller's: an object was used after it had been closed

Each class has a stable ``code``; only ``wire/`` maps codes to HTTP statuses and close codes. Messages
never contain the text to be spoken.
"""

from __future__ import annotations

from typing import ClassVar


class YuliuError(Exception):
    """Base of all errors; ``code`` is stable, the message is for people and says what to do."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message: str = message
        """What went wrong and what to do about it, in one or two sentences."""


class InvalidRequest(YuliuError):
    """The request can never be served as it is.

    Args:
        message: What is wrong with which value, and what is accepted.
        param: Name of the offending field or option, if one is to blame.
    """

    code = "invalid_request"

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param: str | None = param
        """The field at fault, as the caller spells it; None if no single field is."""


class UnknownVoice(InvalidRequest):
    """No voice of that name exists."""

    code = "unknown_voice"


class UnknownLexicon(InvalidRequest):
    """No lexicon of that name exists."""

    code = "unknown_lexicon"


class NothingToSpeak(InvalidRequest):
    """The text is empty or holds nothing that the voice can say."""

    code = "nothing_to_speak"


class VersionConflict(YuliuError):
    """What was to be changed has been changed by somebody else since it was read: read it again, then change that."""

    code = "version_conflict"


class VoiceNotReady(YuliuError):
    """The voice is known but its files are not on disk, or not intact; the message names the command to run."""

    code = "voice_not_ready"


class PullFailed(YuliuError):
    """A voice could not be fetched or installed; nothing half-installed is left."""

    code = "pull_failed"


class Overloaded(YuliuError):
    """More was asked than the machine can carry.

    Args:
        message: What limit was met.
        retry_after_s: When trying again is likely to succeed, in seconds.
    """

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s: float = retry_after_s
        """Seconds after which trying again is likely to succeed."""


class QuotaExceeded(Overloaded):
    """More was asked of a server than the caller's API key allows: requests, streams at a time, or characters."""

    code = "quota_exceeded"


class NotAllowed(YuliuError):
    """The caller's API key was revoked, or is not for this."""

    code = "not_allowed"


class TimedOut(YuliuError):
    """A stream met one of its ``StreamLimits``: its writer, its reader or all of it took too long."""

    code = "timeout"


class SynthesisFailed(YuliuError):
    """An engine raised, hung or broke its contract while speaking."""

    code = "synthesis_failed"


class Closed(YuliuError):
    """A stream or synthesizer was used after it had been closed."""

    code = "closed"
