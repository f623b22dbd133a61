"""The command `cayley`: the table of its commands, and the handling of errors.

Exit codes: 0 done, 1 the answer is no or an input is wrong (the message says which), 2 the command was not understood,
3 a bug in Cayley."""

from __future__ import annotations

import inspect
import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

import cayley
from cayley.cli.arguments import said_trust
from cayley.cli.check import check
from cayley.cli.control import control
from cayley.cli.counts import counts
from cayley.cli.equations import equations
from cayley.cli.export import export
from cayley.cli.inverse_kinematics import inverse_kinematics
from cayley.cli.report import report
from cayley.cli.robots import info, robots
from cayley.cli.simulate import simulate
from cayley.cli.studio import studio
from cayley.cli.synthesise import synthesise
from cayley.cli.terminal import errors, literal
from cayley.cli.tour import tour
from cayley.cli.trajectory import trajectory
from cayley.errors import CayleyError
from cayley.model.formats import FORMATS, files_in_words


def _help(command: Callable[..., None]) -> str:
    """Docstring of a command, completed by the table of formats."""
    checks = " ".join(each.check_words for each in FORMATS if each.check_words)
    return inspect.cleandoc(command.__doc__ or "").replace("{files}", files_in_words()).replace("{checks}", checks)


NUMBERS = {"ignore_unknown_options": True}  # -0.3 is a number, not an option

app = typer.Typer(name="cayley", no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)
COMMANDS: dict[str, Callable[..., None]] = {
    "tour": tour, "robots": robots, "info": info, "check": check, "equations": equations, "counts": counts,
    "export": export, "ik": inverse_kinematics, "simulate": simulate, "trajectory": trajectory,
    "control": control, "synthesise": synthesise, "report": report, "studio": studio}
for name, command in COMMANDS.items():
    settings = NUMBERS if name in ("ik", "synthesise", "trajectory", "control") else {}
    app.command(name, help=_help(command), context_settings=settings)(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"cayley {cayley.__version__}")
        raise typer.Exit


def cayley_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", callback=said_trust,
                           help="Trust the authors of files: xacro may run Python in them and read the environment, "
                                "and they may name files anywhere.")] = False,
) -> None:
    """Cayley, a compiler for robot mechanisms: numbers, equations, counts and code.

    ROBOT is a name of the catalogue (`cayley robots`) or a {files}. Data come as JSON with `--json`.

    **Examples**

    ```
    cayley tour
    cayley info puma560
    cayley check my_robot.urdf
    cayley export panda --function inverse_dynamics --language c --output generated
    cayley --install-completion
    ```

    **Exit codes**

    ```
    0  done
    1  the answer is no, or an input is wrong: the message says which
    2  the command was not understood
    3  a bug in Cayley (CAYLEY_TRACEBACK=1 shows where)
    ```"""


app.callback(help=_help(cayley_command))(cayley_command)


def main() -> None:
    """Run the command line and print errors as a sentence."""
    if sys.stdout is sys.__stdout__ and hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `cayley robots | head -1` ends as other commands do
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without such letters shows ? instead
    try:
        app(prog_name="cayley")
    except CayleyError as error:
        _fail(str(error), 1, error)
    except OSError as error:
        _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 1, error)
    except ImportError as error:
        _fail(f"{error}; is a package missing?", 1, error)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        _fail(f"internal error, {type(error).__name__}: {error}. Please report it with the output of "
              "CAYLEY_TRACEBACK=1", 3, error)


def _fail(message: str, code: int, error: Exception) -> None:
    if os.environ.get("CAYLEY_TRACEBACK"):
        raise error
    errors().print(f"[bold red]Error:[/] {literal(message)}", soft_wrap=True)
    sys.exit(code)
