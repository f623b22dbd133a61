"""Numbers of a mechanism as inputs of its kernels: compared with mechanisms that were built with these numbers."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.dynamics.identification import linear_model
from cayley.dynamics.open_tree import TreeMechanics, inertia_parameters
from cayley.errors import CayleyError, ConventionError, ModelError, SingularityError, UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Friction, Joint, Rotor
from cayley.systems.layout import Record
from dynamics.chains import random_chain
from dynamics.mechanisms import near, random_mechanism
from model.random_trees import random_configuration

INERTIAL = ("mass", "center", "inertia")
ROBOTS = ("panda", "puma560", "ur5")


def built(tree, names, values):
    """The mechanism with these numbers, written without the library's own way to do it."""
    given = dict(zip(names, values, strict=True))

    def entries(own, labels, old):
        return [given.get(f"{own}.{label}", x) for label, x in zip(labels, old, strict=True)]

    def body(old):
        I = np.array([[given.get(f"{old.name}.inertia.{''.join(sorted(a + b))}", old.inertia[i, j])
                       for j, b in enumerate("xyz")] for i, a in enumerate("xyz")])
        return Body(old.name, given.get(f"{old.name}.mass", old.mass),
                    np.array(entries(f"{old.name}.center", "xyz", old.center)), I)

    def joint(old):
        place = np.array(old.placement)
        place[:3, 3] = entries(f"{old.name}.length", "xyz", place[:3, 3])
        for k, axis in enumerate("xyz"):
            angle = given.get(f"{old.name}.turn.{axis}", 0.0)
            place[:3, :3] = place[:3, :3] @ Revolute(tuple(np.eye(3)[k])).pose(np.array([angle]))[0]
        friction = Friction(given.get(f"{old.name}.friction.viscous", old.friction.viscous),
                            given.get(f"{old.name}.friction.coulomb", old.friction.coulomb))
        armature = given.get(f"{old.name}.armature", old.rotor.reflected)
        return replace(old, placement=place, friction=friction, rotor=Rotor(armature, 1.0))

    def frame(old):
        pose = np.array(old.pose)
        pose[:3, 3] = entries(f"{old.name}.length", "xyz", pose[:3, 3])
        return replace(old, pose=pose)

    made = Mechanism.of(tree.name, map(body, tree.bodies), map(joint, tree.joints), frames=map(frame, tree.frames),
                        gravity=entries("gravity", "xyz", tree.gravity))
    return made.including(*getattr(tree, "tree", tree).included)


def other_values(parameters, seed=0):
    """Of real bodies: masses and moments of inertia grow together, so that none becomes negative."""
    rng = np.random.default_rng(seed)
    nominal = parameters.nominal
    return nominal * rng.uniform(0.9, 1.1, len(nominal)) + np.where(nominal == 0, rng.uniform(0.05, 0.1), 0.0)


def state(tree, seed=1):
    rng = np.random.default_rng(seed)
    return random_configuration(rng, tree), rng.normal(size=tree.nv), rng.normal(size=tree.nv)


def agrees(tree, name, words, seed=0, tolerance=1e-12):
    """A kernel with parameters, and that of the mechanism that has them, for the text and for the graph."""
    made = getattr(tree, name).with_parameters(*words)
    values = other_values(made.parameters, seed)
    arguments = state(tree)[:len(made.inputs) - 1]
    other = getattr(built(tree, made.parameters.names, values), name).reference(*arguments)
    agree(made.evaluate(cy.NUMPY, *arguments, values), other, tolerance)
    agree(made.reference(*arguments, values), other, tolerance)
    own = getattr(tree, name).reference(*arguments)
    agree(made.evaluate(cy.NUMPY, *arguments, made.parameters.nominal), own, tolerance)


def agree(found, wanted, tolerance):
    for one, other in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        near(np.asarray(one), np.asarray(other), tolerance)


def chain(pattern, seed):
    tree = random_chain(pattern, seed)
    return Mechanism.of(tree.name, tree.bodies, tree.joints, frames=tree.frames, gravity=tree.gravity)


def arm_with_drives():
    arm = chain("RPR", 3)
    joints = tuple(replace(joint, friction=Friction(0.3, 0.2 * (k > 0)), rotor=Rotor(0.01, 10.0))
                   for k, joint in enumerate(arm.joints))
    return Mechanism.of("driven", arm.bodies, joints).including("armature", "friction")


