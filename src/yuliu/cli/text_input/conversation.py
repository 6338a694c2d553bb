"""A listener at a terminal: keys silence the voice, and lines that are typed are spoken one after the other."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.skipped_text import left_out
from yuliu.cli.console.terminal import count
from yuliu.cli.text_input.line_editor import Leave, LineEditor, Say, Stop, num_columns_of, tail
from yuliu.errors import YuliuError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from yuliu.cli.remote import Played
    from yuliu.cli.text_input.keyboard import Keyboard

PROMPT = "> "
MAX_LINES = 100
"""Lines that may wait to be spoken; the bell rings for further ones."""
HOW_TO = "Type what to speak; Space or Escape stops the voice, Ctrl-D ends."


class TerminalListener:
    """Whoever sits at the keyboard.

    Args:
        keyboard: Whose keys are given to :meth:`take`.
        lines: Whether lines are typed to be spoken.
        quiet: Tell nothing of what was heard.
    """

    def __init__(self, keyboard: Keyboard, *, lines: bool, quiet: bool = False) -> None:
        self.interrupted: asyncio.Event = asyncio.Event()
        """Is set when he wants silence."""
        self._keyboard, self._lines, self._quiet = keyboard, lines, quiet
        self._typed = LineEditor(lines=lines)
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._sounding = False
        self._num_drawn = 0

    def take(self, text: str) -> None:
        """Keys."""
        for act in self._typed.feed(text, time.monotonic(), sounding=self._sounding):
            match act:
                case Stop():
                    self.interrupted.set()
                case Say() if self._waiting.qsize() >= MAX_LINES:
                    self._keyboard.write("\a")
                case Say(line):
                    self.wipe()
                    self._keyboard.write(f"{PROMPT}{line}\n")
                    self._waiting.put_nowait(line)
                case Leave():
                    self._waiting.put_nowait(None)
        self.draw()

    @contextmanager
    def hearing(self) -> Iterator[Callable[[Played], None]]:
        """While the voice sounds; what became of the text is to be given to what this gives."""
        self.interrupted.clear()
        self._sounding = True
        try:
            yield self._tell_what_was_heard
        finally:
            self._sounding = False

    def _tell_what_was_heard(self, played: Played) -> None:
        if played.interrupted_at_s is not None:
            num_lines = self._drop_lines()
            dropped = [f"not spoken: {count(num_lines, 'line')} that waited"] if num_lines else []
            if not self._quiet:
                self.tell([*heard(played, self._keyboard.num_columns), *dropped])
        elif not self._quiet and played.ending and (unsaid := left_out(played.ending.coverage)):
            self.tell([f"not spoken: {unsaid}"])

    def tell(self, lines: list[str]) -> None:
        """Show something above the line that is being typed."""
        self.wipe()
        self._keyboard.write("".join(f"{line}\n" for line in lines))
        self.draw()

    async def line(self) -> str | None:
        """The next line; None if there will be none."""
        return await self._waiting.get()

    def draw(self) -> None:
        """Show the line that is being typed."""
        if self._lines:
            line = PROMPT + tail(self._typed.line, self._keyboard.num_columns - len(PROMPT) - 1)
            num_columns = num_columns_of(line)
            rest = max(0, self._num_drawn - num_columns)
            self._keyboard.write("\r" + line + " " * rest + "\b" * rest)
            self._num_drawn = num_columns

    def wipe(self) -> None:
        """Take away the line that is being typed."""
        if self._num_drawn:
            self._keyboard.write("\r" + " " * self._num_drawn + "\r")
            self._num_drawn = 0

    def _drop_lines(self) -> int:
        """Those that wait to be spoken; the wish to leave stays."""
        waiting = [self._waiting.get_nowait() for _ in range(self._waiting.qsize())]
        if None in waiting:
            self._waiting.put_nowait(None)
        return sum(each is not None for each in waiting)


async def converse(listener: TerminalListener, say: Callable[[str], Awaitable[None]]) -> None:
    """Speak the listener's lines, one after the other, until he leaves. What goes wrong with one is told."""
    listener.draw()
    while (line := await listener.line()) is not None:
        try:
            await say(line)
        except (YuliuError, CommandError) as error:
            listener.tell([f"yuliu: error: {error.message}"])
    listener.wipe()


def heard(played: Played, num_columns: int) -> list[str]:
    """What was heard of a text that was interrupted, and what was not, for a terminal of so many columns."""
    text = "".join(played.said)
    head = f"heard {1000 * (played.interrupted_at_s or 0.0):,.0f} ms"
    if played.heard is None:
        return [f"{head}; the server did not say how far in the text that is"]
    place = played.heard.source_end
    head = f"{head}, to character {place:,} of {len(text):,}: "
    return [
        head + _shortened(text[:place], num_columns - len(head) - 1, keep_end=True),
        "not heard: " + _shortened(text[place:], num_columns - len("not heard: ") - 1, keep_end=False),
    ]


def _shortened(text: str, num_columns: int, *, keep_end: bool) -> str:
    """One line of it, so wide at most: its end, or its beginning."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())  # nothing moves the cursor
    if not line or num_columns_of(line) <= num_columns:
        return line
    if keep_end:
        return "..." + tail(line, num_columns - len("..."))
    return tail(line[::-1], num_columns - len("..."))[::-1] + "..."
