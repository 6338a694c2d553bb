"""Options of the markup reader: the kinds of markup, and how each is spoken."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from yuliu.errors import InvalidRequest

Handling = Literal["speak", "skip", "announce"]
"""``announce`` says that something was left out, in the language of the surrounding text."""

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
    """Kinds of markup and how each is spoken. The defaults suit the output of language models."""

    markdown: bool = True
    """Reads Markdown, the usual HTML tags and LaTeX; otherwise they are text."""
    code_blocks: Handling = "announce"
    inline_code: Handling = "speak"
    math: Handling = "speak"
    r"""LaTeX between ``$``, ``$$``, ``\(`` and ``\[``; with ``speak`` long formulas are announced."""
    emoji: Literal["skip", "name"] = "skip"
    urls: Literal["short", "full"] = "short"
    """``short`` speaks the host and a path of at most two short names; ``full`` the whole address."""
    stage_directions: Literal["skip", "speak"] = "skip"
    """``*sighs*`` and the like: one to four words between asterisks, the first a known stage verb."""
    ssml: Literal["auto", "on", "off"] = "auto"
    """``auto``: a text that begins with ``<speak`` is SSML without any other markup; ``on``: SSML tags are recognised
    anywhere, beside Markdown."""
    pause_tags: bool = True
    """Recognises ``[pause 500ms]`` and ``[pause 1.5s]``."""

    def __post_init__(self) -> None:
        """Validate the values.

        Raises:
            InvalidRequest: A value is not accepted; the message names those that are.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            choices = _CHOICES.get(field.name, (True, False))
            if value not in choices:
                accepted = ", ".join(str(choice).lower() for choice in choices)
                raise InvalidRequest(f"{field.name} must be one of: {accepted}", param=field.name)
