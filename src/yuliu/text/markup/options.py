"""What the reader takes for markup, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from yuliu.errors import InvalidRequest

Handling = Literal["speak", "skip", "announce"]
"""``announce`` says that something was left out, in the language of the text around it."""

_CHOICES: dict[str, tuple[object, ...]] = {
    "code_blocks": get_args(Handling),
    "inline_code": get_args(Handling),
    "math": get_args(Handling),
    "emoji": ("skip", "name"),
    "urls": ("short", "full"),
    "stage_directions": ("skip", "speak"),
    "ssml": ("auto", "on", "off"),
}


@dataclass(frozen=True, slots=True)
class MarkupOptions:
    """The defaults suit what language models write."""

    markdown: bool = True
    """Reads Markdown, the usual HTML tags and LaTeX; without it they are text."""
    code_blocks: Handling = "announce"
    inline_code: Handling = "speak"
    math: Handling = "speak"
    """LaTeX between ``$``, ``$$``, ``\\(`` and ``\\[``; long formulas are announced where short ones are spoken."""
    emoji: Literal["skip", "name"] = "skip"
    urls: Literal["short", "full"] = "short"
    """``short`` says the host and a path of at most two short names; ``full`` all of it."""
    stage_directions: Literal["skip", "speak"] = "skip"
    """``*sighs*`` and the like: one to four words between asterisks, the first a known verb of the stage."""
    ssml: Literal["auto", "on", "off"] = "auto"
    """``auto``: a text that begins with ``<speak`` is SSML, and nothing else in it is markup; ``on``: SSML tags are
    understood anywhere, beside Markdown."""
    pause_tags: bool = True
    """``[pause 500ms]``, ``[pause 1.5s]``."""

    def __post_init__(self) -> None:
        """Refuse what is not among the choices.

        Raises:
            InvalidRequest: A value is not one of those accepted; the message names them.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            choices = _CHOICES.get(field.name, (True, False))
            if value not in choices:
                accepted = ", ".join(str(choice).lower() for choice in choices)
                raise InvalidRequest(f"{field.name} must be one of: {accepted}", param=field.name)
