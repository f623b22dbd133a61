"""Joints whose motion is a function of time: beside the closed form of the slider-crank, energies differentiated with
mpmath, and the equations of the open arm solved by NumPy."""

import pickle
import re
from dataclasses import dataclass
from functools import cache

import mpmath as mp
import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, ConventionError, GeometryError, ModelError, UnreachableError, UnsupportedError
from cayley.model.constraint_kinds import Constraint, Pfaffian, PrescribedMotion
from cayley.model.joint_kinds import Prismatic, Row, Spherical
from cayley.model.parts import Body, Joint
from cayley.model.spring_kinds import SpringLaw

SPEED = 12.0


def driven(arm, *constraints):
    return cy.Mechanism.of("driven", arm.bodies, arm.joints, frames=arm.frames, gravity=arm.gravity, loops=arm.loops,
                           constraints=constraints)


@cache
def engine():
    """The slider-crank of the catalogue with its crank at constant speed."""
    return driven(cy.load("slider_crank"), PrescribedMotion("drive", "crank", f"0.3 + {SPEED}*t"))


def slider(angle):
    """Its place in closed form: the crank is upright at 0."""
    r, rod = mp.mpf("0.09"), mp.sqrt(mp.mpf("0.4")**2 + mp.mpf("0.09")**2)
    return -r * mp.sin(angle) + mp.sqrt(rod**2 - (r * mp.cos(angle))**2) - mp.mpf("0.4")


def energy(t):
    """Kinetic and potential energy of the engine at a time, each body by its own motion."""
    def place(name, t):
        angle = mp.mpf("0.3") + SPEED * t
        x = slider(angle)
        pin = mp.matrix([-mp.mpf("0.09") * mp.sin(angle), mp.mpf("0.09") * mp.cos(angle)])
        tilt = mp.atan2(-pin[1], x + mp.mpf("0.4") - pin[0]) - mp.atan2(mp.mpf("-0.09"), mp.mpf("0.4"))
        if name == "crank":
            return angle, pin / 2
        if name == "slider":
            return mp.mpf(0), mp.matrix([x, 0])
        c, s = mp.cos(tilt), mp.sin(tilt)
        return tilt, pin + mp.matrix([c * mp.mpf("0.2") + s * mp.mpf("0.045"), s * mp.mpf("0.2") - c * mp.mpf("0.045")])

    total = mp.mpf(0)
    for name, mass, inertia in (("crank", 0.4, 0.00029), ("rod", 0.8, 0.011226667), ("slider", 0.6, 0.0004)):
        spin = mp.diff(lambda time, name=name: place(name, time)[0], t)
        u, v = (mp.diff(lambda time, name=name, k=k: place(name, time)[1][k], t) for k in range(2))
        total += (mass * (u**2 + v**2) + inertia * spin**2) / 2 + mass * mp.mpf("9.81") * place(name, t)[1][1]
    return total


def moving_state(arm, guess, t):
    """A configuration at a time, and the velocity of least norm that the constraints ask for."""
    found = arm.loops.close(guess, t)
    assert found.status == "closed"
    q = found.configuration
    return q, -np.linalg.pinv(arm.loops.jacobian(q, t), 1e-9) @ arm.loops.rates(q, np.zeros(arm.nv), t)


@pytest.mark.parametrize("t", [0.0, 0.31])
def test_a_crank_at_constant_speed_moves_the_slider_as_the_closed_form_says_and_its_force_is_the_torque(t):
    with mp.workdps(20):
        place, speed, acceleration = (float(mp.diff(lambda t: slider(mp.mpf("0.3") + SPEED * t), t, n))
                                      for n in range(3))
        torque = float(mp.diff(energy, t)) / SPEED
    guess = [0.3 + SPEED * t, -0.3 - SPEED * t, 0.0]
    q, qd = moving_state(engine(), guess, t)
    np.testing.assert_allclose([q[2], qd[0], qd[2]], [place, SPEED, speed], rtol=1e-11, atol=1e-12)
    for formulation in ("multipliers", "augmented", "projection"):
        qdd = engine().forward_dynamics.using(formulation)(q, qd, np.zeros(3), t)
        np.testing.assert_allclose(qdd[[0, 2]], [0.0, acceleration], rtol=1e-10, atol=1e-10)
    forces = engine().loops.forces(q, qd, np.zeros(3), t)
    np.testing.assert_allclose(forces[-1], torque, rtol=1e-8)
    braked = engine().loops.forces(q, qd, [0.7, 0.0, 0.0], t)
    np.testing.assert_allclose(braked[-1], torque - 0.7, rtol=1e-8)


