"""Rotations beside SciPy's `Rotation`, batches of 100 000, in one run. `make bench`.


Every row is one job. "Arrays to arrays": numbers in, numbers out, as `Rotation.from_quat(q).as_matrix()` does it;
Cayley once with the check of its arguments and once without. "A rotation made beforehand": SciPy has its unit
quaternions ready in an object, Cayley has them ready in an array, and neither checks anything. Rows are added to
`CONVERSIONS` or `OPERATIONS`, nothing else is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.spatial.transform import Rotation, Slerp

import cayley.geometry.rotations as rotations
import page
from tables import Table
from timing import Contestant, OtherPrograms, agree, race

REQUIRED = 1.0
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Row:
    """One job: what SciPy does, in the names of `material`, and the kernel of `cayley.geometry.rotations` that does the
    same.
    """

    title: str
    scipy: str
    kernel: str
    arguments: str
    comparable: Callable[[np.ndarray], np.ndarray] = lambda found: found
    """Brings SciPy's result into our order and sign."""


def scalar_first(found: np.ndarray) -> np.ndarray:
    return np.roll(found, 1, axis=-1)


def canonical(found: np.ndarray) -> np.ndarray:
    q = scalar_first(found)
    return np.where(q[..., :1] < 0, -q, q)


CONVERSIONS = [
    Row("quaternion to matrix", "from_quat(xyzw).as_matrix()", "matrix_from_quaternion", "q"),
    Row("quaternion to rotation vector", "from_quat(xyzw).as_rotvec()", "rotation_vector_from_quaternion", "q"),
    Row("quaternion to modified Rodrigues", "from_quat(xyzw).as_mrp()", "modified_rodrigues_from_quaternion", "q"),
    Row("quaternion to unit quaternion", "from_quat(xyzw).as_quat()", "normalize_quaternion", "q", scalar_first),
    Row("matrix to quaternion", "from_matrix(R).as_quat(canonical=True)", "quaternion_from_matrix", "R", canonical),
    Row("matrix to rotation vector", "from_matrix(R).as_rotvec()", "rotation_vector_from_matrix", "R"),
    Row("matrix to modified Rodrigues", "from_matrix(R).as_mrp()", "modified_rodrigues_from_matrix", "R"),
    Row("rotation vector to quaternion", "from_rotvec(r).as_quat()", "quaternion_from_rotation_vector", "r",
        scalar_first),
    Row("rotation vector to matrix", "from_rotvec(r).as_matrix()", "matrix_from_rotation_vector", "r"),
    Row("modified Rodrigues to quaternion", "from_mrp(p).as_quat()", "quaternion_from_modified_rodrigues", "p",
        scalar_first),
    Row("modified Rodrigues to matrix", "from_mrp(p).as_matrix()", "matrix_from_modified_rodrigues", "p"),
    Row("order of components", "from_quat(xyzw).as_quat(scalar_first=True)", "quaternion_from_scalar_last", "xyzw"),
    Row("composition of quaternions", "(from_quat(xyzw) * from_quat(xyzw2)).as_quat()", "quaternion_product", "q, q2",
        scalar_first),
    Row("composition of matrices", "(from_matrix(R) * from_matrix(R2)).as_matrix()", "compose_rotations", "R, R2"),
    Row("composition of rotation vectors", "(from_rotvec(r) * from_rotvec(r2)).as_rotvec()", "compose_rotation_vectors",
        "r, r2"),
    Row("a quaternion turns a vector", "from_quat(xyzw).apply(x)", "rotate_by_quaternion", "q, x"),
    Row("a matrix turns a vector", "from_matrix(R).apply(x)", "turned", "R, x"),
    Row("a rotation vector turns a vector", "from_rotvec(r).apply(x)", "rotate_by_rotation_vector", "r, x"),
    Row("angle of a quaternion", "from_quat(xyzw).magnitude()", "quaternion_angle", "q"),
    Row("angle of a matrix", "from_matrix(R).magnitude()", "rotation_angle", "R"), ]
OPERATIONS = [
    Row("to matrix", "a.as_matrix()", "matrix_from_quaternion", "q"),
    Row("to rotation vector", "a.as_rotvec()", "rotation_vector_from_quaternion", "q"),
    Row("to modified Rodrigues", "a.as_mrp()", "modified_rodrigues_from_quaternion", "q"),
    Row("to quaternion, sign made unique", "a.as_quat(canonical=True)", "canonical_quaternion", "q", scalar_first),
    Row("to quaternion, other order", "a.as_quat(scalar_first=True)", "quaternion_from_scalar_last", "xyzw"),
    Row("composition", "a * b", "quaternion_product", "q, q2"),
    Row("inverse", "a.inv()", "quaternion_conjugate", "q"),
    Row("turn a vector", "a.apply(x)", "rotate_by_quaternion", "q, x"),
    Row("angle", "a.magnitude()", "quaternion_angle", "q"),
    Row("interpolation between two attitudes", "slerp(t)", "interpolate_shortest", "q[0], q[1], t"),
]


