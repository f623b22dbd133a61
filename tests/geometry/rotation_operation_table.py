"""Table 1 of Mladenova regenerated: two ways to carry a vector through n links, by matrices (form B, multiply B p, n
times) and by vector-parameters (form c, compose n - 1 times, one O(c) p at the end), as printed and as counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.costs import StepCost, _change, _check_count, cost_of
from cayley.geometry.rotations.euler import euler_kernels
from cayley.geometry.rotations.frames import turned
from cayley.geometry.rotations.matrix import compose_rotations
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_product
from cayley.geometry.rotations.vector_parameter import (
    compose_vector_parameters,
    matrix_from_vector_parameter,
    rotate_by_vector_parameter,
    vector_parameter_from_quaternion,
)
from cayley.geometry.rotations.vector_parameter_angles import (
    vector_parameter_from_bryant,
    vector_parameter_from_eulerian,
)


@kernel("(3)->(3,3)")
def eulerian_matrix(angles: Array) -> Array:
    """Rz Rx Rz written out, with its four products shared."""
    sp, st, ss = np.sin(angles)
    cp, ct, cs = np.cos(angles)
    cc = cp * cs
    cx = cp * ss
    xc = sp * cs
    xx = sp * ss
    return np.array([[cc - xx * ct, -cx - xc * ct, sp * st], [xc + cx * ct, cc * ct - xx, -cp * st],
                     [st * ss, st * cs, ct]])


@kernel("(3)->(3,3)")
def bryant_matrix(angles: Array) -> Array:
    """Rz Ry Rx, multiplied from the left."""
    (s1, s2, s3) = np.sin(angles)
    (c1, c2, c3) = np.cos(angles)
    return np.array([[c3, -s3, 0], [s3, c3, 0], [0, 0, 1]]) @ np.array([[c2, 0, s2], [0, 1, 0], [-s2, 0, c2]]) \
        @ np.array([[1, 0, 0], [0, c1, -s1], [0, s1, c1]])


@kernel("(4)->(3,3)")
def euler_parameter_matrix(b: Array) -> Array:
    """Mladenova (12), for a unit quaternion."""
    w, x, y, z = b
    a = x + x
    b = y + y
    c = z + z
    return np.array([[1 - (b * y + c * z), b * x - c * w, c * x + b * w],
                     [b * x + c * w, 1 - (a * x + c * z), c * y - a * w],
                     [c * x - b * w, c * y + a * w, 1 - (a * x + b * y)]])


@kernel("(),(),(),()->(3,4)")
def denavit_hartenberg_matrix(theta: Scalar, alpha: Scalar, a: Scalar, d: Scalar) -> Array:
    """The classical link matrix."""
    s = np.sin(theta)
    c = np.cos(theta)
    sa = np.sin(alpha)
    ca = np.cos(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d]])


@kernel("(3,4),(3)->(3)")
def denavit_hartenberg_product(A: Array, p: Array) -> Array:
    """A link matrix, one element of which is zero, on a point."""
    return np.array([A[0, :3] @ p + A[0, 3], A[1, :3] @ p + A[1, 3], A[2, 1:3] @ p[1:] + A[2, 3]])


@kernel("(3)->(3)")
def eulerian_parameter(half: Array) -> Array:
    """Mladenova (71), corrected as in spec E-14, of half angles (psi, theta, phi)."""
    psi, theta, phi = half
    t = np.tan(theta)
    d = np.cos(psi + phi)
    return np.array([-t * np.cos(psi - phi) / d, t * np.sin(psi - phi) / d, -np.tan(psi + phi)])


@kernel("(3)->(3)")
def bryant_parameter(half: Array) -> Array:
    """Mladenova (74) of half angles."""
    t1, t2, t3 = np.tan(half)
    return np.array([t1 - t2 * t3, t2 + t1 * t3, t3 - t1 * t2]) / (1 + t1 * t2 * t3)


@kernel("(),()->(3)")
def denavit_hartenberg_parameter(half_theta: Scalar, half_alpha: Scalar) -> Array:
    """Of half angles."""
    t = np.tan(half_theta)
    ta = np.tan(half_alpha)
    return np.array([ta, ta * t, t])


@kernel("(3),(3)->(4)")
def composition_without_division(a: Array, b: Array) -> Array:
    """[1 - a.b : a + b + a x b]."""
    return np.concatenate([[1 - a @ b], a + b + np.cross(a, b)])


@dataclass(frozen=True)
class Step:
    """One column of Table 1: what is claimed, the printed formula as a program, and Cayley's kernel."""

    title: str
    claimed: StepCost | None
    formula: StepCost
    kernel: StepCost | None


