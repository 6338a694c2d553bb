"""``yuliu explain``: how a text is read, without synthesizing it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import click

from yuliu.cli.console.terminal import num_columns
from yuliu.cli.options import json_option
from yuliu.cli.process import without_notices
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.explanation import Explainer, Explanation
    from yuliu.stream import StreamOptions
    from yuliu.types import Lang

EXAMPLES = """\b
Examples:
  yuliu explain '我花了$100。'                    print a table
  yuliu explain '我花了$100。' --json             print a JSON object
  yuliu explain "25%" --lang en
  yuliu explain -f - < texts.txt                 read one text per line,
                                                 print one object per line
  yuliu explain --deltas stream.jsonl            streamed texts

\b
Each line of a --deltas file is an object: "deltas" holds the pieces, "gap_ms"
the time between them; the delta "@@PAUSE 1800@@" is a pause of 1800 ms.
"""


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Options as given."""

    text: tuple[str, ...]
    file: str | None
    deltas: str | None
    lang: Lang | None
    lexicon: tuple[str, ...]
    urls: Literal["short", "full"]
    stall_s: float
    as_json: bool


def _language(ctx: click.Context, _: click.Parameter, tag: str | None) -> Lang | None:
    """Return the language that a BCP 47 tag means, or fail with the languages that there are."""
    from yuliu.text.languages import parse_language

    try:
        return None if tag is None else parse_language(tag, param="--lang")
    except InvalidRequest as error:
        raise click.UsageError(error.message, ctx) from None


_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.command(epilog=EXAMPLES)
@click.argument("text", nargs=-1)
@click.option(
    "-f", "--file", metavar="FILE", type=_FILE, help="Read one text per line; - is standard input. Prints JSON."
)
@click.option("--deltas", metavar="FILE", type=_FILE, help="Read streamed texts as JSON lines; - is standard input.")
@click.option(
    "--lang",
    metavar="TAG",
    callback=_language,
    help="Read the whole text as one language, such as en-US.  [default: by script]",
)
@click.option("--lexicon", metavar="NAME", multiple=True, help="Lexicon to use; may be given several times.")
@click.option(
    "--urls", type=click.Choice(["short", "full"]), default="short", show_default=True, help="Reading of web addresses."
)
@click.option(
    "--stall-s",
    type=click.FloatRange(0.0, min_open=True),
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="With --deltas: pause after which pending text is flushed.",
)
@json_option("Print JSON, one object per line.")
@click.pass_obj
def command(_: Any, /, **options: Any) -> None:  # noqa: ANN401 - collected into a Request
    """Show how TEXT is read, without synthesizing it.

    Shows segments, languages, words, pronunciation, and the rule by which text is skipped.
    """
    request = ExplainRequest(**options)
    if sum(map(bool, (request.text, request.file, request.deltas))) != 1:
        raise click.UsageError("give either TEXT, --file or --deltas")
    with without_notices():
        from yuliu.explanation import Explainer

        explainer = Explainer()
    if request.file:
        with _opened(request.file) as file:
            _explain_lines(explainer, request, file)
    elif request.deltas:
        with _opened(request.deltas) as file:
            _explain_deltas(explainer, request, file)
    else:
        found = explainer.explain(" ".join(request.text), lang=request.lang, options=_stream_options(request))
        _show(found.to_json() if request.as_json else _table(found))


def _stream_options(request: ExplainRequest) -> StreamOptions:
    from yuliu.stream import StreamOptions
    from yuliu.text.markup import MarkupOptions

    return StreamOptions(reader=MarkupOptions(urls=request.urls), lexicon=request.lexicon, stall_s=request.stall_s)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb") as file:
        yield file


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file; bytes that are not UTF-8 become U+FFFD."""
    for line in file:
        yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors="replace")


def _explain_lines(explainer: Explainer, request: ExplainRequest, file: BinaryIO) -> None:
    options = _stream_options(request)
    for line in _lines(file):
        _print_line(explainer.explain(line, lang=request.lang, options=options).to_json())


def _explain_deltas(explainer: Explainer, request: ExplainRequest, file: BinaryIO) -> None:
    from yuliu.cli.text_input.deltas import arrivals_of
    from yuliu.explanation.values import dumped

    options = _stream_options(request)
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        name, arrivals = arrivals_of(line, number)
        found = explainer.follow(arrivals, lang=request.lang, options=options)
        if request.as_json:
            _print_line(dumped({"id": name} | found.to_values()))
        else:
            _show(f"{click.style(name or f'line {number}', bold=True)}\n{_table(found)}\n")


def _print_line(line: str) -> None:
    """Print a line and flush, so that a program that waits for each answer gets it."""
    sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def _show(text: str) -> None:
    click.echo(text.encode("utf-8", errors="replace").decode("utf-8"))


def _table(found: Explanation) -> str:
    from yuliu.cli.console.explanation_table import described

    return described(found, num_columns=num_columns(sys.stdout))
