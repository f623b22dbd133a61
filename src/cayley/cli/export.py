"""`cayley export`: a function of a robot as source text."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cayley.cli.arguments import Frame, Json, Robot, end_frame, load, option
from cayley.cli.terminal import literal, output, working, write_json
from cayley.compiler.backends import BACKENDS, backend_named
from cayley.errors import did_you_mean
from cayley.exports.layouts import LAYOUTS
from cayley.exports.named_kernels import FUNCTIONS, OF_A_FRAME, OF_CONSTRAINTS

if TYPE_CHECKING:
    from cayley.compiler.kernel import Kernel
    from cayley.mechanism import Mechanism

Language = StrEnum("Language", [(name, name) for name in BACKENDS])  # type: ignore[misc]
"""What is written."""
_C = Language("c")
Layout = StrEnum("Layout", [(name, name) for name in LAYOUTS])  # type: ignore[misc]
"""How the folder of a library is laid out."""
_CMAKE = Layout("cmake")


class Precision(StrEnum):
    """The numbers of C and CUDA."""

    double = "double"
    float = "float"


_DTYPES = {"double": "float64", "float": "float32"}


def _function_completions(incomplete: str) -> list[str]:
    return [name for name in FUNCTIONS if name.startswith(incomplete)]


def export(
    robot: Robot,
    function: Annotated[str, typer.Option("--function", metavar="NAME", autocompletion=_function_completions,
                                          help=f"One of {', '.join(FUNCTIONS)}.")] = "inverse_dynamics",
    language: Annotated[Language, typer.Option("--language", help="What to write.")] = _C,
    destination: Annotated[Path | None, option(
        "--output", "DIR", "Folder for the files; without it the text is printed.")] = None,
    name: Annotated[str, option("--name", "TEXT", "Name of the function (default: ROBOT_FUNCTION).")] = "",
    method: Annotated[str, option(
        "--method", "TEXT", "A published method (`cayley counts`), if not the default.")] = "",
    precision: Annotated[Precision | None, typer.Option(
        "--precision", show_default=False, help="Of C and CUDA (default: double, float for Arduino).")] = None,
    folder: Annotated[Path | None, option(
        "--folder", "DIR", "Write a C library there, with test vectors and a program that checks them.")] = None,
    kernels: Annotated[list[str] | None, option(
        "--kernel", "NAME", "A function of the library: inverse-dynamics, pose:tool, jacobian:tool:body; may be given "
        "several times.")] = None,
    layout: Annotated[Layout, typer.Option("--layout", help="Of the library.")] = _CMAKE,
    batch: Annotated[bool, typer.Option("--batch", help="C for many states as a struct of arrays, too.")] = False,
    frame: Frame = "",
    axes: Annotated[str, typer.Option("--axes",
                                      help='Of Jacobians and twists: "world", "body", or a frame.')] = "world",
    json: Json = False,
) -> None:
    """Write a function of a robot as C99, JavaScript, Fortran, CUDA, LLVM, Python or LaTeX.

    One function is text in any language: --function, --language, --output. Several are a library of C with its tests:
    --folder, and --kernel for each of them, with the frame in its name, pose:tool.

    C needs nothing but math.h, and allocates nothing. CUDA is one kernel, a thread a state. LLVM is the assembly that
    is compiled for this processor. Python needs only its own math module, JavaScript is a module
    for pages and for Node.

    **Examples**

    ```
    cayley export puma560 --function inverse_dynamics --language c --output generated
    cayley export panda --function jacobian --frame tool --axes body
    cayley export planar3r --function inertia_matrix --language latex
    cayley export panda --folder panda_c --kernel inverse-dynamics --kernel pose:tool
    cayley export puma560 --folder puma --kernel gravity-forces --layout arduino
    ```"""
    arm = load(robot)
    function = function.replace("-", "_")
    if folder is not None:
        one = function
        if function in OF_A_FRAME:
            one = ":".join([function, end_frame(arm, frame), *([axes] if OF_A_FRAME[function] else [])])
        return _library(arm, folder, kernels or [one], layout, precision, batch, name, json)
    if kernels:
        raise typer.BadParameter("a library is written into a folder: --folder DIR", param_hint="--kernel")
    kernel = chosen_kernel(arm, function, method, frame, axes)
    with working(f"writing {function} of {arm.name}"):
        files = written(kernel, language.value, name or f"{arm.name}_{function}", (precision or Precision.double).value,
                        batch=batch)
    if destination is not None:
        destination.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (destination / file).write_text(text, encoding="utf-8")
    if json:
        operations = kernel.operations()
        return write_json({
            "robot": arm.name, "function": function, "language": language.value, "operations": vars(operations),
            "files": {str(destination / file) if destination else file: text
                      for file, text in files.items()}})
    if destination is None:
        return typer.echo("\n".join(files.values()), nl=False)
    for file in files:
        output().print(literal(destination / file), soft_wrap=True)
    output().print(f"{kernel.operations()}", style="dim")


def chosen_kernel(arm: Mechanism, function: str, method: str, frame: str, axes: str) -> Kernel:
    """The kernel that the options name."""
    if function not in FUNCTIONS:
        advice = did_you_mean(function.replace("-", "_"), FUNCTIONS, otherwise=f"; there are {', '.join(FUNCTIONS)}")
        raise typer.BadParameter(f"there is no function {function!r}{advice}", param_hint="--function")
    if function in OF_CONSTRAINTS and not arm.tree.is_constrained:
        raise typer.BadParameter(f"{arm.name} has no constraints: no loops, no mimic joints", param_hint="--function")
    if method and not hasattr(attrgetter(OF_CONSTRAINTS.get(function, function))(arm), "using"):
        raise typer.BadParameter(f"{function} has one method only", param_hint="--method")
    if frame and function not in OF_A_FRAME:
        raise typer.BadParameter(f"{function} is not of a frame; {', '.join(OF_A_FRAME)} are", param_hint="--frame")
    if axes != "world" and "axes" not in OF_A_FRAME.get(function, ()):
        raise typer.BadParameter(f"{function} has no choice of axes", param_hint="--axes")
    if function in OF_A_FRAME:
        given = {"axes": axes} if "axes" in OF_A_FRAME[function] else {}
        return getattr(arm, function).of(end_frame(arm, frame), **given)
    kernel = attrgetter(OF_CONSTRAINTS.get(function, function))(arm)
    return kernel.using(method) if method else kernel


def written(kernel: Kernel, language: str, name: str, precision: str, *, batch: bool = False) -> dict[str, str]:
    """The texts by the names of their files."""
    if batch:
        if language != "c":
            raise typer.BadParameter("a struct of arrays is for C", param_hint="--batch")
        made = kernel.c_source(name, dtype=_DTYPES[precision], batch=True)
        return {f"{made.name}.h": made.header, f"{made.name}.c": made.source}
    program = replace(kernel.program(), name=name)
    backend_named(language).check(program)
    return backend_named(language).files(program, precision)


def _library(arm: Mechanism, folder: Path, kernels: list[str], layout: Layout, precision: Precision | None,
             batch: bool, name: str, json: bool) -> None:
    with working(f"writing {len(kernels)} functions of {arm.name}"):
        made = arm.export(folder, *kernels, layout=layout.value, dtype=precision and _DTYPES[precision.value],
                          batch=batch, name=name or None)
    if json:
        return write_json({"robot": arm.name, "layout": layout.value, "folder": str(made.folder),
                           "files": [str(path) for path in made.files], "commands": list(made.commands)})
    for path in made.files:
        output().print(literal(path), soft_wrap=True)
    output().print(f"\nin {literal(made.folder)}:", soft_wrap=True)
    for line in made.commands:
        output().print(literal(f"  {line}"), soft_wrap=True)
