"""What is given to bodies and networks: of the right shape, finite, by names that exist, or refused by what it is."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, ModelError, SingularityError
from cayley.machines.networks import (
    Connection,
    LineSpring,
    Network,
    OpenNetwork,
    RigidBody,
    chain_graph,
    driven_motion,
    network_motion,
    planar_tables,
)
from cayley.machines.networks.hybrid_solve import solvability
from cayley.machines.networks.instant import Attachment, NetworkJoint
from cayley.machines.networks.open_network import least_motion
from cayley.model.joint_kinds import Cylindrical, Prismatic, Revolute, Spherical

ONES = np.eye(3)
ARM = OpenNetwork.of(cy.load("planar2r").tree)
STILL = ARM.instant(np.zeros(2), np.zeros(2))


def body(name="one", mass=1.0):
    return RigidBody(name, mass, mass * ONES, {"B": [0, 0, 0], "A": [1, 0, 0]})


def chain(bodies=1, joints=1, **more):
    return OpenNetwork.chain("chain", [body(f"b{k}") for k in range(bodies)], [NetworkJoint(Revolute(), ONES)] * joints,
                             **more)


def network(motion=None, **changes):
    plain = {"name": "net", "bodies": [body()], "reference": {"base": [0, 0, 0]}, "open": ["one.A"],
             "connections": [Connection("pin", "O.base", "one.B", motion or Revolute())]}
    return Network(**(plain | changes))


def open_tip(number):
    return OpenNetwork("tip", (body(),), (NetworkJoint(Revolute(), ONES),), (Attachment(-1, "A"),),
                       {"end": Attachment(number, "A")}, np.zeros(3))


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: RigidBody("b", 1.0, ONES, {"A": [np.nan, 0, 0]}), "port 'A' of body 'b'"),
    (lambda: RigidBody("b", 1.0, ONES, {"A": ["x", "y", "z"]}), "port 'A' of body 'b'"),
    (lambda: ARM.instant(np.zeros(1), np.zeros(2)), "the coordinates of"),
    (lambda: ARM.equations(np.zeros((2, 2)), np.zeros((2, 2))), "the coordinates of"),
    (lambda: ARM.instant(np.zeros(2), [0.0, np.nan]), "the velocities of"),
    (lambda: ARM.power_balance(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(6)), "the loads at the open terminals"),
    (lambda: planar_tables(2.0), "a whole number of links, one at least, not 2.0"),
    (lambda: planar_tables(0), "a whole number of links, one at least, not 0"),
    (lambda: body().terminal_equations(R=2 * ONES), "axes of body 'one' are not a rotation"),
    (lambda: body().terminal_equations(R=np.eye(4)), "axes of body 'one'"),
    (lambda: body().terminal_equations(w=[1, 0]), "angular velocity of body 'one'"),
    (lambda: body().terminal_equations(gravity=-9.81), "gravity must be"),
    (lambda: body().terminal_equations().K("a"), "there is no port 'a': did you mean 'A'"),
    (lambda: body().terminal_equations().through(np.zeros(6), np.zeros(6), {"A": [1, 2, 3]}), "wrench at port 'A'"),
    (lambda: chain(2, 1), "2 bodies, 1 joints"),
    (lambda: chain(1, 2), "1 bodies, 2 joints"),
    (lambda: chain(gravity=-9.81), "gravity of the network chain"),
    (lambda: chain(convention="absolute"), "convention of chain is 'absolute'"),
    (lambda: OpenNetwork.chain("c", [body()], [NetworkJoint(Revolute(), 2 * ONES)]), "joint of body 'one' are not a"),
    (lambda: OpenNetwork.chain("c", [body()], [NetworkJoint(Revolute, ONES)]), "joint of body 'one' has the motion"),
    (lambda: OpenNetwork.chain("c", [body(), body()], [NetworkJoint(Revolute(), ONES)] * 2), "two bodies named 'one'"),
    (lambda: open_tip(-1), "open terminal 'end' of tip is on body number -1"),
    (lambda: open_tip(5), "open terminal 'end' of tip is on body number 5"),
    (lambda: chain_graph(2, across=["9"]), "no driver '9'; there are 1, 2, 3, 1', 2'"),
    (lambda: chain_graph(0, across=[]), "at least one body, not 0"),
    (lambda: solvability(STILL, {"tip"}), "no driver 'tip'"),
    (lambda: driven_motion(STILL, np.zeros((2, 6)), {"1": [1.0]}, {}), "rate of driver '1'"),
    (lambda: driven_motion(STILL, np.zeros((2, 6)), {}, {"tip 1": [np.nan] * 6}), "wrench of driver 'tip 1'"),
    (lambda: driven_motion(STILL, np.zeros((3, 6)), {}, {}), "velocities of the mass centres"),
    (lambda: ARM.joint_rates([0, 0], [1.0, 2.0], rows=[0, 9]), "no row 9"),
    (lambda: ARM.joint_rates([0, 0], [1.0, 2.0, 3.0], rows=[0, 1]), "across variables must be"),
    (lambda: network(bodies=[body("O")]), "is called 'O', as the reference is"),
    (lambda: network(reference={"base": [0, 0]}), "port 'base' of the reference"),
    (lambda: network(reference={"base": "here"}), "port 'base' of the reference"),
    (lambda: network(gravity=[0, 0, np.nan]), "gravity of the network net"),
    (lambda: network(open="one.A"), "open terminals of net must be a list"),
    (lambda: network(open=["one.A", "one.A"]), "without repetitions"),
    (lambda: network(Revolute), "connection 'pin' has the motion"),
    (lambda: Connection("pin", "O.base", "one.B", Revolute(), [0, 0, 1]), "first axes of connection 'pin'"),
    (lambda: Connection("pin", "O.base", "one.B", Revolute(), ONES, -ONES), "second axes of connection 'pin' are no"),
    (lambda: LineSpring("s", "O.base", "one.B", stiffness="soft"), "stiffness of spring 's' is 'soft'"),
    (lambda: LineSpring("s", "one.B", "one.B", stiffness=1.0), "both ends of spring 's'"),
    (lambda: network_motion(network(), [0.0, 0.0], [0.0]), "coordinates of net"),
    (lambda: network_motion(network(), [0.0], [np.nan]), "velocities of net"),
    (lambda: network_motion(network(Spherical()), [1, 0, 0, 0], np.zeros(3), {"pin": [1.0]}), "forces of connection"),
    (lambda: network_motion(network(), [0.0], [0.0], {}, {"one.A": [1, 2, 3]}), "load at 'one.A'")])
def test_what_is_wrong_is_named(wrong, words):
    with pytest.raises(ModelError, match=words):
        wrong()


def test_without_inertia_or_direction_there_is_no_motion():
    light = OpenNetwork.chain("light", [body("one"), body("two", 0.0)], [NetworkJoint(Revolute(), ONES)] * 2)
    state = light.instant(np.array([0.3, 0.2]), np.zeros(2))
    with pytest.raises(SingularityError, match="acceleration of body 2 does not follow"):
        driven_motion(state, np.zeros((2, 6)), {}, {})
    moved = driven_motion(state, np.zeros((2, 6)), {"2": np.zeros(6)}, {"tip 1": np.ones(6)})
    assert np.abs(moved.through["2"][:3] + 1).max() < 1e-12  # a body without mass hands on what acts on it
    with pytest.raises(CayleyError, match="pin"):
        network_motion(network(Spherical()), [2.0, 0, 0, 0], np.zeros(3))  # no unit quaternion
    sprung = network(springs=[LineSpring("s", "O.base", "one.B", stiffness=1.0, length=1.0)])
    with pytest.raises(SingularityError, match="both ends of spring 's' of net meet"):
        network_motion(sprung, [0.0], [0.0])


@pytest.mark.parametrize("motion", [Prismatic((1.0, 0.0, 0.0)), Cylindrical((1.0, 0.0, 0.0)),
                                    Revolute((1.0, 0.0, 0.0))])
def test_a_loop_that_is_turned_wrong_is_open(motion):
    """The two ends meet, but in other axes than the joint allows; and half a turn of its axis is no closed joint."""
    link = body()
    pins = [Connection("ball", "O.base", "one.B", Spherical()), Connection("end", "O.end", "one.A", motion)]
    closing = Network("closing", [link], pins, reference={"base": [0, 0, 0], "end": [0, 0, 1.0]})
    up = np.sqrt(0.5)
    with pytest.raises(CayleyError, match="connection 'end' of closing is"):
        network_motion(closing, [up, 0, -up, 0], np.zeros(3))  # the link along z, the end's axis along x
    back = Network("back", [link], pins, reference={"base": [0, 0, 0], "end": [-1.0, 0, 0]})
    with pytest.raises(CayleyError, match="connection 'end' of back is"):
        network_motion(back, [0, 0, 0, 1.0], np.zeros(3))
    right = Network("right", [link], pins, reference={"base": [0, 0, 0], "end": [1.0, 0, 0]})
    assert network_motion(right, [1.0, 0, 0, 0], np.zeros(3)).rank


@pytest.mark.spec("S4-25")
def test_all_motions_with_a_weight_keep_the_task():
    """Every solution is the least one and something that the task does not feel, whatever the weight."""
    random = np.random.default_rng(3)
    A = random.normal(size=(2, 5))
    x = random.normal(size=2)
    found = least_motion(A, x, weight=random.uniform(0.1, 10, 5))
    other = found.velocities + found.null_projector @ random.normal(size=5)
    assert np.abs(A @ other - x).max() < 1e-12


def test_energy_and_loads_in_time():
    """Open networks say what they store; networks take loads at their open terminals, in inertial axes."""
    load = np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.3])
    run = ARM.system().simulate({"q": [0.2, 0.5], "qd": [1.0, 0.0]}, until=0.5,
                                inputs={"loads": load[None], "tau": [1.0, -0.2]})
    assert np.abs(run.energy_drift).max() < 1e-7
    ball = network(Spherical())
    start = {"q": [0.8, 0, 0.6, 0], "qd": [0.3, 0.2, 0.1]}
    run = ball.system().simulate(start, until=0.3, inputs={"wrench_one.A": load})
    assert np.abs(run.energy_drift).max() < 1e-7
    short = ball.system().simulate(start, until=1e-5, inputs={"wrench_one.A": load})
    expected = network_motion(ball, start["q"], start["qd"], {}, {"one.A": load}).accelerations["pin"]
    assert np.abs((short["qd"][-1] - start["qd"]) / 1e-5 - expected).max() < 1e-3
