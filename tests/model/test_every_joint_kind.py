"""Every function of the library for every kind of joint, and for a kind that only a page of the documentation defines.

The oracle knows a kind by its pose alone: free bodies in Pinocchio, moved as the poses say.
"""

import doctest
import json
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayley as cy
from cayley.compiler.algebras.interpret import NUMPY
from cayley.dynamics.forward.methods import METHODS as FORWARD
from cayley.dynamics.identification import base_parameters
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.methods import METHODS as INERTIA
from cayley.dynamics.inverse.methods import METHODS as INVERSE
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.linearised.kernels import default_method, forward_derivatives_text
from cayley.dynamics.linearised.methods import METHODS as LINEARISED
from cayley.dynamics.rigid_links.energies import total_energy
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ModelError, UnsupportedError
from cayley.geometry.rotations import matrix_from_euler, matrix_from_quaternion
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, hessian, jacobian_rate, jacobian_second_rate
from cayley.kinematics.jacobians.velocity import acceleration, twist
from cayley.kinematics.statics import joint_forces_that_exert
from cayley.model.configurations import check_configuration
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.formats.toml_format import dump_toml, load_toml
from cayley.model.joint_kinds import (
    KINDS,
    Curvilinear,
    Cylindrical,
    Floating,
    Helical,
    JointKind,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    check_contract,
    turn,
)
from cayley.model.parts import Body, Joint, Limits
from cayley.studio.scene import embedded, motion_text, scene
from cayley.studio.sliders import sliders
from compiler import javascript
from model.free_bodies import FreeBodies

PAGE = Path(__file__).parents[2] / "docs" / "developers" / "extending.md"


def kinds_of_the_page():
    """The classes that the page "A joint kind" defines."""
    names = {}
    page = next(part for part in PAGE.read_text(encoding="utf-8").split("\n## ") if part.startswith("A joint kind"))
    for example in doctest.DocTestParser().get_examples(page):
        if example.exc_msg is None:
            exec(compile(example.source, str(PAGE), "exec"), names)
    return names


SWIVEL = kinds_of_the_page()["Swivel"]
SLANTED = (0.6, 0.0, 0.8)
EVERY = {
    "revolute": Revolute(SLANTED), "continuous": Revolute((0.0, 1.0, 0.0), continuous=True),
    "prismatic": Prismatic(SLANTED), "helical": Helical(SLANTED, 0.15), "universal": Universal(
        (0.0, 0.6, 0.8), (1.0, 0.0, 0.0)), "spherical": Spherical(), "planar": Planar(SLANTED),
    "cylindrical": Cylindrical(SLANTED), "floating": Floating(), "fixed": JointKind(), "curvilinear": Curvilinear(
        (0.05, 0.8, 0.3), (0.1, 0.2, -0.4, 0.2), (0.0, 0.0, 0.5)), "swivel": SWIVEL(0.3)}
MOVING = [word for word in EVERY if EVERY[word].nv]
every_kind = pytest.mark.parametrize("word", MOVING)


def test_every_kind_of_the_table_is_here():
    assert EVERY.keys() - {"swivel"} == KINDS.keys() and "swivel" not in KINDS
    assert all(type(EVERY[word]) is KINDS[word] and EVERY[word].word == word for word in KINDS)


def placed(rotation, position):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def body(name, seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(3, 3))
    spread = 0.1 * root @ root.T
    return Body(name, 1.0 + seed / 5, 0.2 * random.normal(size=3), np.trace(spread) * np.eye(3) - spread)


@cache
def arm(word):
    """A joint of the kind between two revolute ones."""
    joints = [
        Joint("first", "base", "one", Revolute((0.0, 0.8, 0.6)), placed(turn((1.0, 0.0, 0.0), 0.4), [0.1, 0.0, 0.3])),
        Joint("middle", "one", "two", EVERY[word], placed(turn(SLANTED, -0.7), [0.2, 0.1, 0.0])),
        Joint("last", "two", "three", Revolute((1.0, 0.0, 0.0)), placed(turn((0.0, 1.0, 0.0), 0.3), [0.0, 0.3, 0.1]))]
    made = cy.Mechanism.of(
        word,
        [Body("base"), body("one", 1), body("two", 2), body("three", 3)], joints, gravity=(1.0, -2.0, -9.0))
    return made.with_frame("tool", "three", placed(turn((0.0, 0.0, 1.0), 0.5), [0.1, 0.2, 0.4]))