def test_what_is_driven_does_not_count_as_mobile():
    assert engine().loops.mobility == 0
    structure = engine().loops.structure
    assert (structure.gruebler, structure.independent) == (-3, ())
    assert [row.constraint for row in structure.redundant] == ["pin"] * 3
    arm = driven(cy.load("planar3r"), PrescribedMotion("drive", "joint2", "sin(t)"))
    assert arm.loops.mobility == 2 and arm.loops.structure.independent == (0, 2)


def test_the_joints_that_are_left_move_as_the_equations_of_the_open_arm_say():
    free = cy.load("planar3r")
    arm = driven(free, PrescribedMotion("drive", "joint2", lambda t: 0.4 * np.sin(3 * t) + 0.5 * t**2))
    random = np.random.default_rng(0)
    t = 0.37
    q, qd, tau = random.normal(size=(3, 3))
    q[1], qd[1] = 0.4 * np.sin(3 * t) + 0.5 * t**2, 1.2 * np.cos(3 * t) + t
    given = -3.6 * np.sin(3 * t) + 1.0
    M, bias = free.inertia_matrix(q), free.bias_forces(q, qd)
    left = [0, 2]
    expected = np.linalg.solve(M[np.ix_(left, left)], (tau - bias)[left] - M[left, 1] * given)
    qdd = arm.forward_dynamics(q, qd, tau, t)
    np.testing.assert_allclose(qdd[[0, 1, 2]], [expected[0], given, expected[1]], rtol=1e-12)
    np.testing.assert_allclose(arm.loops.forces(q, qd, tau, t), [M[1] @ qdd + bias[1] - tau[1]], rtol=1e-12)
    times = np.linspace(0, 1, 5)
    batch = arm.forward_dynamics(q, qd, tau, times)
    np.testing.assert_allclose(batch[3], arm.forward_dynamics.unchecked(q, qd, tau, times[3]), rtol=1e-14)
    with pytest.raises(GeometryError, match=r"'drive' of driven is open by .* rad"):
        arm.forward_dynamics(q, qd, tau, times[3])


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler", "lie-midpoint"])
def test_rollouts_keep_the_motion_in_time(method):
    q, qd = moving_state(engine(), engine().neutral, 0.0)
    run = engine().system().rollout(method=method)({"q": q, "qd": qd}, step=1e-3, steps=400)
    end = 0.4
    assert abs(run.end["q"][0] - (0.3 + SPEED * end)) < 1e-14
    assert np.abs(engine().loops.residual(run.end["q"], end)).max() < 1e-14
    assert np.abs(engine().loops.rates(run.end["q"], run.end["qd"], end)).max() < 1e-12
    if method == "rk4":
        with mp.workdps(20):
            gained = float(energy(mp.mpf("0.4")) - energy(mp.mpf(0)))
        np.testing.assert_allclose(run.work[-1], gained, rtol=1e-7)


def test_a_simulation_keeps_the_motion_at_all_its_times():
    q, qd = moving_state(engine(), engine().neutral, 0.0)
    run = engine().system().simulate({"q": q, "qd": qd}, times=np.linspace(0, 0.4, 9))
    np.testing.assert_allclose(run["q"][:, 0], 0.3 + SPEED * run.t, rtol=1e-14)
    assert np.abs(run.energy_drift).max() < 1e-7


@dataclass(frozen=True)
class OnTurningLine(Constraint):
    """A point on a line through the origin that turns with 2 t^2: its Jacobian depends on time."""

    word = "turning line"
    timed = True
    coordinates = ("x", "y")
    row_names = ("across", )
    sentence = "'cart' stays on a turning line"

    def rows(self, frames, coordinates):
        x, y, time = coordinates
        angle, spin, growth = 2 * time.value**2, 4 * time.value * time.rate, 4 * time.rate**2
        c, s = np.cos(angle), np.sin(angle)
        along, across = x.value * c + y.value * s, y.value * c - x.value * s
        rate = y.rate * c - x.rate * s - spin * along
        second = (y.second * c - x.second * s - 2 * spin * (x.rate * c + y.rate * s) - growth * along
                  - spin**2 * across)
        return [Row(across, rate, second)]


