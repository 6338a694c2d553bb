"""``yuliu replay``: decisions of the scheduler in a recorded run."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from yuliu.cli.console.errors import CommandError
from yuliu.cli.options import json_option

if TYPE_CHECKING:
    from yuliu.scheduler.policy.events import Action, Event


@click.command(
    epilog="""\b
Examples:
  yuliu serve --record events.jsonl     record a log
  yuliu replay events.jsonl             show every decision
  yuliu replay events.jsonl --stream 7  show decisions about one stream
  yuliu replay events.jsonl --json
"""
)
@click.argument("path", metavar="LOG", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--stream", type=int, metavar="ID", help="Show only events of this stream.")
@json_option("Print JSON, one decision per line.")
def command(path: Path, stream: int | None, as_json: bool) -> None:
    """Replay a recorded run with this version, and fail if its decisions differ from the recorded ones."""
    from yuliu.scheduler.policy.event_log import named, replay

    began_at_s: float | None = None
    about = _About(stream)
    different: list[int] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for decision in replay(lines):
            began_at_s = decision.at_s if began_at_s is None else began_at_s
            if not decision.is_same:
                different.append(decision.number)
            if not about(decision.event, decision.actions):
                continue
            at_s = decision.at_s - began_at_s
            if as_json:
                answers = [named(action) for action in decision.actions]
                values = {"at_s": at_s, "same": decision.is_same} | named(decision.event) | {"actions": answers}
                click.echo(json.dumps(values, separators=(",", ":")))
            elif decision.actions or stream is not None:
                click.echo(_row(at_s, decision.event, decision.actions, same=decision.is_same))
    if different:
        lines_ = ", ".join(map(str, different[:5])) + (" ..." if len(different) > 5 else "")
        raise CommandError(f"{len(different)} decisions differ from the recorded ones: lines {lines_}")


class _About:
    """Filter for events about one stream, including its jobs."""

    def __init__(self, stream_id: int | None) -> None:
        self._stream_id = stream_id
        self._job_ids: set[int] = set()

    def __call__(self, event: Event, actions: tuple[Action, ...]) -> bool:
        """Return True if the event or one of the actions is about the stream."""
        if self._stream_id is None:
            return True
        if getattr(event, "stream_id", None) == self._stream_id and (job_id := getattr(event, "job_id", None)):
            self._job_ids.add(job_id)
        return any(self._is_about(each) for each in (event, *actions))

    def _is_about(self, what: Event | Action) -> bool:
        jobs = {getattr(what, "job_id", None), *getattr(what, "job_ids", ())}
        jobs |= {part.job_id for part in getattr(what, "parts", ())}
        return getattr(what, "stream_id", None) == self._stream_id or bool(jobs & self._job_ids)


def _row(at_s: float, event: Event, actions: tuple[Action, ...], *, same: bool) -> str:
    answers = "; ".join(map(_told, actions)) or "-"
    return f"{at_s:12.4f}  {'  ' if same else '! '}{_told(event):58}  {answers}"


def _told(what: Event | Action) -> str:
    """Return the name of an event or action with its main values, short enough for a line."""
    words = [type(what).__name__]
    for field in fields(what):
        value = getattr(what, field.name)
        if field.name == "parts":
            words += [f"{part.job_id}x{part.num_frames}" for part in value]
        elif field.name in ("worker", "stream_id", "job_id", "reason", "engine"):
            words.append(f"#{value}" if field.name == "stream_id" else str(value))
        elif field.name in ("audio_s", "took_s", "position_s", "retry_after_s"):
            words.append(f"{field.name.removesuffix('_s')}={value:.4g}s")
        elif field.name == "terms":
            words.append(value.stream_class.value)
    return " ".join(words)