@cache
def state(word):
    """A state with accelerations, and its oracle."""
    tree, random = arm(word), np.random.default_rng(4)
    q = tree.random_configuration(seed=7)
    v, vd = random.uniform(-1.0, 1.0, size=(2, tree.nv))
    return (q, v, vd), FreeBodies(tree, q, v, vd)


def close(found, wanted, tolerance=1e-9):
    assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max(initial=0.0)))


def moved(tree, q, v, t):
    """The configuration after a time at a constant velocity, by the joints' own steps."""
    tree = getattr(tree, "tree", tree)  # of a mechanism its own
    places = zip(tree.joints, tree.q_slices, tree.v_slices, strict=True)
    parts = [j.motion.step(q[a], v[b] * t) for j, a, b in places if j.motion.nq]
    return np.concatenate(parts)


def slope(tree, text, q, v, h=2e-3):
    """The derivative of text(q) along a velocity."""
    at = {k: np.asarray(text(moved(tree, q, v, k * h)), dtype=float) for k in (-2, -1, 1, 2)}
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)


# The contract


@pytest.mark.parametrize("word", EVERY)
def test_a_kind_agrees_with_its_pose(word):
    check_contract(EVERY[word])


def test_a_kind_that_contradicts_itself_is_refused():
    class Forgetful(SWIVEL):
        def bias(self, q, v):
            return np.zeros(6)

    class Turned(Prismatic):
        def pose(self, q):
            return turn((0.0, 0.0, 1.0), q[0]), np.zeros(3)

    class Wrapped(Prismatic):
        wraps = (True,)

    class Parted(Cylindrical):
        @property
        def elementary(self):
            return Revolute(self.axis), Prismatic((1.0, 0.0, 0.0))

        def pose(self, q):
            return Cylindrical(self.axis).pose(q)

        def subspace(self, q):
            return Cylindrical(self.axis).subspace(np.zeros(2))

        def bias(self, q, v):
            return np.zeros(6)

    for kind, why in ((Forgetful, "its bias is"), (Turned, "subspace @ qd is"), (Parted, "elementary motions"),
                      (Wrapped, "does not return after a turn")):
        with pytest.raises(ModelError, match=f"{kind.__name__} contradicts itself: .*{why}"):
            Joint("j", "a", "b", kind())
    with pytest.raises(TypeError, match="must define `bias`"):
        type("Unsaid", (SWIVEL.__mro__[1], ),
             {"nv": 1, "nq": 1, "pose": None, "subspace": None, "constant_subspace": False})
    with pytest.raises(TypeError, match="must define `pose`"):
        type("Still", (JointKind,), {"nv": 1, "nq": 1})


def test_a_plain_class_with_an_axis_is_right_about_every_axis():
    """Nothing is read off the name of a field: torques were wrong by 16 N m once, about all axes but z."""
    @dataclass(frozen=True)
    class PlainCylinder(JointKind):
        axis: tuple = (0.0, 0.0, 1.0)
        nq = 2
        nv = 2
        word = "plain"

        def pose(self, q):
            return turn(self.axis, q[1]), np.asarray(self.axis) * q[0]

        def subspace(self, q):
            return np.array([[*self.axis, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, *self.axis]]).T

    tree, (q, v, vd) = arm("cylindrical"), state("cylindrical")[0]
    for axis in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), SLANTED):
        known, plain = (cy.Mechanism.of(
            "t", tree.bodies, [replace(j, motion=kind(axis)) if j.name == "middle" else j for j in tree.joints])
                        for kind in (Cylindrical, PlainCylinder))
        close(plain.inverse_dynamics.evaluate(NUMPY, q, v, vd), known.inverse_dynamics.evaluate(NUMPY, q, v, vd), 1e-13)
        close(plain.inertia_matrix.evaluate(NUMPY, q), known.inertia_matrix.evaluate(NUMPY, q), 1e-13)


# Kinematics


