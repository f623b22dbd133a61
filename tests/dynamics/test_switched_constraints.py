"""A mechanism of which one set of constraints holds at a time: impulses and motions beside closed forms, in simulations
and in compiled batches."""

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.switched_constraints import Switch
from cayley.errors import ConventionError, ModelError
from cayley.machines import FourBar
from cayley.model.constraint_kinds import Coupling, KnifeEdge
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Joint

MASS, INERTIA, AHEAD = 2.0, 0.5, 0.3


def sleigh():
    """A body on ice with two blades, one of which at most is set down."""
    return cy.Mechanism.of(
        "sleigh", [Body("ice"), Body("sleigh", MASS, [AHEAD, 0, 0], np.diag([0, 0, INERTIA]))],
        [Joint("base", "ice", "sleigh", Planar())],
        constraints=[KnifeEdge("blade", "ice", "sleigh"), KnifeEdge("brake", "ice", "sleigh", (1.0, 0.0, 0.0))])


def test_a_blade_that_is_set_down_stops_what_goes_sideways():
    arm = sleigh()
    system = arm.loops.switched({"free": [], "on the blade": ["blade"], "stopped": ["blade", "brake"]}, [
        Switch("down", lambda t, x, u, p: t - 0.5, "free", "on the blade"),
        Switch("brake", lambda t, x, u, p: t - 1.0, "on the blade", "stopped")])
    start = {"q": np.zeros(3), "qd": np.array([0.6, 0.4, 0.8])}
    run = system.simulate(start, times=np.array([0.0, 0.5 - 1e-9, 0.5 + 1e-9, 1.0 - 1e-9, 1.0 + 1e-9, 1.5]))
    assert run.finished and [(what.name, round(what.t, 9)) for what in run.happened] == [("down", 0.5), ("brake", 1.0)]
    before, after = run["qd"][1], run["qd"][2]
    heading = run["q"][1, 2]
    along, across = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    # The impulse is across the blade: momentum along it is kept, and angular momentum about the blade
    M = arm.variants.spanning_tree().inertia_matrix(run["q"][1])
    impulse = M @ (after - before)
    assert abs(after[:2] @ across) < 1e-8 and abs(impulse[:2] @ along) < 1e-7 and abs(impulse[2]) < 1e-7
    assert abs(impulse[:2] @ across) > 0.1
    v, w = after[:2] @ along, after[2]
    square = (INERTIA + MASS * AHEAD**2) / MASS  # then it is Chaplygin's
    np.testing.assert_allclose(np.hypot(*run["qd"][3][:2])**2 + square * run["qd"][3][2]**2, v**2 + square * w**2,
                               rtol=1e-7)
    np.testing.assert_allclose(run["qd"][4][:2], 0.0, atol=1e-7)
    assert abs(run["qd"][4][2]) > 0.01  # it turns on about the place where it stands
    np.testing.assert_allclose(run["q"][5][:2], run["q"][4][:2], atol=1e-8)


def test_batches_switch_each_at_its_own_time():
    wheels = cy.Mechanism.of(
        "shafts", [Body("frame"), Body("driver", 1.0, inertia=0.3 * np.eye(3)),
                   Body("driven", 1.0, inertia=0.1 * np.eye(3))],
        [Joint("first", "frame", "driver", Revolute()), Joint("second", "frame", "driven", Revolute())],
        constraints=[Coupling("clutch", ("first", "second"), (1.0, -1.0))])
    open_clutch = wheels.variants.without_constraints("clutch")
    system = wheels.loops.switched({"open": [], "closed": ["clutch"]}, [
        Switch("engage", lambda t, x, u, p: x.q[0] - x.q[1], "open", "closed")])
    turned = np.array([0.4, 1.0])
    start = {"q": np.stack([-turned, 0 * turned], axis=1), "qd": [[2.0, 0.0], [2.0, 0.0]]}
    run = system.rollout(method="rk4")(start, step=1e-3, steps=1000)
    times = turned / 2.0
    shared = 0.3 * 2.0 / 0.4  # angular momentum
    np.testing.assert_allclose(run.end["qd"], shared, rtol=1e-12)
    np.testing.assert_allclose(run.end["q"][:, 1], shared * (1.0 - times), rtol=1e-9)
    np.testing.assert_allclose(run.end["q"][:, 0], run.end["q"][:, 1], atol=1e-12)
    np.testing.assert_allclose([run[k].happened[0].t for k in range(2)], times, atol=1e-9)
    assert open_clutch.loops.mobility == 2 and wheels.loops.mobility == 1


@pytest.mark.parametrize("size", [1e-4, 300.0])
def test_a_loop_that_is_open_cannot_begin_to_hold(size):
    """A switch moves nothing: where the loop is open, the run ends at the instant of the switch, in a batch with NaN
    for that trajectory alone; where it is closed, the linkage goes on as one."""
    lengths = {"crank": 0.12 * size, "coupler": 0.41 * size, "rocker": 0.29 * size, "ground": 0.37 * size}
    bar = cy.Mechanism(FourBar(**lengths).tree(masses=dict.fromkeys(("crank", "coupler", "rocker"), 0.7),
                                               gravity=[0, 0, 0]))
    system = bar.loops.switched({"open": [], "shut": [bar.tree.loops[0].name]}, [
        Switch("grab", lambda t, x, u, p: t - 0.2, "open", "shut")])
    q = bar.loops.close([0.4, 0.5, 1.0], fixed=[bar.joint_names[0]]).configuration
    still, ways = np.zeros(3), np.eye(3)
    run = system.simulate({"q": q, "qd": still}, until=0.3, progress=False)
    assert run.finished and np.abs(run["q"] - q).max() < 1e-9
    for way in ways:  # each joint alone opens it
        away = system.simulate({"q": q, "qd": 0.1 * way}, until=0.3, progress=False)
        assert away.status == "not finite" and "'grab' leads to no state at t = 0.2" in away.message
        assert f"constraint {bar.tree.loops[0].name!r} is open by" in away.message and "'shut'" in away.message
        assert away.t[-1] == pytest.approx(0.2)
        at_end = bar.variants.spanning_tree().simulate(q, 0.1 * way, until=0.2, progress=False)
        assert np.abs(away["q"][-1] - at_end.q[-1]).max() < 1e-9  # where it was, and as fast
    both = system.rollout(method="rk4")({"q": np.stack([q, q, q]), "qd": np.stack([still, 0.1 * ways[0], still])},
                                        step=1e-3, steps=300)
    assert both.status == "not finite" and "is open by" in both.message
    assert np.isfinite(both["qd"][[0, 2]]).all() and np.isnan(both["qd"][1, 201:]).all()
    assert np.isfinite(both["qd"][1, :200]).all()


def test_sets_and_switches_that_cannot_be_are_named():
    with pytest.raises(ModelError, match="did you mean 'blade'"):
        sleigh().loops.switched({"on": ["blades"]})
    with pytest.raises(ConventionError, match="'of'"):
        sleigh().loops.switched({"on": ["blade"], "off": []}, [Switch("lift", lambda t, x, u, p: t, "on", "of")])
    with pytest.raises(ModelError, match="at least"):
        sleigh().loops.switched({})
    for switch in ("lift", Switch("lift", 0.5, "on", "off")):
        with pytest.raises(ConventionError, match=r"sleigh are switched by Switch\(name, guard, start, to\)"):
            sleigh().loops.switched({"on": ["blade"], "off": []}, [switch])