def test_a_bead_on_a_turning_wire_has_the_accelerations_of_polar_coordinates():
    arm = cy.Mechanism.of("bead", [Body("base"), Body("beam", 0.0), Body("cart", 2.0)],
                          [Joint("x", "base", "beam", Prismatic((1.0, 0.0, 0.0))),
                           Joint("y", "beam", "cart", Prismatic((0.0, 1.0, 0.0)))], constraints=[OnTurningLine("wire")])
    t, r, speed = 0.6, 0.8, 0.3
    angle, spin, growth = 2 * t**2, 4 * t, 4.0
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    q, qd = r * along, speed * along + r * spin * across
    np.testing.assert_allclose(arm.loops.rates(q, qd, t), 0.0, atol=1e-15)
    np.testing.assert_allclose(arm.loops.jacobian(q, t), [across], atol=1e-15)
    qdd = arm.forward_dynamics(q, qd, [0.0, 0.0], t)
    np.testing.assert_allclose(qdd, (r * growth + 2 * speed * spin) * across, rtol=1e-12)  # r'' = r spin^2: none along
    push = arm.loops.forces(q, qd, [0.0, 0.0], t)
    np.testing.assert_allclose(push, 2.0 * (r * growth + 2 * speed * spin), rtol=1e-12)


def test_only_what_depends_on_time_takes_it():
    assert cy.load("four_bar").forward_dynamics.inputs == ("q", "qd", "tau")
    assert cy.load("four_bar").loops.jacobian.inputs == ("q", )
    assert engine().forward_dynamics.inputs == ("q", "qd", "tau", "t")
    assert engine().loops.residual.inputs == ("q", "t")
    for arm, t in ((engine(), None), (cy.load("four_bar"), 0.1), (engine(), np.nan)):
        with pytest.raises(ConventionError, match="depends on"):
            arm.loops.close(arm.neutral, t)


def test_drives_that_agree_are_redundant_and_those_that_do_not_cannot_be_kept():
    arm = cy.load("planar2r")
    agreed = driven(arm, PrescribedMotion("one", "joint1", "2*t"), PrescribedMotion("two", "joint1", "t + t"))
    assert agreed.loops.mobility == 1 and len(agreed.loops.structure.redundant) == 1
    assert np.isnan(agreed.loops.forces([0.0, 0.3], [2.0, 0.1], [0.0, 0.0], 0.0)).all()
    np.testing.assert_allclose(agreed.forward_dynamics([0.0, 0.3], [2.0, 0.1], [0.0, 0.0], 0.0)[0], 0.0, atol=1e-12)
    with pytest.raises(UnreachableError, match="one, two"):
        _ = driven(arm, PrescribedMotion("one", "joint1", "2*t"),
                   PrescribedMotion("two", "joint1", "2*t + 1")).loops.mobility


@pytest.mark.parametrize("one, two", [
    ("t", "2*t"), ("sin(t)", "t"), ("t**2", "t**3"), (lambda t: 0.3 * np.sin(3 * t), "0.3*sin(3*t) + 1e-3*t")])
def test_two_motions_of_one_joint_are_refused_also_where_they_begin_together(one, two):
    arm = driven(cy.load("planar2r"), PrescribedMotion("one", "joint1", one), PrescribedMotion("two", "joint1", two))
    for use in (lambda: arm.loops.mobility, lambda: arm.forward_dynamics, lambda: arm.system(),
                lambda: arm.loops.switched({"both": ["one", "two"]})):
        with pytest.raises(UnreachableError, match=r"one, two of driven cannot both be kept: .* joint 'joint1'"):
            use()
    arm.loops.switched({"first": ["one"], "second": ["two"]})  # never at the same time


def test_files_hold_formulas_and_not_functions(tmp_path):
    path = tmp_path / "engine.toml"
    engine().save(path)
    again = cy.load(path)
    assert again.tree.constraints == engine().tree.constraints
    with pytest.raises(UnsupportedError, match="motion of the prescribed motion 'drive' is a function in Python"):
        driven(cy.load("planar2r"), PrescribedMotion("drive", "joint1", np.sin)).save(tmp_path / "arm.toml")
    assert pickle.loads(pickle.dumps(engine().tree.constraints[0])) == engine().tree.constraints[0]
    text = path.read_text(encoding="utf-8").replace("0.3 + 12.0*t", "0.3 + 12.0*T")
    with pytest.raises(ModelError, match=r"(?s)line \d+.*'drive'.*T is unknown"):
        (tmp_path / "wrong.toml").write_text(text, encoding="utf-8")
        cy.load(tmp_path / "wrong.toml")


@pytest.mark.parametrize("motion, said", [
    ("sqrt(-1)", "is no number"), ("2*t + log(0)", "'log.0.' is no number"), ("2**99999", "is no number"),
    ("1/0", "'1 / 0' is no number"), ("t/(3 - 3)", "there is no number"), ("(-8)**0.5", "is no number"),
    ("9**9**9", "is no number"), ("1e200*1e200*t", "is no number"), ("acos(pi)", "is no number"),
    ("t/(t - t)", "there is no number"), ("sqrt(-1 - t**2)", "there is no number"), ("(-1)**t", "there is no number"),
    ("t**9999", "the exponent '9999'"), ("t**0.3", "the exponent '0.3'"), ("t**(1/0)", "'1 / 0' is no number")])