@every_kind
def test_kinematics(word):
    tree, ((q, v, vd), _) = arm(word).tree, state(word)
    product = np.eye(4)
    for joint, own in zip(tree.joints, tree.q_slices, strict=True):
        product = product @ joint.placement @ placed(*joint.motion.pose(q[own]))
    pose = product @ tree.frame("tool").pose

    def path(x):
        return frame_pose(tree, x, "tool").matrix

    close(path(q), pose, 1e-14)

    units = np.eye(tree.nv)
    for axes, R in (("world", np.eye(3)), ("body", pose[:3, :3])):
        def jacobian(x, axes=axes):
            return general_jacobian(tree, x, "tool", axes=axes)

        J = jacobian(q)
        for k, unit in enumerate(units):
            change = slope(tree, path, q, unit)
            W = change[:3, :3] @ pose[:3, :3].T
            turning = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
            close(J[:, k], np.concatenate([R.T @ change[:3, 3], R.T @ turning]))
        rate = jacobian_rate(tree, q, v, "tool", axes=axes)
        close(rate, slope(tree, jacobian, q, v), 1e-8)
        close(hessian(tree, q, "tool", axes=axes) @ v, rate, 1e-12)
        close(joint_forces_that_exert(tree, q, np.arange(6.0), "tool", axes=axes), J.T @ np.arange(6.0), 1e-13)
        for method in ("link", "running", "sum"):
            close(twist(tree, q, v, "tool", axes=axes, method=method), J @ v, 1e-13)
            given = acceleration(tree, q, v, vd, "tool", axes=axes, method=method)
            turning = np.cross((J @ v)[3:], (J @ v)[:3]) if axes == "body" else np.zeros(3)
            close(given, rate @ v + J @ vd + np.concatenate([turning, np.zeros(3)]), 1e-12)
    second = jacobian_second_rate(tree, q, v, vd, "tool", axes="world")
    ahead = slope(tree, lambda x: jacobian_rate(tree, x, v, "tool", axes="world"), q, v)
    close(second, ahead + jacobian_rate(tree, q, vd, "tool", axes="world"), 1e-7)


@pytest.mark.parametrize("word", ["cylindrical", "curvilinear", "swivel"])
def test_inverse_kinematics(word):  # of the other kinds in kinematics/test_inverse_numeric.py
    tree, ((q, _, _), _) = arm(word), state(word)
    found = tree.inverse_kinematics(tree.pose(q, "tool"), "tool", start=moved(tree, q, np.full(tree.nv, 0.1), 1.0))
    assert found.status == "solved"
    close(tree.pose(found.q, "tool"), tree.pose(q, "tool"), 1e-7)


# Dynamics


def by_every_method(methods, tree, function, *arguments):
    """What each method gives that does not refuse the joint by its name."""
    found = {}
    for name, method in methods.items():
        try:
            found[name] = method.text(tree.tree, function)(*arguments)
        except UnsupportedError as error:
            assert "'middle'" in str(error), error
    return found


@every_kind
def test_dynamics(word):
    tree, ((q, v, vd), free) = arm(word), state(word)
    tau = free.forces
    close(tree.inverse_dynamics.evaluate(NUMPY, q, v, vd), tau)
    close(tree.forward_dynamics.evaluate(NUMPY, q, v, tau), vd, 1e-8)
    inverse = by_every_method(INVERSE, tree, "inverse_dynamics", q, v, vd)
    forward = by_every_method(FORWARD, tree, "forward_dynamics", q, v, tau)
    inertia = by_every_method(INERTIA, tree, "inertia_matrix", q)
    assert {"newton-euler", "newton-euler-in-model-frames"} <= inverse.keys()
    assert {"composite-bodies", "orthogonal-complement"} <= inertia.keys()
    assert {"composite-bodies", "articulated-bodies", "conjugate-gradients", "maximal-coordinates"} <= forward.keys()
    M = free.inertia_matrix
    for found, wanted in ((inverse, tau), (forward, vd), (inertia, M)):
        for method, value in found.items():
            assert_allclose(value, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max(), err_msg=method)
    rest, none = np.zeros(tree.nv), np.zeros(3)
    gravity, weightless = FreeBodies(tree, q, rest, rest).forces, FreeBodies(tree, q, v, rest, gravity=none).forces
    C = tree.coriolis_matrix.evaluate(NUMPY, q, v)
    close(tree.gravity_forces.evaluate(NUMPY, q), gravity)
    close(C @ v, weightless)
    skew = slope(tree, partial(inertia_matrix, minimal_links(tree.tree)), q, v) - C - C.T
    assert np.abs(skew).max() < 1e-8 * np.abs(M).max()
    close(tree.kinetic_energy.evaluate(NUMPY, q, v), free.kinetic_energy)
    moving = [k for k, joint in enumerate(tree.joints) if joint.motion.nv]
    close(tree.joint_reactions.evaluate(NUMPY, q, v, vd), free.wrenches[moving])
    other = FreeBodies(tree, moved(tree, q, v, 1.0), v, vd)
    fall = tree.potential_energy.evaluate(NUMPY, other.q) - tree.potential_energy.evaluate(NUMPY, q)
    close(fall, other.potential_energy - free.potential_energy)


