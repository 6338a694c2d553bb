"""Conversation with a listener at a terminal: keys stop the voice, and typed lines are spoken one after the other."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.cli.audio_io.speak import speak
from yuliu.cli.console.columns import num_columns_of, tail
from yuliu.cli.console.errors import CommandError
from yuliu.cli.console.summary import skipped
from yuliu.cli.console.terminal import count
from yuliu.cli.text_input.line_editor import Leave, LineEditor, Say, Stop
from yuliu.errors import YuliuError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator

    from yuliu.cli.audio_io.speech_output import SpeechOutput
    from yuliu.cli.text_input.keyboard import Keyboard
    from yuliu.client import ClientStream
    from yuliu.types import Coverage, Heard

PROMPT = "> "
MAX_LINES = 100
"""Maximum number of waiting lines; the bell rings for further ones."""
HOW_TO = "Type what to speak; Space or Escape stops the voice, Ctrl-D ends."
ANSWER_S = 3.0
"""Maximum wait for the server's report of what was heard of an interrupted stream, seconds."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """Interruption of a text by the listener."""

    text: str = field(repr=False)
    """Text pushed before the interruption."""
    position_s: float
    """Audio heard, seconds."""
    heard: Heard | None
    """The server's report of what was heard; None if there was none."""


async def speak_interruptibly(
    stream: ClientStream, pieces: AsyncIterator[str], output: SpeechOutput, interrupted: asyncio.Event
) -> Interruption | None:
    """Speak a text until all audio has been heard, or until the listener interrupts.

    Silence comes first; then the server is told the position, and reports what was heard.
    """
    pushed: list[str] = []
    if await _completed(speak(stream, _recorded(pieces, pushed), output), unless=interrupted):
        return None
    position_s = await output.stop()
    heard = None
    with suppress(TimeoutError):
        async with asyncio.timeout(ANSWER_S):
            heard = (await stream.cancel(position_s)).heard
    return Interruption("".join(pushed), position_s, heard)


async def _recorded(pieces: AsyncIterator[str], pushed: list[str]) -> AsyncIterator[str]:
    async for piece in pieces:
        pushed.append(piece)
        yield piece


async def _completed(work: Coroutine[None, None, None], *, unless: asyncio.Event) -> bool:
    """Run the work and return True, or cancel it and return False once the event is set."""
    tasks = [asyncio.create_task(work), asyncio.create_task(unless.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if tasks[0].cancelled():
        return False
    tasks[0].result()
    return True


class TerminalListener:
    """Listener at a keyboard.

    Args:
        keyboard: Keyboard whose input is passed to :meth:`take`.
        lines: True if lines are typed to be spoken.
        quiet: True to report nothing.
    """

    def __init__(self, keyboard: Keyboard, *, lines: bool, quiet: bool = False) -> None:
        self.interrupted: asyncio.Event = asyncio.Event()
        """Set when the listener wants silence."""
        self._keyboard, self._lines, self._quiet = keyboard, lines, quiet
        self._editor = LineEditor(lines=lines)
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._sounding = False
        self._num_drawn = 0

    def take(self, text: str) -> None:
        """Handle typed keys."""
        for act in self._editor.feed(text, time.monotonic(), sounding=self._sounding):
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
    def hearing(self) -> Iterator[None]:
        """Let keys interrupt while the voice sounds."""
        self.interrupted.clear()
        self._sounding = True
        try:
            yield
        finally:
            self._sounding = False

    def report(self, interruption: Interruption | None, coverage: Coverage | None) -> None:
        """Report what was heard of an interrupted text, or what was not spoken of another one."""
        if interruption is not None:
            num_lines = self._drop_lines()
            dropped = [f"not spoken: {count(num_lines, 'waiting line')}"] if num_lines else []
            if not self._quiet:
                self.tell([*heard_lines(interruption, self._keyboard.num_columns), *dropped])
        elif not self._quiet and coverage and (unspoken := skipped(coverage)):
            self.tell([f"not spoken: {unspoken}"])

    def tell(self, lines: list[str]) -> None:
        """Show lines above the line being typed."""
        self.wipe()
        self._keyboard.write("".join(f"{line}\n" for line in lines))
        self.draw()

    async def line(self) -> str | None:
        """Return the next line; None at the end."""
        return await self._waiting.get()

    def draw(self) -> None:
        """Show the line being typed."""
        if self._lines:
            line = PROMPT + tail(self._editor.line, self._keyboard.num_columns - len(PROMPT) - 1)
            num_columns = num_columns_of(line)
            rest = max(0, self._num_drawn - num_columns)
            self._keyboard.write("\r" + line + " " * rest + "\b" * rest)
            self._num_drawn = num_columns

    def wipe(self) -> None:
        """Remove the line being typed from the screen."""
        if self._num_drawn:
            self._keyboard.write("\r" + " " * self._num_drawn + "\r")
            self._num_drawn = 0

    def _drop_lines(self) -> int:
        """Drop the waiting lines, and return their number; a request to leave is kept."""
        waiting = [self._waiting.get_nowait() for _ in range(self._waiting.qsize())]
        if None in waiting:
            self._waiting.put_nowait(None)
        return sum(each is not None for each in waiting)


async def converse(listener: TerminalListener, say: Callable[[str], Awaitable[None]]) -> None:
    """Speak the listener's lines one after the other until the listener leaves; report errors and carry on."""
    listener.draw()
    while (line := await listener.line()) is not None:
        try:
            await say(line)
        except (YuliuError, CommandError) as error:
            listener.tell([f"yuliu: error: {error.message}"])
    listener.wipe()


def heard_lines(interruption: Interruption, num_columns: int) -> list[str]:
    """Return lines that show what was heard of an interrupted text, and what was not.

    Args:
        interruption: Interruption to show.
        num_columns: Width of the terminal, columns.
    """
    text = interruption.text
    head = f"heard {1000 * interruption.position_s:,.0f} ms"
    if interruption.heard is None:
        return [f"{head}; the server did not report the position in the text"]
    place = interruption.heard.source_end
    head = f"{head}, to character {place:,} of {len(text):,}: "
    return [
        head + _shortened(text[:place], num_columns - len(head) - 1, keep_end=True),
        "not heard: " + _shortened(text[place:], num_columns - len("not heard: ") - 1, keep_end=False),
    ]


def _shortened(text: str, num_columns: int, *, keep_end: bool) -> str:
    """Return the end, or the start, of a text on one line of at most ``num_columns`` columns."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())  # nothing moves the cursor
    if not line or num_columns_of(line) <= num_columns:
        return line
    if keep_end:
        return "..." + tail(line, num_columns - len("..."))
    return tail(line[::-1], num_columns - len("..."))[::-1] + "..."