@dataclass(frozen=True)
class Chain:
    """A vector carried through n links, by matrices and by vector-parameters, as claimed and as measured on the printed
    formulas.
    """

    parameters: str
    links: int
    matrices_claimed: StepCost
    parameters_claimed: StepCost
    matrices: StepCost
    vector_parameters: StepCost

    @property
    def claimed_change(self) -> tuple[float, float, float]:
        """Of multiplications, additions and their sum, in per cent, by going from matrices to vector-parameters."""
        return _change(self.matrices_claimed, self.parameters_claimed)

    @property
    def measured_change(self) -> tuple[float, float, float]:
        return _change(self.matrices, self.vector_parameters)


@dataclass(frozen=True)
class RotationOperationTable:
    """Table 1 of the source, regenerated. `str` is Markdown."""

    steps: tuple[Step, ...]
    chains: tuple[Chain, ...]

    def __str__(self) -> str:
        steps = [[s.title, str(s.claimed or "-"), str(s.formula), str(s.kernel or "-")] for s in self.steps]
        chains = [[
            f"{c.parameters}, {c.links} links",
            str(c.matrices_claimed),
            str(c.parameters_claimed),
            _signed(c.claimed_change),
            str(c.matrices),
            str(c.vector_parameters),
            _signed(c.measured_change)] for c in self.chains]
        headings = [
            "chain", "matrices, claimed", "parameters, claimed", "change m, a, sum", "matrices", "parameters",
            "change m, a, sum"]
        return _markdown(["step", "claimed", "formula", "kernel"], steps) + "\n\n" + _markdown(headings, chains)


def rotation_operation_table(links: int = 6) -> RotationOperationTable:
    """Table 1 of Mladenova beside measured counts, for a chain of `links` links."""
    _check_count(links, "links")
    action = StepCost(14, 15)
    composition = StepCost(10, 12)
    families = [  # parameters, claimed B, B p and c, and the three formulas
        ("Eulerian angles", StepCost(12, 4, 6), StepCost(8, 6), StepCost(3, 2, 5), eulerian_matrix, turned,
         eulerian_parameter),
        ("Bryant angles", StepCost(14, 4, 6), StepCost(8, 6), StepCost(5, 0, 3), bryant_matrix, turned,
         bryant_parameter),
        ("Euler parameters", StepCost(11, 10), StepCost(8, 6), StepCost(3, 4), euler_parameter_matrix, turned,
         vector_parameter_from_quaternion),
        ("Denavit-Hartenberg", StepCost(6, 0, 4), StepCost(8, 8), StepCost(1, 0, 2), denavit_hartenberg_matrix,
         denavit_hartenberg_product, denavit_hartenberg_parameter), ]  # fmt: skip
    composed = cost_of(compose_vector_parameters)
    turned_once = cost_of(rotate_by_vector_parameter)
    ours = {"Eulerian angles": (euler_kernels("zxz", axes="moving").matrix_from_euler, vector_parameter_from_eulerian),
            "Bryant angles": (euler_kernels("zyx", axes="moving").matrix_from_euler, vector_parameter_from_bryant),
            "Euler parameters": (matrix_from_quaternion, vector_parameter_from_quaternion)}
    steps = []
    chains = []
    for name, B, Bp, c, matrix, product, parameter in families:
        kernels = [cost_of(k) for k in ours[name]] if name in ours else [None, None]
        steps += [
            Step(f"{name}: matrix B", B, cost_of(matrix), kernels[0]),
            Step(f"{name}: B p", Bp, cost_of(product), cost_of(turned)),
            Step(f"{name}: c", c, cost_of(parameter), kernels[1])]
        chains.append(Chain(name, links, (B + Bp).times(links), c.times(links) + composition.times(links - 1) + action,
                            (cost_of(matrix) + cost_of(product)).times(links),
                            cost_of(parameter).times(links) + composed.times(links - 1) + turned_once))
    steps += [
        Step("composition of two c", composition, composed, composed),
        Step("the same without the division", None, cost_of(composition_without_division), None),
        Step("O(c) p", action, turned_once, turned_once),
        Step("O(c)", None, cost_of(matrix_from_vector_parameter), cost_of(matrix_from_vector_parameter)),
        Step("product of two matrices", None, cost_of(compose_rotations), cost_of(compose_rotations)),
        Step("product of two quaternions", None, cost_of(quaternion_product), cost_of(quaternion_product)),
    ]
    return RotationOperationTable(tuple(steps), tuple(chains))


def _signed(changes: Iterable[float]) -> str:
    return ", ".join(f"{change:+.1f} %" for change in changes)


def _markdown(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
