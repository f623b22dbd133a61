"""Operations of rotations: how they are counted, and the claims of Mladenova's Tables 2 and 3.

A sine, a cosine and a tangent are a function call each; a division counts as one multiplication in totals. Table 1 is
regenerated in `tests/geometry/rotation_operation_table.py`. What holds (spec section 6, E-75, E-76): vector-parameters
save multiplications and function calls. "More than 30 % fewer operations" is true only of multiplications with Eulerian
angles: additions grow, and with Denavit-Hartenberg parameters the sum grows too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.errors import GeometryError, shown


@dataclass(frozen=True)
class StepCost:
    """Operations of a step."""

    multiplications: int
    additions: int
    functions: int = 0
    divisions: int = 0

    def __add__(self, other: StepCost) -> StepCost:
        return StepCost(self.multiplications + other.multiplications, self.additions + other.additions,
                    self.functions + other.functions, self.divisions + other.divisions)

    def times(self, number: int) -> StepCost:
        return StepCost(number * self.multiplications, number * self.additions, number * self.functions,
                    number * self.divisions)

    @property
    def products(self) -> int:
        """Multiplications, with a division as one of them."""
        return self.multiplications + self.divisions

    def __str__(self) -> str:
        divided = f" + {self.divisions} d" if self.divisions else ""
        called = f" + {self.functions} f" if self.functions else ""
        return f"{self.multiplications} m{divided} + {self.additions} a{called}"


def cost_of(program: Kernel) -> StepCost:
    """The operations of a kernel, each sine, cosine and tangent by itself."""
    found = program.operations()
    functions = sum(node.op in ("sin", "cos", "tan") for node in program.program().nodes)
    return StepCost(found.multiplications, found.additions, functions, found.divisions)


# Tables 2 and 3: claims only; what they count is measured where Jacobians and dynamics are


@dataclass(frozen=True)
class JacobianClaim:
    """A row of Table 2 for n joints."""

    method: str
    matrices: StepCost
    vector_parameters: StepCost

    @property
    def change(self) -> tuple[float, float, float]:
        return _change(self.matrices, self.vector_parameters)


def jacobian_claims(n: int = 6) -> tuple[JacobianClaim, ...]:
    """Table 2, without its unfinished first row.

    >>> # multiplications and additions together: more, not fewer
    >>> [round(claim.change[2], 1) for claim in jacobian_claims(6)]
    [9.0, 3.9, 40.2, 0.4, 10.0]
    """
    _check_count(n, "joints")
    rows = [("Waldron", (30, -55, 15, -38, 2, -2), (24, -42, 22, -41)),
            ("Ribble", (30, -11, 18, -20, 2, 0), (24, -6, 22, -3)),
            ("Renaud", (30, -87, 15, -66, 2, -2), (24, -52, 22, -60)),
            ("Paul", (30, -25, 15, -22, 2, 0), (24, -26, 22, -26)),
            ("Orin and Schrader", (30, -18, 14, -15, 2, 0), (24, -10, 22, -12))]
    return tuple(JacobianClaim(name, StepCost(m * n + k, a * n + l, f * n + g), StepCost(p * n + q, r * n + s, n))
                 for name, (m, k, a, l, f, g), (p, q, r, s) in rows)


def dynamics_claims(n: int = 6) -> dict[str, StepCost]:
    """Table 3, the rows with complete formulas; those of Luh and of Orin are exchanged there, spec E-75.

    >>> dynamics_claims(6)["vector-parameter"]
    StepCost(multiplications=775, additions=792, functions=0, divisions=0)
    """
    _check_count(n, "joints")
    rows = {
        "Hollerbach 4x4": (830, -592, 675, -464), "Hollerbach 3x3": (412, -277, 320, -201),
        "Luh, Armstrong": (150, -48, 131, -48), "Orin, McGhee, Vukobratovic": (137, -22, 101, -11),
        "Nakamura": (133, -17, 106, -19), "vector-parameter": (138, -53, 143, -66)}
    return {name: StepCost(m * n + k, a * n + l) for name, (m, k, a, l) in rows.items()}


def _check_count(number: int, what: str) -> None:
    if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
        raise GeometryError(f"the number of {what} must be a whole number, 1 or more, not {shown(number)}")


def _change(before: StepCost, after: StepCost) -> tuple[float, float, float]:
    pairs = [(before.products, after.products), (before.additions, after.additions)]
    pairs.append((sum(p[0] for p in pairs), sum(p[1] for p in pairs)))
    return tuple(100.0 * (new / old - 1.0) for old, new in pairs)  # type: ignore[return-value]
