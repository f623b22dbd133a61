"""Inertia tensors of uniform solids, shells and thin bodies about their centres of mass, [kg m^2] from mass [kg] and
sizes [m].

Axes of symmetry lie along z. Each follows from the mean squares <x^2>, <y^2>, <z^2> of the coordinates, the diagonal of
J / m: they are a line of the table each.

>>> box_inertia(12.0, [1.0, 2.0, 3.0]).diagonal(), sphere_inertia(5.0, 1.0).diagonal()
(array([13., 10.,  5.]), array([2., 2., 2.]))
>>> tube_inertia(12.0, 1.0, 1.0, 2.0).diagonal(), cone_inertia(80.0, 1.0, 2.0).diagonal()
(array([10., 10., 12.]), array([24., 24., 24.]))
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.tensors.checks import refuse_where


def _check_solid(mass: Array, *sizes: Array) -> None:
    """Raise `GeometryError` where a mass or a size is negative: no solid has it."""
    for name, values in (("mass", mass), *(("size", size) for size in sizes)):
        values = np.asarray(values)
        refuse_where(
            values < 0,
            f"the {name} of a solid is {{defect:.6g}}{{element}}: it is not negative; cut holes out with body - part",
            values)


def _solid(name: str, sizes: str, mean_squares: Callable[..., Any], says: str) -> Kernel[Array]:
    def inertia(mass: Scalar, *given: Scalar) -> Array:
        x, y, z = mean_squares(*given)
        zero = 0 * mass
        return np.array([[mass * (y + z), zero, zero], [zero, mass * (x + z), zero], [zero, zero, mass * (x + y)]])

    inertia.__doc__ = says
    inputs = ("mass", *signature(mean_squares).parameters)
    return kernel(f"(),{sizes}->(3,3)", name=name, inputs=inputs, check=_check_solid)(inertia)


def _of_capsule(radius: Scalar, length: Scalar) -> tuple[Scalar, ...]:
    # volumes, up to pi r^2
    middle = length
    ends = 4 / 3 * radius
    whole = middle + ends
    across = (middle / 4 + ends / 5) / whole * radius * radius
    along = (middle * length * length / 12 + ends *
             (radius * radius / 5 + length * length / 4 + 3 / 8 * radius * length)) / whole
    return across, across, along


def _round(across: Scalar, along: Scalar) -> tuple[Scalar, ...]:
    return across, across, along


box_inertia = _solid("box_inertia", "(3)", lambda size: size * size / 12,
                     "Of a box with the three side lengths `size`.")
ellipsoid_inertia = _solid("ellipsoid_inertia", "(3)", lambda semi_axes: semi_axes * semi_axes / 5,
                           "Of an ellipsoid with the three semi-axes.")
sphere_inertia = _solid("sphere_inertia", "()", lambda radius: [radius * radius / 5] * 3,
                        "Of a solid sphere: 2/5 m r^2.")
spherical_shell_inertia = _solid("spherical_shell_inertia", "()", lambda radius: [radius * radius / 3] * 3,
                                 "Of a thin spherical shell: 2/3 m r^2.")
hemisphere_inertia = _solid(
    "hemisphere_inertia", "()", lambda radius: _round(radius * radius / 5, radius * radius * (1 / 5 - 9 / 64)),
    "Of a solid hemisphere, about its centre of mass, which lies 3/8 r from the flat face.")
cylinder_inertia = _solid("cylinder_inertia", "(),()", lambda radius, length: _round(
    radius * radius / 4, length * length / 12), "Of a solid cylinder.")
tube_inertia = _solid("tube_inertia", "(),(),()", lambda inner, outer, length: _round(
    (inner * inner + outer * outer) / 4, length * length / 12),
    "Of a hollow cylinder; with equal radii it is a thin cylindrical shell.")
cone_inertia = _solid("cone_inertia", "(),()", lambda radius, height: _round(
    3 / 20 * radius * radius, 3 / 80 * height * height),
    "Of a solid cone, about its centre of mass, which lies a quarter of the height from the base.")
capsule_inertia = _solid("capsule_inertia", "(),()", _of_capsule,
                         "Of a cylinder of the given length between two half balls; without length it is a sphere.")
torus_inertia = _solid("torus_inertia", "(),()", lambda ring, tube: _round(
    ring * ring / 2 + 3 / 8 * tube * tube, tube * tube / 4),
    "Of a solid torus: `ring` is the radius of the circle in the middle of the tube, `tube` that of the tube.")
rod_inertia = _solid("rod_inertia", "()", lambda length: _round(0.0, length * length / 12),
                     "Of a thin rod along z: nothing about its own axis.")
plate_inertia = _solid("plate_inertia", "(2)", lambda sides: (*(sides * sides / 12), 0.0),
                       "Of a thin rectangular plate across z: the moment about z is the sum of the other two.")
disc_inertia = _solid("disc_inertia", "()", lambda radius: _round(radius * radius / 4, 0.0), "Of a thin disc across z.")
ring_inertia = _solid("ring_inertia", "()", lambda radius: _round(radius * radius / 2, 0.0), "Of a thin ring across z.")