def tree_of_kinds():
    """Branches, a floating base, spherical and prismatic joints, a link without mass, a body fixed to another."""
    rng = np.random.default_rng(5)

    def body(name):
        A = rng.normal(size=(3, 3))
        return Body(name, 1.0 + rng.random(), 0.2 * rng.normal(size=3), np.trace(A @ A.T) * np.eye(3) - A @ A.T)

    def place():
        return Revolute(tuple(np.eye(3)[0])).pose(rng.normal(size=1))[0], rng.normal(size=3)

    def joint(name, parent, child, motion):
        placement = np.eye(4)
        placement[:3, :3], placement[:3, 3] = place()
        return Joint(name, parent, child, motion, placement)

    from cayley.model.joint_kinds import JointKind
    return Mechanism.of("kinds", [Body("ground"), *map(body, "abdef"), Body("c", 0.0)], [
        joint("float", "ground", "a", Floating()), joint("ball", "a", "b", Spherical()),
        joint("slide", "b", "c", Prismatic((0.0, 0.0, 1.0))), joint("turn", "c", "d", Revolute((0.0, 0.0, 1.0))),
        joint("other", "a", "e", Revolute((0.0, 1.0, 0.0))), joint("weld", "e", "f", JointKind())])


@pytest.mark.parametrize(("name", "words"), [
    *[(name, INERTIAL) for name in ROBOTS], ("ur5", ("mass", "length", "gravity")),
    ("panda", ("panda_link3.inertia", "center", "length"))])
def test_inverse_dynamics_of_robots(name, words):
    agrees(cy.load(name), "inverse_dynamics", words)


@pytest.mark.parametrize("name", ["forward_dynamics", "inertia_matrix", "inverse_inertia_matrix", "gravity_forces",
                                  "bias_forces", "kinetic_energy", "potential_energy", "linearize",
                                  "forward_derivatives", "coriolis_matrix", "joint_reactions", "center_of_mass",
                                  "momentum"])
def test_every_function_of_the_state(name):
    agrees(arm_with_drives(), name, [*INERTIAL, "length"], tolerance=1e-11)


@pytest.mark.parametrize("name", ["inverse_dynamics", "inertia_matrix", "linearize", "kinetic_energy"])
def test_trees_with_many_kinds_of_joints(name):
    agrees(tree_of_kinds(), name, [*INERTIAL, "length", "gravity"])


@pytest.mark.parametrize("seed", range(2))
def test_every_kind_of_joint(seed):
    tree = random_mechanism(seed)[0]
    agrees(tree, "inverse_dynamics", [*INERTIAL, "length"], tolerance=1e-11)


def test_one_joint_and_prismatic_last_links():
    for pattern in ("R", "P", "RP", "PRP"):
        agrees(chain(pattern, 2), "inverse_dynamics", [*INERTIAL, "length"])


def test_the_mass_of_a_sliding_link_that_weighs_nothing_in_the_model():
    bodies = [Body("ground"), Body("cart", 0.0), Body("pole", 1.0, (0.0, 0.3, 0.0), 0.1 * np.eye(3))]
    joints = [Joint("turn", "ground", "pole", Revolute((0.0, 0.0, 1.0))),
              Joint("slide", "pole", "cart", Prismatic((1.0, 0.0, 0.0)))]
    tree = Mechanism.of("rail", bodies, joints)
    agrees(tree, "inverse_dynamics", ["cart.mass", "cart.center.y", "pole.mass"])


def test_drives():
    for name in ("inverse_dynamics", "forward_dynamics", "linearize", "bias_forces", "kinetic_energy"):
        words = ["armature"] if name == "kinetic_energy" else ["armature", "friction"]
        agrees(arm_with_drives(), name, words)


def test_angles_that_are_right_in_the_model():
    tree = cy.load("puma560")
    turns = [f"{joint.name}.turn.{axis}" for joint in tree.joints[1:4] for axis in "xy"]
    agrees(tree, "inverse_dynamics", [*turns, "length"], tolerance=1e-11)
    agrees(tree, "inertia_matrix", turns)


def test_entries_that_are_zero_stay_zero_unless_they_are_named():
    tree = cy.load("s1_f2")
    assert "link2.center.y" not in tree.inverse_dynamics.with_parameters("center").parameters.names
    agrees(tree, "inverse_dynamics", ["mass", "link2.center.y", "joint2.length.z", "gravity.x"])


