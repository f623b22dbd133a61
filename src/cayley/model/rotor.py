"""The rotor of a motor: its spin, its gear and, as far as they are known, its body and its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array
from cayley.errors import ModelError, shown
from cayley.geometry.batch import tolerance_of
from cayley.model.finite import check_finite, frozen
from cayley.model.winding import Winding

Rows = tuple[tuple[float, ...], ...]
_AGREES = 1e-9  # of a spin inertia that is given twice


@dataclass(frozen=True)
class Friction:
    """Joint friction: -(viscous v + coulomb sign v) [N m s, N m, or N s/m, N]; at rest any force up to coulomb, against
    the motion that would begin."""

    viscous: float = 0.0
    coulomb: float = 0.0

    def __post_init__(self) -> None:
        check_finite(self, "friction")


@dataclass(frozen=True)
class Rotor:
    """The rotor of a joint's motor: its inertia about its own axis [kg m^2] and the turns it makes for one of the joint
    (gear ratio), negative if it turns the other way; of a prismatic joint radians for one metre.

    The joint feels the armature, or reflected inertia, inertia * gear^2. A rotor that is known as a body also has its
    `mass` [kg], the `center` of mass (3) and the inertia `tensor` (3, 3) about it, in its own frame with z along its
    axis. Its `carrier` is a body, by default the parent of the joint, and `place` (4, 4) its frame in that body with
    the motor at zero, by default the joint's frame with z along the joint's axis. Of one without a `mass` only the spin
    is known. Its `winding` is what drives it by a voltage.

    >>> Rotor(1e-4, gear=100.0).reflected
    1.0
    >>> Rotor(gear=50.0, mass=0.5, tensor=np.diag([1e-4, 1e-4, 2e-4])).inertia
    0.0002
    """

    inertia: float = 0.0
    gear: float = 1.0
    mass: float | None = None
    center: tuple[float, ...] = (0.0, 0.0, 0.0)
    tensor: Rows | None = None
    carrier: str | None = None
    place: Rows | None = None
    friction: Friction = field(default_factory=Friction)  # of its own bearings, at the motor
    winding: Winding | None = None

    def __post_init__(self) -> None:
        check_finite(self, "rotor")
        self._check_kinds()
        if not is_symbolic(self.inertia) and self.inertia < 0:
            raise ModelError(f"the inertia of a rotor is {self.inertia}: it cannot be negative")
        if self.mass is not None and not self.mass >= 0:
            raise ModelError(f"the mass of a rotor is {shown(self.mass)}: it cannot be negative")
        for key, shape in (("center", (3,)), ("tensor", (3, 3)), ("place", (4, 4))):
            if getattr(self, key) is not None:  # as tuples, so that rotors can be compared
                numbers = frozen(getattr(self, key), shape, f"the {key} of a rotor").tolist()
                object.__setattr__(self, key, tuple(numbers) if shape == (3,) else tuple(map(tuple, numbers)))
        if self.mass is None and (self.tensor is not None or any(self.center)):
            raise ModelError("a rotor has a centre of mass or a tensor of inertia, but no mass: give it one, 0 if that "
                             "is negligible")
        if self.tensor is not None:
            self._check_tensor()
        elif self._offset and not is_symbolic(self.inertia) and not self.inertia:
            object.__setattr__(self, "inertia", self._offset)
        elif self._offset and not is_symbolic(self.inertia) and self._offset > self.inertia * (1 + _AGREES):
            raise ModelError(f"the inertia of a rotor about its axis is {self.inertia}, less than that of its mass at "
                             f"its centre, {self._offset}")

    def _check_kinds(self) -> None:
        """Raise an error for fields of the wrong type."""
        for name in ("inertia", "gear", "mass"):
            value = getattr(self, name)
            if (name == "mass" and value is None) or is_symbolic(value):
                continue
            if isinstance(value, bool) or not isinstance(value, Real):
                instead = "; a tensor (3, 3) is its `tensor`" if name == "inertia" and np.ndim(value) else ""
                raise ModelError(f"the {name} of a rotor is {shown(value)}: it must be a number{instead}")
        if not isinstance(self.friction, Friction):
            raise ModelError(f"the friction of a rotor is {shown(self.friction)}: give Friction(viscous=..., "
                             "coulomb=...), of cayley.model.rotor")
        if not (self.winding is None or isinstance(self.winding, Winding)):
            raise ModelError(f"the winding of a rotor is {shown(self.winding)}: give Winding(resistance=..., "
                             "torque_constant=...), of cayley.model.winding")

    def _check_tensor(self) -> None:
        """Check that the inertia about the axis and the tensor agree."""
        tensor = np.asarray(self.tensor)
        if np.abs(tensor - tensor.T).max() > tolerance_of(tensor) * np.abs(tensor).max():
            raise ModelError(f"the tensor of inertia of a rotor is not symmetric: {tensor.tolist()}")
        spin = float(tensor[2, 2]) + self._offset
        if spin < 0:
            raise ModelError(f"the tensor of inertia of a rotor makes its inertia about its axis, z, {spin}: it cannot "
                             "be negative")
        if self.inertia and abs(self.inertia - spin) > _AGREES * spin:
            raise ModelError(f"the inertia of a rotor about its axis is {self.inertia}, but its tensor and its centre "
                             f"make it {spin}: leave out the first")
        object.__setattr__(self, "inertia", spin)

    @property
    def _offset(self) -> float:
        """Inertia about the axis that a centre of mass beside the axis adds."""
        return (self.mass or 0.0) * (self.center[0]**2 + self.center[1]**2)

    @property
    def reflected(self) -> float:
        """The inertia that the joint feels."""
        return self.inertia * self.gear**2

    @property
    def is_body(self) -> bool:
        """True if mass and centre are known, not the inertia about the axis alone."""
        return self.mass is not None

    @property
    def spin_alone(self) -> Rotor:
        """Rotor with its inertia about the axis alone, without mass and centre."""
        return Rotor(self.inertia, self.gear, friction=self.friction, winding=self.winding)

    def moved(self, pose: Array, carrier: str | None) -> Rotor:
        """The rotor on another carrier, in whose frame the old one's has this pose (4, 4)."""
        place = None if self.place is None else tuple(map(tuple, (pose @ np.asarray(self.place)).tolist()))
        return replace(self, carrier=carrier, place=place)

    @property
    def central_inertia(self) -> Array:
        """The tensor (3, 3) about the centre of mass; where it was not given, that of the spin alone."""
        if self.tensor is not None:
            return np.asarray(self.tensor)
        return np.diag([0.0, 0.0, self.inertia - self._offset])