def material(count: int, seed: int = 0) -> dict:
    """The names in the rows: the same random attitudes in every form."""
    random = np.random.default_rng(seed)
    a, b = Rotation.random(count, rng=random), Rotation.random(count, rng=random)
    names = {
        "a": a, "b": b, "xyzw": a.as_quat(), "xyzw2": b.as_quat(), "R": a.as_matrix(), "R2": b.as_matrix(),
        "r": a.as_rotvec(), "r2": b.as_rotvec(), "p": a.as_mrp(), "x": random.normal(size=(count, 3)),
        "t": random.uniform(size=count)}
    names |= {
        "q": scalar_first(names["xyzw"]).copy(), "q2": scalar_first(names["xyzw2"]).copy(), "slerp": Slerp([0, 1],
                                                                                                           a[:2])}
    return names | {f"from_{kind}": getattr(Rotation, f"from_{kind}") for kind in ("quat", "matrix", "rotvec", "mrp")}


def contestants(row: Row, table: str, names: dict, count: int) -> Iterator[Contestant]:
    """SciPy, Cayley with checks, and Cayley without; refused if they do not agree."""
    kernel = getattr(rotations, row.kernel)
    names = names | {"checked": kernel, "unchecked": kernel.unchecked}
    expected = eval(row.scipy, names)
    expected = row.comparable(expected) if isinstance(expected, np.ndarray) else canonical(expected.as_quat())
    found = eval(f"checked({row.arguments})", names)
    if row.kernel in ("quaternion_product", "quaternion_conjugate", "interpolate_shortest"):
        found = np.where(found[..., :1] < 0, -found, found)
        expected = np.where(expected[..., :1] < 0, -expected, expected)
    agree("SciPy", float(np.abs(found - expected).max()), TOLERANCE)
    for who, statement in {
            "scipy": row.scipy, "checked": f"checked({row.arguments})",
            "unchecked": f"unchecked({row.arguments})"}.items():
        yield Contestant(f"{table} {row.title} {who}", row.title, statement, names, count, lambda: expected)


def figures(table: str, rows: list[Row], ns: dict[str, float], *, checked: bool) -> list[list[str]]:
    """The rows of one table: times, and the ratio that has a bound."""
    lines = []
    for row in rows:
        scipy, ours = ns[f"{table} {row.title} scipy"], [
            ns[f"{table} {row.title} {who}"] for who in ("checked", "unchecked")]
        ratios = [scipy / each for each in (ours if checked else ours[1:])]
        shown = [f"{each:.1f}" for each in (ours if checked else ours[1:])]
        lines.append([
            row.title, f"{scipy:.1f}", *shown, *[f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}" for ratio in ratios],
            "met" if min(ratios) >= REQUIRED else "NOT MET"])
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="times that every contestant is measured")
    options.add_argument("--count", type=int, default=100_000, help="rotations of a batch")
    chosen = options.parse_args()
    console = Console()
    names = material(chosen.count)
    entered = [c for table, rows in (("arrays", CONVERSIONS), ("object", OPERATIONS)) for row in rows
               for c in contestants(row, table, names, chosen.count)]
    console.print(f"{len(entered)} contestants agree. Timing:")
    nanoseconds: dict[str, float] = {}
    others = OtherPrograms()
    for medians in track(race(entered, chosen.rounds), total=chosen.rounds, description="rounds", console=console,
                         transient=True):
        nanoseconds = medians
    disturbance = others.cores()
    tables = [
        Table("Arrays to arrays",
         ["", "SciPy, ns", "Cayley, ns", "unchecked, ns", "times faster", "unchecked",
          "at least 1"], figures("arrays", CONVERSIONS, nanoseconds, checked=True)),
        Table("A rotation made beforehand", ["", "SciPy, ns", "Cayley, ns", "times faster",
                                        "at least 1"], figures("object", OPERATIONS, nanoseconds, checked=False)), ]
    page.write(__file__, tables, rounds=chosen.rounds, others=disturbance)


if __name__ == "__main__":
    main()