def test_poses_and_jacobians():
    tree = cy.load("panda")
    q = state(tree)[0]
    for of_frame in (lambda arm: arm.pose.of("tool"), lambda arm: arm.jacobian.of("tool", axes="world"),
                     lambda arm: arm.jacobian.of("tool", axes="body")):
        made = of_frame(tree).with_parameters("length", "panda_joint4.turn.x", "tool.length.x")
        values = other_values(made.parameters)
        near(made.evaluate(cy.NUMPY, q, values), of_frame(built(tree, made.parameters.names, values)).reference(q))


@pytest.mark.parametrize("name", ["inverse_dynamics", "inertia_matrix", "forward_dynamics", "linearize"])
def test_every_published_method(name):
    tree = chain("RR", 4)
    arguments = state(tree)[:1 if name == "inertia_matrix" else 3]
    known = getattr(tree, name)
    for method in known.methods:
        for words in (INERTIAL, ("length",)):
            made = known.using(method).with_parameters(*words)
            values = other_values(made.parameters)
            if method == "orthogonal-complement" and name == "forward_dynamics" and words == INERTIAL:
                with pytest.raises(UnsupportedError, match="principal moments"):
                    made.program()
                continue
            wanted = getattr(built(tree, made.parameters.names, values), name).evaluate(cy.NUMPY, *arguments)
            agree(made.evaluate(cy.NUMPY, *arguments, values), wanted, 1e-9)


def test_other_inputs():
    tree = cy.load("puma560")
    arguments = state(tree)
    wrench = np.arange(6.0)
    made = tree.inverse_dynamics.with_inputs(wrenches=["tool"]).with_parameters("mass")
    values = other_values(made.parameters)
    other = built(tree, made.parameters.names, values).inverse_dynamics.with_inputs(wrenches=["tool"])
    near(made.evaluate(cy.NUMPY, *arguments, wrench, values), other.reference(*arguments, wrench))


def test_batches_of_states_and_of_mechanisms_compiled():
    tree = cy.load("panda")
    made = tree.inverse_dynamics.with_parameters(*INERTIAL)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 3, 37, 7))
    sets = np.stack([other_values(made.parameters, seed) for seed in range(3)])
    wanted = np.stack([
        built(tree, made.parameters.names, values).inverse_dynamics(q[k], qd[k], qdd[k])
        for k, values in enumerate(sets)])
    near(made(q, qd, qdd, sets[:, None, :]), wanted)  # three mechanisms, each at 37 states: prepared
    each = np.broadcast_to(sets[:, None, :], (3, 37, len(made.parameters)))
    near(made(q, qd, qdd, each), wanted)  # all in one piece
    near(made(q[0, 0], qd[0, 0], qdd[0, 0], sets[0]), wanted[0, 0])
    near(made(q[0], qd[0], qdd=qdd[0], parameters=sets[0]), wanted[0])
    out = np.empty((37, 7))
    assert made(q[0], qd[0], qdd[0], sets[0], out=out) is out
    near(out, wanted[0])
    single = made(*[x[0].astype(np.float32) for x in (q, qd, qdd)], sets[0].astype(np.float32))
    assert single.dtype == np.float32
    near(single, wanted[0], 2e-5)
    near(made.prepared(made.preparation(sets[0]), q[0], qd[0], qdd[0]), wanted[0])


def test_the_minimal_form_is_kept():
    """Within a few operations of the kernel whose numbers are constants, once the parameters are prepared."""
    for name in ROBOTS:
        tree = cy.load(name)
        constant = tree.inverse_dynamics.operations()
        made = tree.inverse_dynamics.with_parameters(*INERTIAL)
        prepared = made.prepared.operations()
        assert prepared.multiplications <= 1.1 * constant.multiplications
        assert prepared.additions <= 1.1 * constant.additions
        lengths = tree.inverse_dynamics.with_parameters("length").prepared.operations()
        assert lengths.multiplications <= 1.15 * constant.multiplications


MOMENTS = ("m", "ux", "uy", "uz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")


def test_derivatives_by_moments_are_the_regressor():
    tree = cy.load("puma560")
    words = [f"{body.name}.moments.{entry}" for body in tree.bodies[1:7] for entry in MOMENTS]
    made = tree.inverse_dynamics.with_parameters(*words)
    arguments = state(tree)
    found = made.jacobian("parameters").evaluate(cy.NUMPY, *arguments, made.parameters.nominal)
    near(found, linear_model(tree.tree).regressor(*arguments))


