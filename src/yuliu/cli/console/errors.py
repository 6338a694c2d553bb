"""Error messages on the terminal, and exit codes for programs.

The only place that maps exceptions; commands let them pass.
"""

from __future__ import annotations

import os
import sys
import traceback

import click

from yuliu.cli.console.terminal import colours_wanted
from yuliu.errors import InvalidRequest, NothingToSpeak, YuliuError

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
"""128 + SIGINT, as in shells."""
_RENAMED = {"--lanes": "--workers"}
"""Options of earlier versions, with their names today."""


class CommandError(click.ClickException):
    """Error found by a command; the message says what to do."""

    exit_code = FAILED


def report(error: BaseException, *, debug: bool = False) -> int:
    """Report an error on standard error, and return the exit code.

    Args:
        error: Exception that ended the command.
        debug: Show the traceback first.
    """
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, BrokenPipeError):  # the reader is gone: there is nothing to report
        _forget_stdout()
        return FAILED
    if debug:
        traceback.print_exception(error)
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        _say("interrupted", error)
        return INTERRUPTED
    _say(f"error: {_message(error)}", error)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"Try: {error.ctx.command_path} --help", err=True)
    return _exit_code(error)


def _exit_code(error: BaseException) -> int:
    if isinstance(error, click.ClickException):
        return error.exit_code
    wrong_usage = isinstance(error, InvalidRequest) and not isinstance(error, NothingToSpeak)
    return WRONG_USAGE if wrong_usage else FAILED


def _message(error: BaseException) -> str:
    if isinstance(error, click.NoSuchOption) and (name := _new_name(error)) is not None:
        return f"option {error.option_name!r} is called {name!r} now"
    if isinstance(error, click.ClickException):
        return _lower_first(error.format_message()).removesuffix(".")
    if isinstance(error, YuliuError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return _lower_first(what) if error.filename is None else what
    return f"internal error: {type(error).__name__}; please report it with the output of: yuliu --debug ..."


def _new_name(error: click.NoSuchOption) -> str | None:
    """Return the name of an option that was renamed, if the command has it."""
    name = _RENAMED.get(error.option_name)
    known = [] if error.ctx is None else [each for option in error.ctx.command.params for each in option.opts]
    return name if name in known else None


def _say(message: str, error: BaseException) -> None:
    notes = getattr(error, "__notes__", ())
    red = message.startswith("error") and colours_wanted(os.environ, sys.stderr)
    prefix = click.style("yuliu:", fg="red") if red else "yuliu:"
    click.echo(f"{prefix} {'; '.join([message, *notes])}", err=True)


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _forget_stdout() -> None:
    """Redirect the interpreter's final flush to the null device, so that it does not report the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