@every_kind
def test_derivatives(word):
    tree, ((q, v, vd), free) = arm(word), state(word)
    forces, D = partial(inverse_dynamics, minimal_links(tree.tree)), free.inertia_matrix
    P = np.stack([slope(tree, lambda x: forces(x, v, vd), q, unit) for unit in np.eye(tree.nv)], axis=1)
    V = np.stack([forces(q, v + h, vd) - forces(q, v - h, vd) for h in np.eye(tree.nv)], axis=1) / 2
    methods = {name: LINEARISED[name] for name in ("algorithm-7.1", "plain-algorithm-7.1", "differentiation")}
    for method, (found_D, found_V, found_P) in by_every_method(methods, tree, "sensitivities", q, v, vd).items():
        for found, wanted in ((found_D, D), (found_V, V), (found_P, P)):
            assert_allclose(found, wanted, rtol=0, atol=1e-8 * max(1.0, np.abs(wanted).max()), err_msg=method)
    constant = all(part.constant_subspace for part in EVERY[word].elementary)
    assert default_method(tree.tree) == ("algorithm-7.1" if constant else "differentiation")
    found = forward_derivatives_text(tree.tree)(q, v, forces(q, v, vd))
    close(found.qdd, vd, 1e-10)
    close(found.by_q, -np.linalg.solve(D, P), 1e-7)


@every_kind
def test_base_parameters(word):
    """As many as movements tell apart, and they give the forces."""
    tree, ((q, v, vd), _) = arm(word), state(word)
    model = tree.identification.linear_model()
    base = base_parameters(model)
    random = np.random.default_rng(2)
    count = 30
    states = [(tree.random_configuration(seed=random), *random.normal(size=(2, tree.nv))) for _ in range(count)]
    stacked = np.concatenate([model.text(*one) for one in states])
    assert len(base.names) == np.linalg.matrix_rank(stacked, tol=1e-9 * np.abs(stacked).max())
    close(model.text(q, v, vd) @ model.values, inverse_dynamics(minimal_links(tree.tree), q, v, vd), 1e-11)


# Motion in time


@every_kind
def test_motion_in_time(word):
    tree, ((q, v, _), _) = arm(word), state(word)
    found = tree.simulate(q, v, until=0.4, rtol=1e-10, progress=False)
    links = minimal_links(tree.tree)
    energy = [total_energy(links, found.q[k], found.qd[k]) for k in (0, -1)]
    close(energy[1], energy[0], 1e-8)
    rolled = tree.rollout(method="rk4")(q, v, step=2e-3, steps=200, every=200)
    close(rolled.q[-1], found.q[-1], 1e-6)
    close(rolled.qd[-1], found.qd[-1], 1e-6)


# Files, pictures, words


def test_files_of_every_kind():
    joints = [Joint(f"j{k}", f"b{k}", f"b{k + 1}", EVERY[word]) for k, word in enumerate(KINDS)]
    tree = cy.Mechanism.of("all", [Body(f"b{k}", 1.0) for k in range(len(joints) + 1)], joints).tree
    again = load_toml(dump_toml(tree))
    assert [joint.motion for joint in again.joints] == [joint.motion for joint in tree.joints]
    with pytest.raises(UnsupportedError, match="Swivel"):
        dump_toml(arm("swivel").tree)
    with pytest.raises(ModelError, match=r"line 5.*not a unit vector|line 5.*must be a unit vector"):
        load_toml(
            'name = "x"\nbodies = [{name = "a"}, {name = "b"}]\n[[joints]]\nkind = "cylindrical"\naxis = [0, 0, 2]\n'
            'name = "j"\nparent = "a"\nchild = "b"\n')
    with pytest.raises(ModelError, match="is a point"):
        load_toml('name = "x"\nbodies = [{name = "a"}, {name = "b"}]\n[[joints]]\nkind = "curvilinear"\nx = [1.0]\n'
                  'name = "j"\nparent = "a"\nchild = "b"\n')


