"""Parts of the closed forms of machines: kernels of methods, checked arguments, bars with masses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MethodType
from typing import TypeVar

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, SignatureError, did_you_mean
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint

Result = TypeVar("Result")


def compiled(signature: str, *, outputs: Sequence[str] | None = None, explain: str = "", check: str = "",
             needs: str = "") -> Callable[[Callable[..., Result]], cached_property[Kernel[Result]]]:
    """A method, written for one state, as a kernel of its object, made at first use. Words in braces in the `signature`
    are numbers of its `sizes`. `explain` and `check` name methods of the object that the kernel has for these, and
    `needs` one that raises if there is no such kernel."""
    def made(text: Callable[..., Result]) -> cached_property[Kernel[Result]]:
        def make(owner: object) -> Kernel[Result]:
            if needs:
                getattr(owner, needs)()
            reason, test = (getattr(owner, name) if name else None for name in (explain, check))
            shapes = signature.format(**getattr(owner, "sizes", {}))
            return kernel(shapes, outputs=outputs, explain=reason, check=test)(MethodType(text, owner))

        make.__doc__ = text.__doc__
        return cached_property(make)

    return made


def batch_of(what: str, given: ArrayLike, core: tuple[int, ...]) -> Array:
    """Numbers (..., *core), or an error that says which they should have been.

    >>> batch_of("crank angles", [0.0, 0.1], (3,))
    Traceback (most recent call last):
    cayley.errors.SignatureError: crank angles must have the shape (..., 3), not (2,)
    """
    values = np.asarray(given, dtype=float)
    if values.shape[values.ndim - len(core):] != core or values.ndim < len(core):
        raise SignatureError(f"{what} must have the shape (..., {', '.join(map(str, core))}), not {values.shape}")
    return values


def data(what: str, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Finite numbers that a machine is made of, of one shape."""
    values = np.array(given, dtype=float)
    if values.shape != shape or not np.isfinite(values).all():
        raise ModelError(f"{what} must be finite numbers of the shape {shape}, not {values.shape}")
    return values


Masses = Mapping[str, float]
"""Masses [kg] by the names of bodies; a name without its number stands for all that have one."""
DOWN = (0.0, -9.81, 0.0)


def place(x: float = 0.0, y: float = 0.0, z: float = 0.0, *, turn: float = 0.0) -> Array:
    """A pose at a point, turned about z."""
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    pose[:3, 3] = x, y, z
    return pose


def rod(name: str, length: float, masses: Masses | None) -> Body:
    """A slender uniform rod along x from its frame; of unknown mass if none is given."""
    mass = mass_of(name, masses)
    if mass is None:
        return Body(name)
    return Body(name, mass, (length / 2, 0.0, 0.0), mass * length**2 / 12 * np.diag([0.0, 1.0, 1.0]))


def crank_legs(pivots: Array, cranks: Array, rods: Array, masses: Masses | None) -> tuple[list[Body], list[Joint]]:
    """The base, and planar legs of a crank on a pivot and a rod: joints "crank1", "rod1" (relative to it), ..."""
    bodies = [Body("base")]
    joints = []
    for leg, ((x, y), a, b) in enumerate(zip(pivots, cranks, rods, strict=True), start=1):
        bodies += [rod(f"crank{leg}", a, masses), rod(f"rod{leg}", b, masses)]
        joints += [Joint(f"crank{leg}", "base", f"crank{leg}", Revolute(), place(x, y)),
                   Joint(f"rod{leg}", f"crank{leg}", f"rod{leg}", Revolute(), place(a))]
    return bodies, joints


def mass_of(name: str, masses: Masses | None) -> float | None:
    """The mass of a body, by its name or by that without its number; None if it is not known."""
    known = masses or {}
    found = known.get(name, known.get(name.rstrip("0123456789")))
    return None if found is None else float(found)


def check_masses(masses: Masses | None, names: Sequence[str]) -> None:
    """Refuse masses of bodies that are not there."""
    known = {*names, *[name.rstrip("0123456789") for name in names]}
    for name in masses or {}:
        if name not in known:
            raise ModelError(f"there is no body {name!r}{did_you_mean(name, known)}; it has {', '.join(names)}")


def names_of(bodies: Iterable[Body]) -> list[str]:
    """All but the base."""
    return [body.name for body in bodies][1:]
