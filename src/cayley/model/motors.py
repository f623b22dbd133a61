"""Motors as parts of a mechanism: rotors are bodies, each turned by a joint of its own, its motor.

    "elastic drives"          a joint with a spring is driven through it by its motor, whose angle is a coordinate; the
                              rotor is a body where it is known as one
    "reduced elastic drives"  the same, but the energy of a rotor is that of its own spin: its mass rides on its carrier
                              as if it did not turn, and its spin does not feel the carrier turn
    "geared drives"           the rotors of joints without a spring, as far as they are known as bodies, turn with their
                              joints
A rotor of which only the spin is known (`Rotor.is_body`) has the inertia of that as armature at its motor.
Sources: spec S0-48 to S0-51, S0-70; Spong 1987 for the reduced model."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.geometry.pose import Pose, frame_with_z
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Immutable, Joint, Limits, Mimic
from cayley.model.rotor import Rotor

ELASTIC = "elastic drives"
REDUCED = "reduced elastic drives"
GEARED = "geared drives"


class MotorParts(NamedTuple):
    """Joint and rotor that a motor adds to a mechanism; in the reduced model the mass that moves with the stator comes
    first."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]


def motor_name(joint: str) -> str:
    """Name of the joint that is the motor of a joint."""
    return f"{joint} motor"


def rotor_name(joint: str) -> str:
    """Name of the body that is the rotor of a joint's motor."""
    return f"{joint} rotor"


def has_motor(joint: Joint, included: frozenset[str]) -> bool:
    """True if the included effects make the rotor of a joint a body."""
    if joint.spring is None:
        return GEARED in included and joint.rotor.is_body
    return bool({ELASTIC, REDUCED} & included)


def motor_parts(joint: Joint, included: frozenset[str]) -> MotorParts:
    """The parts of the motor of a joint that has one."""
    rotor = joint.rotor
    if rotor.gear == 0.0:
        raise ModelError(f"the gear of joint {joint.name!r} is 0: its motor would not drive it")
    if joint.motion.screw is None:
        raise ModelError(f"joint {joint.name!r} is {joint.motion.word}: only joints of one coordinate about or along "
                         "an axis have a motor behind a gear")
    carrier = rotor.carrier or joint.parent
    place = _place(joint)
    whole = rotor.is_body and REDUCED not in included
    mimic = Mimic(joint.name, rotor.gear) if joint.spring is None else None
    body = Body(rotor_name(joint.name), *([rotor.mass, rotor.center, rotor.central_inertia] if whole else [0.0]))
    motor = Joint(motor_name(joint.name), carrier, body.name, Revolute(continuous=True), place, _limits(joint),
                  rotor.friction, Rotor() if whole else Rotor(rotor.inertia), mimic)
    if whole or not rotor.is_body:
        return MotorParts((body,), (motor,))
    rides = Body(f"{rotor_name(joint.name)} mass", rotor.mass, rotor.center, rotor.central_inertia)
    mount = Joint(f"{rotor_name(joint.name)} mount", carrier, rides.name, placement=place)
    return MotorParts((rides, body), (mount, motor))


def rotor_again(joint: Joint, included: frozenset[str], parts: MotorParts, *, on_root: bool) -> Rotor:
    """The rotor of a joint, read from the parts of its motor, whose numbers may have changed since they were made.

    The reduced model keeps spin and body as separate numbers. Where no single rotor has both, the body is ignored if
    the root carries it. Otherwise an error is raised."""
    made = motor_parts(joint, included)
    if all(map(_are_equal, (*made.bodies, *made.joints), (*parts.bodies, *parts.joints))):
        return joint.rotor
    body = parts.bodies[0]
    motor = parts.joints[-1]
    spin = motor.rotor.inertia
    is_moved = not np.array_equal(motor.placement, made.joints[-1].placement)
    place = tuple(map(tuple, np.asarray(motor.placement).tolist())) if is_moved else joint.rotor.place
    alone = Rotor(spin, joint.rotor.gear, carrier=joint.rotor.carrier, place=place, friction=motor.friction,
                  winding=joint.rotor.winding)
    if not joint.rotor.is_body or body.mass is None:
        return alone
    try:
        return replace(alone, mass=body.mass, center=body.center, tensor=body.inertia)
    except ModelError:
        if on_root:
            return alone
        raise


def _are_equal(one: Immutable, other: Immutable) -> bool:
    if isinstance(one, Body) and isinstance(other, Body):
        return one.mass == other.mass and np.array_equal(one.center, other.center) and np.array_equal(
            one.inertia, other.inertia)
    assert isinstance(one, Joint) and isinstance(other, Joint)
    return np.array_equal(one.placement, other.placement) and (one.friction, one.rotor) == (other.friction, other.rotor)


def _place(joint: Joint) -> Array:
    """Pose of the rotor's frame on its carrier; z is its axis."""
    if joint.rotor.place is not None:
        return np.asarray(joint.rotor.place)
    assert joint.motion.screw is not None
    return np.asarray(joint.placement) @ Pose(frame_with_z(joint.motion.screw.axis), np.zeros(3)).matrix


def _limits(joint: Joint) -> Limits:
    """Limits of velocity and effort at the motor's side of the gear."""
    ratio = abs(joint.rotor.gear)
    return Limits(velocity=tuple(x * ratio for x in joint.limits.velocity),
                  effort=tuple(x / ratio for x in joint.limits.effort))