@every_kind
@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_other_formats_hold_it_or_refuse_it_by_name(word, ending, tmp_path):
    tree, ((q, _, _), _) = arm(word), state(word)
    try:
        tree.save(tmp_path / f"arm.{ending}", leave_out=True)
    except UnsupportedError as error:
        assert "middle" in str(error)
        return
    again = cy.load(tmp_path / f"arm.{ending}").tree
    close(frame_pose(again, q, "tool").matrix, frame_pose(tree.tree, q, "tool").matrix, 1e-10)


@every_kind
def test_pictures(word):
    tree, ((q, _, _), _) = arm(word), state(word)
    tree.draw(np.stack([tree.neutral, q]))
    plt.gcf().canvas.draw()
    plt.close("all")
    data = json.loads(embedded(scene(tree.tree)))
    own = [slider for slider in data["sliders"] if slider["name"].startswith("middle")]
    motion = EVERY[word]
    assert len(own) == (0 if motion.free else motion.nv)


@every_kind
@pytest.mark.skipif(not javascript.is_there(), reason="no Chromium")
def test_a_page_moves_it_with_the_text_of_the_library(word):
    """Poses, the way from one configuration to another, and what sliders ask for, in a browser."""
    tree, ((q, _, _), _) = arm(word).tree, state(word)
    rest = np.asarray(arm(word).neutral, dtype=float)
    moved = sliders(tree, rest)
    text = motion_text(tree, moved, None)
    found = javascript.call(text, "Motion.poses(given[0])", q).reshape(-1, 3, 4)
    close(found, [pose.matrix[:3] for pose in body_poses(tree, q)], 1e-14)
    ends = [javascript.call(text, f"Motion.between(given[0], given[1], {x})", rest, q) for x in (0, 1)]
    close(ends[0], rest, 1e-15)
    close([pose.matrix for pose in body_poses(tree, ends[1])], [pose.matrix for pose in body_poses(tree, q)], 1e-12)
    values = np.linspace(-0.7, 0.9, len(moved))
    there = javascript.call(text, "Motion.placed(given[0], given[1])", rest, values)
    for slider, value in zip(moved, values, strict=True):
        if slider["attitude"] is None:
            assert there[slider["place"]] == value
        elif slider["attitude"] == 0:
            at = slider["place"]
            angles = values[moved.index(slider):][:3]
            close(matrix_from_quaternion(there[at:at + 4]), matrix_from_euler(angles, sequence="zyx", axes="moving"),
                  1e-14)
    assert tree.nq == len(there) and check_configuration(tree, there, limits=False) is None


@every_kind
def test_names_and_units(word):
    tree, motion = arm(word), EVERY[word]
    assert len(coordinate_labels(tree)) == tree.nq and len(velocity_labels(tree)) == tree.nv
    S = np.asarray(motion.subspace(motion.neutral))
    derived = ["rad" if column[3:].any() else "m" for column in S.T]
    assert [unit for _, unit in velocity_labels(tree)[1:-1]] == (["rad", "rad"] if word == "swivel" else derived)
    assert len({name for name, _ in coordinate_labels(tree)}) == tree.nq
    assert motion.word in str(tree.summary()) and motion.word in tree.inverse_dynamics.__doc__


@every_kind
def test_equations_are_right_or_refused_by_name(word):
    tree, ((q, _, _), _) = arm(word), state(word)
    try:
        found = tree.equations(parameters="numbers", shared=False)
    except UnsupportedError as error:
        assert "'middle'" in str(error)
        assert any(part.screw is None for part in EVERY[word].elementary)
        return
    values = {f"q_{k + 1}": value for k, value in enumerate(q)}
    weights = [float(entry.evalf(16, subs=values)) for entry in found.G]
    close(weights, FreeBodies(tree, q, np.zeros(tree.nv), np.zeros(tree.nv)).forces)


def test_a_limited_slide_along_a_curve_stops_and_is_sampled():
    bent = Curvilinear((0.0, 1.0), (), (0.0, 0.0, 0.5))
    tree = cy.Mechanism.of("rail", [Body("base"), Body("cart", 1.0)],
                           [Joint("rail", "base", "cart", bent, limits=Limits((-0.5,), (0.8,)))])
    found = tree.simulate([0.7], [0.0], until=3.0, limits="elastic", rtol=1e-9, progress=False)
    assert found.q.min() > -0.5 - 1e-6 and found.q.max() < 0.8
    drawn = tree.pictures.workspace("cart", samples=500)
    assert drawn.farthest < np.hypot(0.8, 0.32) + 1e-6
    assert tree.loops.mobility == 1
