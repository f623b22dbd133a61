"""Texts, lists and truth values where rolling and walking machines ask for a number are refused by name."""

import numpy as np
import pytest

import cayley as cy
from cayley.control import PathStabiliser
from cayley.errors import ModelError, SignatureError
from cayley.machines import (
    PlanarBiped,
    RobotMasses,
    RollingRobot,
    SteeredPath,
    fitted_path,
    led_trunk,
    shared_load,
    shared_thrust,
)
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.constraint_kinds import Ball, KnifeEdge, Pfaffian, RollerWheel, Wheel
from cayley.model.parts import Body

BIPED = PlanarBiped()
PATH = SteeredPath(0.8, [(1.0, 0.2)])
MASSES = (1.0, 0.5, 0.3, 10.0, 0.002)


def legs(t):
    return 0.3 - 0.8 * t, 0.1 - 0.5 * t, -0.2 + 0.9 * t, -0.45 + 1.1 * t


ASKED = {
    "wheel 'w' has the radius": lambda x: Wheel("w", "floor", "disc", x),
    "ball 'b' has the radius": lambda x: Ball("b", "floor", "marble", x),
    "rollers at the angle": lambda x: RollerWheel("w", "floor", "disc", 0.1, (0.0, 1.0, 0.0), x),
    "axis of the wheel 'w'": lambda x: Wheel("w", "floor", "disc", 0.1, (0.0, x, 1.0)),
    "across of the knife edge 'k'": lambda x: KnifeEdge("k", "ice", "blade", (0.0, x, 1.0)),
    "wheel 'c' has the radius": lambda x: CarriedWheel("c", "cart", (0, 0, 0), x),
    "wheel 'c' has the mass": lambda x: CarriedWheel("c", "cart", (0, 0, 0), 0.1, x),
    "wheel 'c' has the bracket": lambda x: CarriedWheel("c", "cart", (0, 0, 0), 0.1, pivot=0.1, bracket=x),
    "wheel 'c' must be 0 or more": lambda x: CarriedWheel("c", "cart", (0, 0, 0), 0.1, pivot=x),
    "wheel 'c' must be a finite angle": lambda x: CarriedWheel("c", "cart", (0, 0, 0), 0.1, heading=x),
    "wheel 'c' must be three": lambda x: CarriedWheel("c", "cart", (0, x, 0), 0.1),
    "radius is": lambda x: RollingRobot(x, 0.5, 0.1, 0.3, 0.1),
    "masses of a robot": lambda x: RollingRobot(0.1, 0.5, 0.1, 0.3, 0.1, x),
    "chassis_inertia is": lambda x: RobotMasses(*MASSES, x),
    "hip_mass of a biped": lambda x: PlanarBiped(hip_mass=x),
    "friction must be": lambda x: BIPED.gait(legs, friction=x),
    "ground of a gait": lambda x: BIPED.gait(legs, ground=x),
    "theta of a stance": lambda x: BIPED.stance(legs, theta=x),
    "foot1 of a biped": lambda x: BIPED.tree({1: x}),
    "feet of a biped that stand": lambda x: BIPED.tree([x]),
    "duration of 'flight'": lambda x: BIPED.stride(legs, [("flight", x)]),
    "angle of a trunk": lambda x: led_trunk(x),
    "damping": lambda x: led_trunk(0.1, 70.0, x),
    "share of a load": lambda x: shared_load(x),
    "share of a thrust": lambda x: shared_thrust(x),
    "wheelbase": lambda x: SteeredPath(x, [(1.0, 0.0)]),
    "speed of a program": lambda x: PATH.program(x, 1.0),
    "tolerance of a path": lambda x: fitted_path(lambda u: np.stack([u, u]), wheelbase=0.8, tolerance=x),
    "steering limit of a path": lambda x: fitted_path(
        lambda u: np.stack([u, u]), wheelbase=0.8, tolerance=0.1, steering_limit=x),
    "rate of a path stabiliser": lambda x: PathStabiliser(PATH.program(0.5, 1.0), rate=x),
    "wheels of cart": lambda x: cy.Mechanism.of("cart", [Body("floor")], [], wheels=[x])}


@pytest.mark.parametrize("said", ASKED)
@pytest.mark.parametrize("given", ["much", True, [0.1], np.nan])
def test_what_is_no_number_is_refused_by_name(said, given):
    with pytest.raises(ModelError, match=said):
        ASKED[said](given)


@pytest.mark.parametrize("given", ["much", np.nan])
def test_pieces_and_times_that_are_no_numbers_are_refused(given):
    with pytest.raises(ModelError, match="steered path"):
        SteeredPath(0.8, [(given, 0.0)])
    with pytest.raises(ModelError, match="starts at three finite numbers"):
        SteeredPath(0.8, [(1.0, 0.0)], (0.0, given, 0.0))
    with pytest.raises(ModelError, match="time of a program must be a number"):
        PATH.program(0.5, 1.0)(given)


@pytest.mark.parametrize("pose", [[0.0, 0.0], [0.0, np.nan, 0.0], 3.0])
def test_a_stabiliser_is_told_of_a_pose(pose):
    with pytest.raises(SignatureError, match="x, y, heading"):
        PathStabiliser(PATH.program(0.5, 1.0))(0.1, pose)


@pytest.mark.parametrize(("word", "meaning"), [("t", "the time"), ("pi", "the number")])
def test_formulas_say_one_thing(word, meaning):
    """A joint called t took the place of the time, or the time that of the joint."""
    with pytest.raises(ModelError, match=f"'rail' {word} would be both .* {meaning}"):
        Pfaffian("rail", (word, "x"), ("1", f"2*{word}"))
    assert Pfaffian("rail", (word, "x"), (1, 2)).joints == (word, "x")


def test_wheels_may_come_one_by_one():
    parts = (CarriedWheel(name, "cart", (0.0, y, 0.0), 0.1) for name, y in (("left", 0.2), ("right", -0.2)))
    cart = cy.Mechanism.of("cart", [Body("floor"), Body("cart", 1.0)],
                           [cy.model.parts.Joint("base", "floor", "cart", cy.model.joint_kinds.Planar())], wheels=parts)
    assert cart.tree.nv == 5
