"""`cayley counts`: operation counts of the functions of a robot, by every method, beside the published tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Json, Robot, check_moves, load
from cayley.cli.terminal import marked, output, print_table, working, write_json

if TYPE_CHECKING:
    from cayley.dynamics.accounting import OperationTable
    from cayley.dynamics.accounting.formulas import Figures
    from cayley.mechanism import Mechanism

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")
PUBLISHED = {
    "hollerbach-4x4": "Hollerbach 4x4 [14]", "hollerbach-3x3": "Hollerbach 3x3 [14]",
    "luh-walker-paul": "Luh et al. [14]", "kane": "Angeles et al. [45]", "tensor-newton-euler": "Algorithm 5.6",
    "augmented-links": "Algorithm 5.7, Table 5.2"}


def counts(robot: Robot,
           function: Annotated[str, typer.Option("--function", metavar="NAME",
                                                 help=f"One of {', '.join(FUNCTIONS)}.")] = FUNCTIONS[0],
           tables: Annotated[bool, typer.Option(
               "--tables", help="Also the published tables, counted again for as many joints.")] = False,
           json: Json = False) -> None:
    """Multiplications and additions of a robot's dynamics by every method.

    The counts are of the compiled code for this robot: zeros, ones and shared terms are gone. The published formulas
    are for any robot with as many revolute joints.

    **Examples**

    ```
    cayley counts puma560
    cayley counts panda --function inertia_matrix
    cayley counts planar3r --tables
    ```"""
    if function not in FUNCTIONS:
        raise typer.BadParameter(f"{function!r} is none of {', '.join(FUNCTIONS)}", param_hint="--function")
    arm = load(robot)
    check_moves(arm)
    with working(f"counting the methods of {function.replace('_', ' ')}"):
        rows = method_counts(arm, function)
    with working("counting the published tables again"):
        published = _published_tables(arm.nv) if tables else ()
    if json:
        return write_json({"robot": arm.name, "function": function, "methods": rows,
                           **({"tables": [table_data(table) for table in published]} if tables else {})})
    _print(arm, function, rows)
    for table in published:
        print_table(output(), table.table)
        for line in table.notes:
            output().print(line, style="dim")
        output().print()


def method_counts(arm: Mechanism, function: str) -> list[dict[str, Any]]:
    """The operations of each method, or why it cannot be used."""
    from cayley.dynamics.accounting.formulas import TABLE_53
    from cayley.errors import UnsupportedError
    compute = getattr(arm, function)
    rows = []
    for name, method in compute.methods.items():
        row: dict[str, Any] = {"method": name, "source": method.source}
        try:
            found = compute.using(name).operations()
        except UnsupportedError as error:
            row["refused"] = str(error)
        else:
            row.update(multiplications=found.multiplications, additions=found.additions, divisions=found.divisions,
                       square_roots=found.square_roots, trigonometric=found.trigonometric)
        # what is published is about open chains
        if not arm.tree.is_constrained and function == "inverse_dynamics" and name in PUBLISHED:
            formula = TABLE_53[PUBLISHED[name]]
            row["published"] = {
                "multiplications": formula.multiplications(arm.nv), "additions": formula.additions(arm.nv),
                "formulas": [str(formula.multiplications), str(formula.additions)]}
        rows.append(row)
    return rows


def _published_tables(n: int) -> tuple[OperationTable, ...]:
    from cayley.dynamics.accounting import operation_tables
    return operation_tables(n).tables


def table_data(table: OperationTable) -> dict[str, Any]:
    """A table of operations as data."""
    def figures(found: Figures) -> dict[str, Any]:
        return {"multiplications": found.multiplications(table.n), "additions": found.additions(table.n),
                "formulas": [str(found.multiplications), str(found.additions)]}

    return {"title": table.title, "n": table.n, "notes": table.notes,
            "rows": {row: {column: figures(found) for column, found in columns.items()}
                     for row, columns in table.rows.items()}}


def _print(arm: Mechanism, function: str, rows: list[dict[str, Any]]) -> None:
    from cayley.model.report import TextTable
    with_published = any("published" in row for row in rows)
    columns = ("method", "M", "A", "F", *(("published M", "A") if with_published else ()))
    lines: list[tuple[str, ...]] = []
    refused = []
    for row in rows:
        if "refused" in row:
            refused.append(row)
            continue
        products = row["multiplications"] + row["divisions"] + row["square_roots"]
        figures = [products, row["additions"], row["trigonometric"]]
        beside = [row["published"][key] for key in ("multiplications", "additions")] if "published" in row else ["", ""]
        lines.append((row["method"], *map(str, figures + (beside if with_published else []))))
    console = output()
    print_table(console, TextTable(f"{function.replace('_', ' ').capitalize()} of {arm.name}", columns, tuple(lines)))
    console.print("M products, quotients and roots; A sums; F angles of which the sine and cosine are taken.",
                  style="dim")
    if with_published:
        console.print(f"Published: Balafoutis & Patel, Table 5.3, any arm of {arm.nv} revolute joints.", style="dim")
    if refused:
        console.print(marked("[yellow]![/]", refusals({row["method"]: row["refused"] for row in refused})))


def refusals(reasons: dict[str, str]) -> list[str]:
    """Methods that could not be used, one line for each reason.

    >>> refusals({"kane": "it branches", "renaud": "it slides", "waters": "it branches"})
    ['kane, waters: it branches', 'renaud: it slides']
    """
    return [
        f"{', '.join(m for m, why in reasons.items() if why == reason)}: {reason}"
        for reason in dict.fromkeys(reasons.values())]
