"""`cayley synthesise`: design a linkage from its task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Json, draw_without_window, numbers, option, save_figure
from cayley.cli.terminal import filled, grid, literal, output, write_json
from cayley.errors import CayleyError, UnreachableError

if TYPE_CHECKING:
    from cayley.planning.synthesis.design import FourBarDesign

KINDS = ("four-bar", "quick-return")


def synthesise(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What to make: {' or '.join(KINDS)}.")],
    pairs: Annotated[list[str], typer.Argument(
        metavar="ANGLES", show_default=False,
        help="four-bar: pairs INPUT:OUTPUT, three or more. quick-return: the output's angles in both dead centres.")],
    time_ratio: Annotated[float, typer.Option("--time-ratio", help="quick-return: slow over fast.")] = 1.0,
    ground: Annotated[float, typer.Option("--ground", help="The length of the ground link [m].")] = 1.0,
    picture: Annotated[Path | None, option("--picture", "FILE", "Draw it, and its output over its input.")] = None,
    animation: Annotated[Path | None, option("--animation", "FILE", "A .gif of its motion through the pairs.")] = None,
    save: Annotated[Path | None, option("--output", "FILE", "Write the mechanism as a .toml file.")] = None,
    json: Json = False,
) -> None:
    """The lengths of a linkage whose output is at given angles for given angles of its input.

    Angles are to the ground link, in radians (30deg is in degrees). Three pairs are met exactly, more by least squares;
    the structural error says how well. Exit code 1 if no such linkage can be built, or if it cannot be assembled at
    every pair.

    **Examples**

    ```
    cayley synthesise four-bar 40deg:70deg 60deg:80deg 80deg:95deg
    cayley synthesise four-bar 30deg:90deg 60deg:94deg 90deg:105deg 120deg:120deg --ground 0.4 --picture bar.png
    cayley synthesise quick-return 60deg 100deg --time-ratio 1.2 --output machine.toml
    ```"""
    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is not made here; known are {', '.join(KINDS)}", param_hint="KIND")
    design = (_from_pairs if kind == "four-bar" else _from_dead_centres)(pairs, ground, time_ratio)
    found = _described(design)
    if design.feasible:
        _written(design, picture, animation, save, found)
    if json:
        write_json(found)
    else:
        _print(design, found)
    if not design.feasible:
        raise UnreachableError(f"the linkage cannot be built: {design.infeasible}; change a pair")
    if design.structural_error().unassembled:
        raise UnreachableError(f"the linkage {design.structural_error().status}; its design error promises nothing: "
                               "change pairs")


def _from_pairs(words: list[str], ground: float, _: float) -> FourBarDesign:
    from cayley.planning import function_generator
    split = [word.split(":") for word in " ".join(words).replace(",", " ").split()]
    for parts in split:
        if len(parts) != 2:
            raise typer.BadParameter(f"{':'.join(parts)!r} is not a pair INPUT:OUTPUT, as 40deg:70deg",
                                     param_hint="ANGLES")
    psi = numbers([first for first, _ in split], len(split), "the inputs")
    return function_generator(psi, numbers([last for _, last in split], len(split), "the outputs"), ground=ground)


def _from_dead_centres(words: list[str], ground: float, time_ratio: float) -> FourBarDesign:
    from cayley.planning import quick_return
    first, second = numbers(words, 2, "the dead centres")
    return quick_return(float(first), float(second), time_ratio, ground=ground)[0]


def _described(design: FourBarDesign) -> dict[str, Any]:
    error = design.structural_error()
    found = {"kind": design.kind, "class": design.linkage_class, "parameters": design.parameters,
             "signed_lengths": dict(zip(("ground", "input", "coupler", "output"), design.signed_lengths, strict=True)),
             "input_shift": design.input_shift, "output_shift": design.output_shift, "condition": design.condition,
             "inputs": design.inputs, "outputs": design.outputs, "generated": error.generated,
             "structural_error": error.error, "design_error": design.design_error, "infeasible": design.infeasible}
    if design.feasible:
        found |= {"defects": str(design.defects()), "transmission_angles": design.transmission_angles()}
    return found


def _written(design: FourBarDesign, picture: Path | None, animation: Path | None, save: Path | None,
             found: dict[str, Any]) -> None:
    draw_without_window()
    import cayley as cy
    if picture is not None:
        from cayley.drawing.linkage_designs import draw_design
        found["picture"] = str(save_figure(draw_design(design), picture))
    if animation is not None:
        found["animation"] = str(_animated(design, animation))
    if save is not None:
        if save.suffix.lower() != ".toml":
            raise CayleyError(f"{save}: a linkage is written as .toml, which has loops")
        save.parent.mkdir(parents=True, exist_ok=True)
        cy.Mechanism(design.tree()).save(save)
        found["output"] = str(save)


def _animated(design: FourBarDesign, path: Path) -> Path:
    import numpy as np

    from cayley.drawing.animations import animate
    mode = int(design.structural_error().modes.max())
    there = np.linspace(design.inputs.min(), design.inputs.max(), 41)
    psi = np.concatenate([there, there[::-1]])
    stands = np.isfinite(design.output_angles(psi)).all(axis=-1)
    path.parent.mkdir(parents=True, exist_ok=True)
    return animate(design.tree(), (np.linspace(0.0, 3.0, stands.sum()), design.configuration(psi[stands], mode)), path)


def _print(design: FourBarDesign, found: dict[str, Any]) -> None:
    import numpy as np
    console = output()
    console.print(f"[bold]{literal(design)}[/]", soft_wrap=True)
    console.print(f"k = {', '.join(f'{k:.10g}' for k in design.parameters)}; design error {design.design_error:.3g}, "
                  f"condition {design.condition:.3g}", style="dim")
    for word, shift in (("input", design.input_shift), ("output", design.output_shift)):
        if shift:
            console.print(f"the {word} link has a negative length: add 180 degrees to its angle")
    angles = found.get("transmission_angles", np.full(len(design.inputs), np.nan))
    degrees = np.degrees(np.stack([design.inputs, design.outputs, found["generated"], found["structural_error"],
                                   angles], axis=1))
    columns = [f"{heading} [deg]" for heading in ("input", "output", "generated", "error", "transmission")]
    console.print(filled(grid(), columns, [[f"{value:.4f}" if np.isfinite(value) else "none" for value in row]
                                           for row in degrees], left=0))
    if "defects" in found:
        console.print(literal(f"defects: {found['defects']}"))
    for word in ("picture", "animation", "output"):
        if word in found:
            console.print(literal(f"{word}: {found[word]}"), soft_wrap=True)
