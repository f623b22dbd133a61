"""A biped in its sagittal plane: a trunk, two thighs and two shanks on the tips of which it stands.

    q = (x, z, theta, alpha1, beta1, alpha2, beta2)      hip [m]; angles [rad] clockwise from the vertical
    tau = (u1, u2, q1, q2)                               torques [N m] of the knees, on the shanks, and of the hips, on
                                                         the thighs
    R = (R1x, R1z, R2x, R2z)                             forces [N] of the ground on the feet
Source: Mladenova 10.1, 10.2, (398), (399), corrected as in spec E-73, E-74."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import are_definite
from cayley.compiler.typing import Array, ArrayLike, Scalar, is_finite_number
from cayley.errors import (
    ConventionError,
    GeometryError,
    ModelError,
    SignatureError,
    SingularityError,
    UnreachableError,
    shown,
)
from cayley.geometry.batch import above_rounding
from cayley.machines.arguments import batch_of, compiled, place
from cayley.machines.walking import biped_equations as equations
from cayley.machines.walking import contact_modes
from cayley.machines.walking import leg_motion as programs
from cayley.machines.walking.biped_equations import posture_of_angles
from cayley.machines.walking.leg_motion import KNEES, Gait, Legs, Relation, leg_angles, leg_motion
from cayley.machines.walking.programmed_body import SUPPORT, check_friction, programmed_gait
from cayley.machines.walking.stride import Stride
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree
from cayley.systems.system import System

ANGLES = ("theta", "alpha1", "beta1", "alpha2", "beta2")
_ACROSS = (0.0, 1.0, 0.0)  # about which clockwise turns, seen with x to the right and z up, are positive


@dataclass(frozen=True)
class PlanarBiped:
    """A biped by its masses [kg], half lengths of thigh and shank [m], height of the trunk's mass centre above the hip
    [m] and moments of inertia [kg m^2]: of trunk and thigh about the hip, of the shank about the knee.

    >>> biped = PlanarBiped()
    >>> biped.mass
    69.0
    >>> biped.feet([0.0, 0.88, 0.0, 0.0, 0.0, 0.0, 0.0]) + 0.0
    array([0., 0., 0., 0.])
    """

    hip_mass: float = 5.0
    trunk_mass: float = 40.0
    thigh_mass: float = 8.0
    shank_mass: float = 4.0
    half_thigh: float = 0.22
    half_shank: float = 0.22
    trunk_center: float = 0.30
    trunk_inertia: float = 5.1
    thigh_inertia: float = 0.4872
    shank_inertia: float = 0.2536
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            is_signed = each.name in ("trunk_center", "gravity")
            if not is_finite_number(value) or (value < 0 and not is_signed):
                raise ModelError(f"the {each.name} of a biped must be "
                                 f"finite{'' if is_signed else ' and not negative'}, not {shown(value)}")
        if self.half_thigh == 0 or self.half_shank == 0:
            raise ModelError("thighs and shanks of a biped have a length")
        own = {"trunk": self.trunk_inertia - self.trunk_mass * self.trunk_center**2,
               "thigh": self.thigh_inertia - self.thigh_mass * self.half_thigh**2,
               "shank": self.shank_inertia - self.shank_mass * self.half_shank**2}
        for link, moment in own.items():
            if moment < -1e-12 * getattr(self, f"{link}_inertia"):
                raise ModelError(f"the {link}_inertia of a biped is about its upper joint, and less than what its mass "
                                 f"has there by {-moment:.3g} kg m^2")

    @property
    def _leg(self) -> float:
        return 2 * (self.half_thigh + self.half_shank)

    @property
    def mass(self) -> float:
        """The mass of the whole, M."""
        return self.hip_mass + self.trunk_mass + 2 * self.thigh_mass + 2 * self.shank_mass

    @property
    def moments(self) -> tuple[float, float, float, float, float]:
        """Static moments of the five angles: kr, and -ka, -kb of each leg [kg m]."""
        ka = self.half_thigh * (self.thigh_mass + 2 * self.shank_mass)
        kb = self.half_shank * self.shank_mass
        return self.trunk_mass * self.trunk_center, -ka, -kb, -ka, -kb

    @property
    def own_inertias(self) -> tuple[float, float, float, float, float]:
        """I, and Ia, Ib of each leg [kg m^2]."""
        Ia = self.thigh_inertia + 4 * self.shank_mass * self.half_thigh**2
        return self.trunk_inertia, Ia, self.shank_inertia, Ia, self.shank_inertia

    @property
    def coupling(self) -> float:
        """Iab [kg m^2] of a thigh and its shank."""
        return 2 * self.shank_mass * self.half_thigh * self.half_shank

    # Equations of motion in angles

    @compiled("(7)->(7,7)")
    def inertia_matrix(self, q: Array) -> Array:
        """`inertia_matrix(q)`: H (..., 7, 7), the mass matrix."""
        return equations.inertia(self, posture_of_angles(q))

    @compiled("(7)->(4)")
    def feet(self, q: Array) -> Array:
        """`feet(q)`: x1, z1, x2, z2 (..., 4)."""
        return equations.feet(self, q, posture_of_angles(q))

    @compiled("(7)->(4,7)")
    def feet_jacobian(self, q: Array) -> Array:
        """`feet_jacobian(q)`: J (..., 4, 7)."""
        return equations.feet_jacobian(self, posture_of_angles(q))

    @compiled("(7),(7),(7)->(7)")
    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """`inverse_dynamics(q, qd, qdd)`: generalised forces Q (..., 7) of all coordinates."""
        at = posture_of_angles(q)
        return equations.inertia(self, at) @ qdd + equations.bias(self, at, qd[2:])

    @compiled("(7),(4),(4)->(7)")
    def forces(self, q: Array, tau: Array, reactions: Array) -> Array:
        """`forces(q, tau, reactions)`: the generalised forces Q (..., 7) of torques (4) and reactions (4)."""
        return equations.DRIVES @ tau + equations.feet_jacobian(self, posture_of_angles(q)).T @ reactions

    @compiled("(7),(7),(4),(4)->(7)", needs="_check_legs")
    def forward_dynamics(self, q: Array, qd: Array, tau: Array, reactions: Array) -> Array:
        """`forward_dynamics(q, qd, tau, reactions)`: qdd (..., 7) under torques (4) and given forces (4) on the
        feet."""
        return self._accelerations(posture_of_angles(q), qd[2:], tau, reactions)

    def _accelerations(self, at: equations.BipedPosture, w: Array, tau: Array, reactions: Array) -> Array:
        Q = equations.DRIVES @ tau + equations.feet_jacobian(self, at).T @ reactions
        return np.linalg.solve(equations.inertia(self, at), Q - equations.bias(self, at, w))

    @compiled("(7),(7)->()")
    def energy(self, q: Array, qd: Array) -> Scalar:
        """`energy(q, qd)`: kinetic and potential [J], the latter above z = 0."""
        return equations.energy(self, q, qd)

    # The same in half-angle tangents y = (x, z, tan theta/2, ...): without a sine, a cosine or a root

    def tangents(self, q: ArrayLike) -> Array:
        """y (..., 7) of configurations: hip, and tangents of the half angles. `SingularityError` at a half-turn, where
        there is none; angles have no such place.

        >>> PlanarBiped().tangents([0.0, 0.9, np.pi, 0.1, 0.1, 0.1, 0.1])
        Traceback (most recent call last):
        cayley.errors.SingularityError: the angle theta of the biped is a half-turn, whose tangent is infinite: ...
        """
        values = batch_of("configurations of a biped", q, (7,))
        half = np.cos(values[..., 2:] / 2)
        least = above_rounding(1e-12, q)
        for j, name in enumerate(ANGLES):
            if (np.abs(half[..., j]) < least).any():
                raise SingularityError(f"the angle {name} of the biped is a half-turn, whose tangent is infinite: use "
                                       "the equations in angles there")
        return np.concatenate([values[..., :2], np.sin(values[..., 2:] / 2) / half], axis=-1)

    @compiled("(7),(7),(7)->(7)")
    def inverse_dynamics_in_tangents(self, y: Array, yd: Array, ydd: Array) -> Array:
        """`inverse_dynamics_in_tangents(y, yd, ydd)`: the generalised forces Q (..., 7) of hip and angles. (399)."""
        at = equations.posture_of_tangents(y)
        rates = equations.rates_of_tangents(y, yd)
        turning = 2 * ydd[2:] / (1 + y[2:] * y[2:]) + rates.drift
        return equations.inertia(self, at) @ np.concatenate([ydd[:2], turning]) + equations.bias(self, at, rates.w)

    @compiled("(7),(7),(4),(4)->(7)", needs="_check_legs")
    def forward_dynamics_in_tangents(self, y: Array, yd: Array, tau: Array, reactions: Array) -> Array:
        """`forward_dynamics_in_tangents(y, yd, tau, reactions)`: ydd (..., 7)."""
        rates = equations.rates_of_tangents(y, yd)
        qdd = self._accelerations(equations.posture_of_tangents(y), rates.w, tau, reactions)
        return np.concatenate([qdd[:2], (qdd[2:] - rates.drift) * (1 + y[2:] * y[2:]) / 2])

    # Legs that move by a program: see `leg_motion`

    @compiled("(7),(7),(4)->(7),(4),(4)")
    def flight(self, q: Array, qd: Array, legs: Array) -> Gait:
        """`flight(q, qd, legs)`: qdd (..., 7), torques (..., 4), reactions (..., 4), which are zero, where the legs
        have the accelerations (4) of their angles."""
        return programs.in_flight(self, q, qd, legs)

    @compiled("(7),(7),(4)->(7),(4),(4)")
    def first_support(self, q: Array, qd: Array, legs: Array) -> Gait:
        """`first_support(q, qd, legs)`: qdd, torques and reactions where the first foot stands."""
        return programs.on_one_foot(self, q, qd, legs, 0)

    @compiled("(7),(7),(4)->(7),(4),(4)")
    def second_support(self, q: Array, qd: Array, legs: Array) -> Gait:
        """`second_support(q, qd, legs)`: qdd, torques and reactions where the second foot stands."""
        return programs.on_one_foot(self, q, qd, legs, 1)

    @compiled("(7),(7),(4),(m,9),(m)->(7),(4),(4)", check="_check_closed")
    def double_support(self, q: Array, qd: Array, legs: Array, relations: Array, values: Array) -> Gait:
        """`double_support(q, qd, legs, relations, values)`: qdd, torques and reactions where both feet stand. Seven
        equations have nine unknowns there: relations (m, 9) between (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z) with
        their values (m), none, one or two, say how the feet share the load; what they leave open is chosen with the
        least sum of squares of the torques. Not finite where two do not say it. `GeometryError` if the program of the
        legs moves the feet apart."""
        if len(values) > 2:
            raise SignatureError(f"two relations say how the feet share the load, not {len(values)}")
        return programs.on_both_feet(self, q, qd, legs, relations, values)

    @compiled("(7),(7),(4)->(7),(4),(4)", check="_check_closed")
    def double_support_with_least_torques(self, q: Array, qd: Array, legs: Array) -> Gait:
        """`double_support_with_least_torques(q, qd, legs)`: the same with the least sum of squares of the torques."""
        return programs.on_both_feet(self, q, qd, legs, np.zeros((0, 9)), np.zeros(0))

    @compiled("(7),(7)->(2,7),(2,4),(2,4)")
    def programmed_touch_down(self, q: Array, qd: Array) -> tuple[Array, ...]:
        """`programmed_touch_down(q, qd)`: the velocity (..., 2, 7) after the first or the second foot has come to rest
        on the ground while the legs keep the rates of their program, with the impulses (..., 2, 4) of the torques
        [N m s] and (..., 2, 4) of the ground [N s]: H (qd+ - qd-) = B T + J^T P."""
        change, torques, ground = (np.stack(part) for part in zip(
            *[programs.touch_down(self, q, qd, foot) for foot in range(2)], strict=True))
        return qd + change, torques, ground

    @compiled("(7),(7),(4)->(4)")
    def opening_rates(self, q: Array, qd: Array, legs: Array) -> Array:
        """`opening_rates(q, qd, legs)`: velocity and acceleration (..., 4) of the second foot relative to the first;
        zero where both can stand."""
        return programs.opening_rates(self, q, qd, legs)

    def _check_closed(self, q: Array, qd: Array, legs: Array, *others: Array) -> None:
        rates = np.abs(self.opening_rates(q, qd, legs)).max(initial=0.0)
        size = 1.0 + np.abs(legs).max(initial=0.0) + (np.abs(qd[..., 2:]) ** 2).max(initial=0.0)
        if rates > above_rounding(1e-8, q, qd, legs) * size * self._leg:
            raise GeometryError(f"the program of the legs moves the feet apart, by up to {rates:.3g} m/s or m/s^2, and "
                                "both cannot stand: see `opening_rates`")

    def _check_legs(self) -> None:
        generic = np.array([0.0, 1.0, 0.1, 0.5, -0.3, -0.4, -0.9])
        units = np.array([1.0, 1.0, *[self._leg] * 5])
        M = equations.inertia(self, posture_of_angles(generic)) / np.outer(units, units)
        if not are_definite(M):
            raise SingularityError("links of the biped have no inertia: its accelerations do not follow from forces. "
                                   "Give the motion of the legs, as in `flight`, `first_support` and `gait`")

    def gait(self, legs: Legs, *, ground: float | None = None, friction: float | None = None) -> System:
        """The body in time where the legs move by a program: `legs(t)` gives alpha1, beta1, alpha2, beta2, or is a
        motion of these. State: `body` (x, z, theta), `rates`, and the `places` (4) of feet that stand. Mode: `phase`,
        "flight", "first support" or "second support". Outputs q, qd, torques, reactions and feet. A foot takes off
        where its normal force ends, and touches down with its impulse where it meets the `ground`, whose height [m] is
        given; without, feet that fly meet nothing. With a coefficient of `friction` the motion ends where a foot would
        slide; without, feet do not slip. See `programmed_gait`, and `stride` for plans with double support."""
        check_friction(friction)
        if ground is not None and not is_finite_number(ground):
            raise ModelError(f"the ground of a gait must have a height [m], a finite number, or is None, not "
                             f"{shown(ground)}")
        return programmed_gait(self, legs, ground, friction)

    def stride(self, legs: Legs, phases: Sequence[tuple[str, float]], *, relations: Sequence[Relation] = (),
               friction: float | None = None, repeats: bool = True) -> Stride:
        """A plan for a stride: legs by a program over the stride, phases with their durations [s], legs exchanged from
        stride to stride; `stride.system` is the walk in time. See `Stride`.

        >>> squat = PlanarBiped().stride(
        ...     lambda s: 0.3 * s * np.array([-1.0, 1.0, -1.0, 1.0]) + np.array([-0.4, 0.4, -0.4, 0.4]),
        ...     [("double support", 0.5)], repeats=False)
        >>> squat.closure().residual < 1e-14
        True
        """
        return Stride(self, legs, phases, relations, friction, repeats)

    def stance(self, legs: Legs, *, theta: float, rate: float = 0.0, foot: int = 1, at: float = 0.0,
               t: float = 0.0) -> dict[str, Array | str]:
        """The start of a gait at the time t on one foot, which stands at x = `at`: the hip follows from the program of
        the legs; the trunk has the angle `theta` and its `rate`.

        >>> start = PlanarBiped().stance(lambda t: (0.3 - t, 0.1, -0.2 + t, -0.4), theta=0.1)
        >>> start["body"].round(3), start["phase"]
        (array([0.174, 0.858, 0.1  ]), 'first support')
        """
        if foot not in (1, 2):
            raise ModelError(f"a biped stands on foot 1 or 2, not on {foot!r}")
        for word, value in (("theta", theta), ("rate", rate), ("at", at), ("t", t)):
            if not is_finite_number(value):
                raise ModelError(f"{word} of a stance must be a finite number, not {shown(value)}")
        angles, rates, _ = leg_motion(legs)(t)
        rows = slice(2 * foot - 2, 2 * foot)
        q = np.concatenate([[0.0, 0.0, theta], angles])
        q[:2] = np.array([at, 0.0]) - self.feet(q)[rows]
        qd = np.concatenate([[0.0, 0.0, rate], rates])
        qd[:2] = -(self.feet_jacobian(q) @ qd)[rows]
        return {"body": q[:3], "rates": qd[:3], "places": self.feet(q), "phase": SUPPORT[foot - 1]}

    def leg_angles(self, hip: ArrayLike, feet: ArrayLike, *, knees: str = "forward") -> Array:
        """alpha1, beta1, alpha2, beta2 (..., 4) with the hip (..., 2) and the feet (..., 4) where they are given, also
        in the text of a program. `knees` bend "forward" or "backward". `UnreachableError` where a foot is out of reach.

        >>> biped = PlanarBiped()
        >>> q = np.concatenate([[0.0, 0.8, 0.1], biped.leg_angles([0.0, 0.8], [-0.2, 0.01, 0.25, 0.02])])
        >>> biped.feet(q).round(12)
        array([-0.2 ,  0.01,  0.25,  0.02])
        """
        if knees not in KNEES:
            raise ConventionError(f"knees bend {' or '.join(KNEES)}, not {knees!r}")
        return self._leg_angles[knees](hip, feet)

    @cached_property
    def _leg_angles(self) -> dict[str, Kernel]:
        return {knees: kernel("(2),(4)->(4)", name="leg_angles", inputs=("hip", "feet"), check=self._check_reach)(
            lambda hip, feet, knees=knees: leg_angles(self, hip, feet, knees)) for knees in KNEES}

    def _check_reach(self, hip: Array, feet: Array) -> None:
        most = 2 * (self.half_thigh + self.half_shank)
        least = 2 * abs(self.half_thigh - self.half_shank)
        for foot in range(2):
            far = np.linalg.norm(hip - feet[..., 2 * foot:2 * foot + 2], axis=-1)
            if ((far > most) | (far < least) | (far == 0)).any():
                wrong = far[(far > most) | (far < least) | (far == 0)].flat[0]
                raise UnreachableError(f"foot{foot + 1} would be {wrong:.4g} m from the hip: its leg reaches from "
                                       f"{least:.4g} m to {most:.4g} m")

    # Feet that meet the ground

    @compiled("(7),(7),(2)->(7),(4)", needs="_check_legs")
    def impact(self, q: Array, qd: Array, on: Array) -> tuple[Array, ...]:
        """`impact(q, qd, on)`: the velocity (..., 7) after an impact at which feet come to rest, and the impulses
        (..., 4) [N s] of the ground; `on` (..., 2) is 1 for a foot that does, 0 for one that does not. The momentum
        balance H (qd+ - qd-) = J^T P with J qd+ = 0."""
        return contact_modes.impact(self, q, qd, np.stack([on[0], on[0], on[1], on[1]]))

    def system(self, *, friction: float | None = None) -> System:
        """The biped in time under torques `tau`: state q, qd and the `places` (4) of the feet that stand, modes `foot1`
        and `foot2`, "air" or "ground", which touch-downs and take-offs switch, outputs q, qd, feet and reactions. Feet
        do not slide: where one would have to, by a coefficient of `friction` or because its normal force ends, the
        motion ends, and says so; see `contact_modes`."""
        self._check_legs()
        check_friction(friction)
        return contact_modes.walking_system(self, friction)

    # The same by the general tools

    @property
    def joint_map(self) -> Array:
        """(7, 7) that makes of q the configuration of the tree, and so of velocities and accelerations: its planar
        joint counts z down, and its angles are relative."""
        found = np.diag([1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
        for joint, before in ((3, 2), (4, 3), (5, 2), (6, 5)):
            found[joint, before] = -1.0
        return found

    def tree(self, standing: Mapping[int, float] | None = None) -> Tree:
        """The biped as a tree, `cy.Mechanism(biped.tree())`: joints "hip" (planar), "hip1", "knee1", "hip2", "knee2",
        relative to what they hang on, the last four actuated; frames "head", "foot1" and "foot2". `standing`: by the
        number of a foot, 1 or 2, the x at which it is held on the ground z = 0 by a pin."""
        standing = {} if standing is None else standing
        if not isinstance(standing, Mapping):
            raise ModelError("the feet of a biped that stand are given with their x, as {1: 0.0}, not as "
                             f"{shown(standing)}")
        upper = self.hip_mass + self.trunk_mass
        center = self.trunk_mass * self.trunk_center / upper if upper else 0.0
        bodies = [Body("ground"), _link("trunk", upper, center, self.trunk_inertia)]
        joints = [Joint("hip", "ground", "trunk", Planar(_ACROSS))]
        frames = [Frame("head", "trunk", place(z=2 * self.trunk_center))]
        for leg in (1, 2):
            bodies += [_link(f"thigh{leg}", self.thigh_mass, -self.half_thigh, self.thigh_inertia),
                       _link(f"shank{leg}", self.shank_mass, -self.half_shank, self.shank_inertia)]
            joints += [Joint(f"hip{leg}", "trunk", f"thigh{leg}", Revolute(_ACROSS)),
                       Joint(f"knee{leg}", f"thigh{leg}", f"shank{leg}", Revolute(_ACROSS),
                             place(z=-2 * self.half_thigh))]
            frames.append(Frame(f"foot{leg}", f"shank{leg}", place(z=-2 * self.half_shank)))
        loops = []
        for foot, x in standing.items():
            if foot not in (1, 2):
                raise ModelError(f"a biped stands on foot 1, 2 or both, not on {foot!r}")
            if not is_finite_number(x):
                raise ModelError(f"foot{foot} of a biped stands at a finite x, not at {shown(x)}")
            frames.append(Frame(f"place{foot}", "ground", place(x)))
            loops.append(Loop(f"contact{foot}", f"place{foot}", f"foot{foot}", Revolute(_ACROSS)))
        return Tree.of("planar_biped", bodies, joints, frames=frames, gravity=(0.0, 0.0, -self.gravity), loops=loops,
                       actuated=["hip1", "knee1", "hip2", "knee2"])


def _link(name: str, mass: float, center: float, inertia: float) -> Body:
    """A link whose moment of inertia across the plane is given about its upper joint; those about other axes, which do
    not matter, are the same."""
    return Body(name, mass, [0.0, 0.0, center], (inertia - mass * center**2) * np.eye(3))