def test_formulas_that_are_no_numbers_are_found_when_the_file_is_read(tmp_path, motion, said):
    path = tmp_path / "engine.toml"
    cy.load("slider_crank").save(path)
    path.write_text(path.read_text() + f"""
[[constraints]]
kind = "prescribed motion"
name = "drive"
joint = "crank"
motion = "{motion}"
""")
    lines = path.read_text().count("\n")
    with pytest.raises(ModelError, match=rf"engine.toml, line \d+.*the motion of 'drive' is '.*{said}") as error:
        cy.load(path)
    assert lines - 5 < int(re.search(r"line (\d+)", str(error.value))[1]) <= lines
    for make in (lambda: SpringLaw(re.sub(r"\bt\b", "qm", motion)), lambda: Pfaffian("skate", ("crank",), (motion,))):
        with pytest.raises(ModelError, match=said.replace("'t", "'qm")):
            make()


@pytest.mark.parametrize("motion, there", [
    ("2**t", lambda t: 2**t), ("t**t", lambda t: t**t), ("t**(2*3)", lambda t: t**6), ("2**-t", lambda t: 2**-t),
    ("(t + 1)**0.5", lambda t: (t + 1)**0.5), ("1/t", lambda t: 1 / t), ("log(t - 3)", lambda t: np.log(t - 3)),
    ("sqrt(0.01 - (t - 4)**2)", lambda t: np.sqrt(0.01 - (t - 4)**2))])
def test_formulas_that_are_numbers_somewhere_are_read(motion, there):
    found = PrescribedMotion("drive", "crank", motion)._along(4.05)
    h = 1e-4
    expected = there(4.05), (there(4.05 + h) - there(4.05 - h)) / (2 * h)
    np.testing.assert_allclose(found[:2], expected, rtol=1e-5)


@pytest.mark.parametrize("motion", ["1/t", "log(t)", "sqrt(t - 1)", "t**-3"])
def test_where_a_motion_is_no_number_its_name_is_said(motion):
    machine = driven(cy.load("slider_crank"), PrescribedMotion("drive", "crank", motion))
    q = np.array([0.3, 0.2, 0.4])
    assert machine.loops.close(q, t=0.0).status == "open"
    for use in (lambda: machine.forward_dynamics(q, np.zeros(3), np.zeros(3), 0.0),
                lambda: machine.simulate(q, np.zeros(3), until=0.1)):
        with pytest.raises(CayleyError, match="'drive'"):
            use()


def test_a_number_is_a_formula(tmp_path):
    held = driven(cy.load("planar2r"), PrescribedMotion("brake", "joint1", np.float64(0.4)))
    assert held.tree.constraints[0].motion == "0.4"
    np.testing.assert_allclose(held.loops.residual([0.5, 0.0], 3.0), [0.1])
    held.save(tmp_path / "held.toml")
    text = (tmp_path / "held.toml").read_text(encoding="utf-8")
    (tmp_path / "plain.toml").write_text(text.replace('motion = "0.4"', "motion = 0.4"), encoding="utf-8")
    assert cy.load(tmp_path / "plain.toml").tree.constraints == held.tree.constraints


@pytest.mark.parametrize("motion, said", [
    ("t +", "is not a formula"), ("open('x')", "open is not a function"), ("t.real", "neither a number"),
    ("[t]", "neither a number"), ("sin(t, t)", "neither a number"), ("1e999*t", "not a finite number"),
    (None, "a formula"), ("t*" * 200 + "t", "at most 400"), ("-" * 398 + "u", "u is unknown"),
    ("True*t", "True is not a finite number"), ("9" * 380 + "*t", "not a finite number")])
def test_what_is_no_formula_is_refused(motion, said):
    with pytest.raises(ModelError, match=said):
        PrescribedMotion("drive", "joint1", motion)


def test_a_motion_of_the_wrong_shape_and_a_joint_of_several_coordinates_are_refused():
    wrong = driven(cy.load("planar2r"), PrescribedMotion("drive", "joint1", lambda t: np.stack([t, t])))
    with pytest.raises(ModelError, match="motion of 'drive' must return one number"):
        wrong.loops.residual([0.0, 0.0], 0.0)
    with pytest.raises(ModelError, match="only joints of one coordinate"):
        cy.Mechanism.of("ball", [Body("base"), Body("ball", 1.0, inertia=np.eye(3))],
                        [Joint("socket", "base", "ball", Spherical())],
                        constraints=[PrescribedMotion("drive", "socket", "t")])