def test_forces_are_linear_in_moments():
    tree = cy.load("ur5")
    heavy = [body.name for body in tree.bodies[1:] if body.mass is not None]
    made = tree.inverse_dynamics.with_parameters(*[f"{body}.moments.{entry}" for body in heavy for entry in MOMENTS])
    rng = np.random.default_rng(2)
    bodies = {}
    values = []
    for body in tree.bodies[1:]:
        if body.mass is not None:
            A = rng.normal(size=(3, 3))
            own = Body(body.name, rng.random(), rng.normal(size=3), np.trace(A @ A.T) * np.eye(3) - A @ A.T)
            J = np.trace(own.inertia) / 2 * np.eye(3) - own.inertia + own.mass * np.outer(own.center, own.center)
            values += [own.mass, *(own.mass * own.center), *J[np.triu_indices(3)]]
            bodies[body.name] = own
    other = Mechanism.of("other", [bodies.get(b.name, b) for b in tree.bodies], tree.joints, gravity=tree.gravity)
    arguments = state(tree)
    wanted = other.inverse_dynamics.reference(*arguments)
    near(made.evaluate(cy.NUMPY, *arguments, values), wanted)
    near(made.jacobian("parameters").evaluate(cy.NUMPY, *arguments, made.parameters.nominal) @ values, wanted)


def test_the_state_equation_with_inertias_as_inputs():
    """Accelerations and energies of a mechanism whose bodies are inputs, and of the mechanism that has these bodies."""
    tree = cy.load("puma560").tree
    names = ("link2", "link6")
    other = built(tree, ["link2.mass", "link6.mass", "link6.center.x"], [4.0, 1.0, 0.1])
    tens = [inertia_parameters(other.tree, name) for name in names]
    q, qd, tau = state(tree)
    mechanics = TreeMechanics(tree, inertias=names)
    wanted = other.kinetic_energy.reference(q, qd) + other.potential_energy.reference(q)
    made = kernel("(6),(6),(6),(10),(10)->(6),()")(
        lambda q, qd, tau, a, b: (mechanics.acceleration(q, qd, tau, a, b), mechanics.energy(q, qd, a, b)))
    found, energy = made.evaluate(cy.NUMPY, q, qd, tau, *tens)
    near(found, other.forward_dynamics.reference(q, qd, tau), 1e-10)
    near(energy, wanted)


def test_rollouts_of_different_mechanisms():
    """In one compiled loop, each beside the mechanism that was built so; and the energies of one of them."""
    tree = cy.load("s1_f2")
    words = ("mass", "joint2.length", "gravity")
    chosen = tree.inverse_dynamics.with_parameters(*words).parameters
    sets = np.stack([other_values(chosen, seed) for seed in range(2)])
    system = tree.system(parameters=words)
    start = {"q": np.array([0.3, 0.1]), "qd": np.array([0.5, -0.2])}
    found = system.rollout(parameters=["parameters"])(start, step=1e-3, steps=100, parameters={"parameters": sets}).end
    for k, values in enumerate(sets):
        other = built(tree, chosen.names, values)
        run = other.rollout()(start["q"], start["qd"], step=1e-3, steps=100, every=100)
        near(found["q"][k], run.q[-1])
        near(found["qd"][k], run.qd[-1])

    @kernel(f"(2),(2),(2),({len(chosen)})->(),()")
    def made(q, qd, tau, p):
        records = [Record("test", values) for values in ({"q": q, "qd": qd}, {"tau": tau}, {"parameters": p})]
        return system.energy(0.0, *records), system.power(0.0, *records)

    energy, power = made.evaluate(cy.NUMPY, *start.values(), np.ones(2), sets[1])
    near(energy, other.kinetic_energy.reference(*start.values()) + other.potential_energy.reference(start["q"]))
    near(power, start["qd"].sum())


def test_derivatives_by_lengths_are_quotients_of_differences():
    tree = cy.load("puma560")
    made = tree.inverse_dynamics.with_parameters("length", "mass")
    arguments = state(tree)
    found = made.jacobian("parameters").evaluate(cy.NUMPY, *arguments, made.parameters.nominal)
    for k, value in enumerate(made.parameters.nominal):
        step = np.zeros(len(made.parameters))
        step[k] = 1e-6 * max(1.0, abs(value))
        up, down = (built(tree, made.parameters.names, made.parameters.nominal + sign * step)
                    .inverse_dynamics.reference(*arguments) for sign in (1, -1))
        near(found[:, k], (up - down) / (2 * step[k]), 1e-6)


