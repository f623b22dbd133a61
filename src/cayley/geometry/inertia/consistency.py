"""Can a body have these mass properties? Which inequality fails, and by how much.

A real body has a mass that is not negative, and mean squares of coordinates that are not negative: its pseudo-inertia
is positive semidefinite. For the inertia tensor about the centre of mass this says that no principal moment exceeds the
sum of the other two. A body without mass has no moments either: inertias that only the limit of ever lighter and wider
bodies could have are refused. Sources: Balafoutis & Patel 4.3.1; Yamamoto 3.2-3.3 (spec S3-27)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import real_array, tolerance_of
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.geometry.inertia.tensors import euler_tensor_from_inertia, inertia_from_euler_tensor
from cayley.geometry.tensors.products import symmetric_part
from cayley.showing import brief

_MASSLESS = "there is no mass, but an inertia"


@dataclass(frozen=True)
class Consistency:
    """The verdict on one set of mass properties. `bool(verdict)` is whether a body can have them."""

    violations: tuple[str, ...]
    """One sentence for each inequality that fails, with the amount."""
    mass: float
    principal_moments: Array
    """Of the inertia about the centre of mass, ascending [kg m^2]; NaN if the tensor is not finite."""
    triangle_slack: float
    """I1 + I2 - I3 of the principal moments [kg m^2]: negative if they break the triangle inequality, zero for flat
    bodies."""

    __repr__ = brief

    def __bool__(self) -> bool:
        return not self.violations


def physical_consistency(body: MassProperties, *, tolerance: float | None = None) -> Consistency:
    """Check the mass properties of a body, to `tolerance` (1e-8) times the largest moment.

    >>> print(physical_consistency(MassProperties(2.0, np.zeros(3), np.diag([1.0, 1.0, 3.0]))).violations[0])
    the triangle inequality fails: I3 = 3 exceeds I1 + I2 = 2 by 1 kg m^2
    """
    mass, center, inertia = body.mass, body.center, body.inertia
    if not (np.isfinite(mass) and np.isfinite(center).all() and np.isfinite(inertia).all()):
        return Consistency(("mass, centre or inertia are not finite numbers",), mass, np.full(3, np.nan), np.nan)
    moments = np.linalg.eigvalsh(symmetric_part(inertia))
    slack = float(moments[0] + moments[1] - moments[2])
    return Consistency(tuple(_violations(mass, inertia, moments, slack, tolerance_of(inertia, tolerance))), mass,
                       moments, slack)


def _violations(mass: float, inertia: Array, moments: Array, slack: float, tolerance: float) -> Iterator[str]:
    size = tolerance * np.abs(inertia).max()
    if mass < 0:
        yield f"the mass is negative: {mass:.6g} kg"
    if mass == 0 and inertia.any():
        yield _MASSLESS
    asymmetry = np.abs(inertia - inertia.T).max()
    if asymmetry > size:
        yield f"the inertia tensor is not symmetric: I - I^T reaches {asymmetry:.6g} kg m^2"
    if moments[0] < -size:
        yield f"the principal moment I1 is negative: {moments[0]:.6g} kg m^2"
    if slack < -size:
        yield (f"the triangle inequality fails: I3 = {moments[2]:.6g} exceeds I1 + I2 = {moments[0] + moments[1]:.6g} "
               f"by {-slack:.6g} kg m^2")


def pseudo_inertia_consistency(H: ArrayLike, *, tolerance: float | None = None) -> Consistency:
    """Check a 4 by 4 pseudo-inertia: it must be positive semidefinite, and zero where there is no mass.

    >>> print(pseudo_inertia_consistency(np.diag([0.1, 0.1, 0.1, 2.0])).violations)
    ()
    """
    H = real_array(H, (4, 4), "a pseudo-inertia")
    tolerance = tolerance_of(H, tolerance)
    if not np.isfinite(H).all():
        return Consistency(("the pseudo-inertia is not finite",), float(H[3, 3]), np.full(3, np.nan), np.nan)
    violations = []
    if np.abs(H - H.T).max() > tolerance * np.abs(H).max():
        violations.append(f"the pseudo-inertia is not symmetric: H - H^T reaches {np.abs(H - H.T).max():.6g}")
    mass = float(H[3, 3])
    first = H[:3, 3]
    if mass < 0:
        violations.append(f"the mass is negative: {mass:.6g} kg")
    if mass == 0 and first.any():
        violations.append(f"there is no mass, but a first moment of {np.linalg.norm(first):.6g} kg m")
    if mass == 0 and H[:3, :3].any():
        violations.append(_MASSLESS)
    euler = symmetric_part(H[:3, :3]) - (np.outer(first, first) / mass if mass != 0 else 0.0)
    smallest = float(np.linalg.eigvalsh(euler)[0])
    if smallest < -tolerance * np.abs(H[:3, :3]).max():
        violations.append(
            "the pseudo-inertia is not positive semidefinite: along one axis the mass integral of squares about the "
            f"centre is {smallest:.6g} kg m^2, so the triangle inequality fails by {-2 * smallest:.6g} kg m^2")
    return Consistency(tuple(violations), mass, np.linalg.eigvalsh(inertia_from_euler_tensor(euler)), 2 * smallest)


def check_mass_properties(body: MassProperties, *, name: str = "the body", tolerance: float | None = None) -> None:
    """Raise `GeometryError` with every inequality that fails, if no real body can have these mass properties.

    >>> check_mass_properties(MassProperties(0.0, np.zeros(3), np.zeros((3, 3))))
    """
    verdict = physical_consistency(body, tolerance=tolerance)
    if not verdict:
        of_the_inertia = len(verdict.violations) > (verdict.mass <= 0) and np.isfinite(verdict.principal_moments).all()
        repair = "; nearest_physical_inertia offers a repair of the inertia" if of_the_inertia else ""
        raise GeometryError(f"{name} is not physical: " + "; ".join(verdict.violations) + repair)


def nearest_physical_inertia(inertia: ArrayLike) -> Array:
    """The inertia about the centre of mass that a body can have, whose Euler tensor is nearest (Frobenius).

    >>> nearest_physical_inertia(np.diag([1.0, 1.0, 3.0])).diagonal()
    array([1.5, 1.5, 3. ])
    """
    inertia = real_array(inertia, (3, 3), "an inertia tensor")
    if not np.isfinite(inertia).all():
        raise GeometryError("the inertia tensor has components that are NaN or infinite: there is no nearest one")
    values, axes = np.linalg.eigh(euler_tensor_from_inertia(symmetric_part(inertia)))
    return inertia_from_euler_tensor(axes @ np.diag(np.maximum(values, 0.0)) @ axes.T)