def test_it_is_part_of_other_kernels_and_of_c():
    tree = cy.load("s1_f2")
    made = tree.inverse_dynamics.with_parameters("mass")

    @cy.kernel("(2),(2)->(2)")
    def held(q, masses):
        return made(q, np.zeros(2), np.zeros(2), masses)

    near(held([0.3, -0.7], [2.0, 3.0]), built(tree, made.parameters.names, [2.0, 3.0]).gravity_forces([0.3, -0.7]))
    assert all(word in made.c_source("torques").header for word in ("parameters[2]", "link2.mass"))
    assert "prepared" in made.prepared.c_source("torques").header
    assert tree.inverse_dynamics.with_parameters("mass") is made
    held = pickle.loads(pickle.dumps(tree.gravity_forces.with_parameters("mass")))
    assert held.parameters.names == made.parameters.names
    assert pickle.loads(pickle.dumps(tree.pose.of("tool").with_parameters("length"))).parameters.units[0] == "m"
    again = pickle.loads(pickle.dumps(made))
    near(again([0.3, -0.7], [1.0, 0.0], [0.0, 1.0], [2.0, 3.0]), made([0.3, -0.7], [1.0, 0.0], [0.0, 1.0], [2.0, 3.0]))


def test_names_values_and_units():
    chosen = cy.load("s1_f2").inverse_dynamics.with_parameters("link2", "gravity").parameters
    assert chosen.names[:2] == ("link2.mass", "link2.center.x") and chosen.names[-1] == "gravity.y"
    assert chosen.units[:2] == ("kg", "m") and chosen.units[-1] == "m/s^2"
    found = chosen.with_values({"link2.mass": np.array([1.0, 2.0]), "gravity.y": -1.6})
    assert found.shape == (2, len(chosen)) and (found[:, -1] == -1.6).all() and (found[:, 1] == chosen.nominal[1]).all()
    with pytest.raises(ConventionError, match="did you mean"):
        chosen.with_values({"link2.mas": 1.0})


@pytest.mark.parametrize(("robot", "words", "message"), [
    ("s1_f2", ["masses"], "no parameter 'masses'.*mass"), ("s1_f2", ["link7.mass"], "link7.mass"),
    ("s1_f2", ["link2.mass", "link2.moments"], "leave out mass"), ("s1_f2", ["armature"], "including"),
    ("s1_f2", ["turn"], "name it"), ("s1_f2", [], "say which"), ("panda", ["panda_link0"], "panda_link0")])
def test_what_is_no_parameter_is_said(robot, words, message):
    with pytest.raises(ConventionError, match=message):
        cy.load(robot).inverse_dynamics.with_parameters(*words)


def test_singular_values_are_explained():
    tree = cy.load("s1_f2")
    made = tree.forward_dynamics.with_parameters(*INERTIAL)
    q, qd, tau = state(tree)
    massless = 0.0 * made.parameters.nominal
    assert np.isnan(made(np.stack([q, q]), qd, tau, massless)).all()
    with pytest.raises(SingularityError, match="moves no mass"):
        made(q, qd, tau, massless)
    with pytest.raises(CayleyError, match="mass"):
        made(q, qd, tau, -made.parameters.nominal)
    with pytest.raises(UnsupportedError, match="kinds of the joints alone"):
        tree.integrate.with_parameters("mass")


@pytest.mark.parametrize("words, value", [
    ("link2.mass", -400.0), ("link2.inertia", -10.0), ("link3.mass", -1e4), ("link2.moments", -50.0)])
def test_where_the_inertia_matrix_is_indefinite_a_batch_is_nan_and_one_state_an_error(words, value):
    arm = cy.load("puma560")
    made = arm.forward_dynamics.with_parameters(words)
    numbers = np.full(len(made.parameters), value)
    q = np.full(6, 0.3)
    assert np.isnan(made(np.stack([q, q]), q, q, numbers)).all()
    with pytest.raises((ModelError, SingularityError), match=words.split(".")[0]) as raised:
        made(q, q, q, numbers)
    assert "np.float64" not in str(raised.value)


def test_mimic_joints_follow_with_any_masses():
    hand = cy.load("panda_hand")
    made = hand.inverse_dynamics.with_parameters("mass")
    q, qdd = hand.configurations.with_mimic_joints(np.full(9, 0.02)), np.linspace(1.0, 2.0, 9)
    qdd[8] = qdd[7]
    masses = 1.5 * made.parameters.nominal
    heavy = hand.variants.spanning_tree().inverse_dynamics.with_parameters("mass")(q, 0.0 * qdd, qdd, masses)
    np.testing.assert_allclose(made(q, 0.0 * qdd, qdd, masses), [*heavy[:7], heavy[7] + heavy[8], 0.0], atol=1e-12)
