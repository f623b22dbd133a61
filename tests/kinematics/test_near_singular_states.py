"""One rule of what is singular: beside singular states of random machines, of a millimetre to a kilometre, all
functions give the answer, or all say that there is none."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayley as cy
from cayley.dynamics.inverse.constrained import drives_of, of_any_drives
from cayley.errors import SingularityError, UnreachableError
from cayley.kinematics.constraints.actuated_motion import passive_correction, passive_motion
from cayley.kinematics.constraints.space import ConstraintSpace, determines, free_with_held, held_velocities
from cayley.kinematics.constraints.structure import constraint_structure, mobility
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from kinematics.singular_machines import MACHINES, link, shift

CASES = [*[(name, size, seed) for name in ("four_bar", "slider_crank", "five_bar")
           for seed, size in enumerate((1e-3, 1.0, 1e3))], ("planar_3rrr", 1e-3, 0), ("planar_3rrr", 30.0, 1),
         ("stewart", 1.0, 0)]


def tolerance(nv):
    """What the rule says, in numbers that are written here."""
    return np.sqrt(64 * nv * 2.0**-53)


def least_value(machine, q, columns):
    """The least singular value of the columns of the constraints, without units."""
    structure = machine.loops.structure
    A = machine.loops.jacobian(q) * np.array(structure.lengths) / np.array(structure.sizes)[:, None]
    values = np.linalg.svd(A[list(structure.leading)][:, columns], compute_uv=False)
    return values[-1]


def distance_of(machine, at, columns, value):
    """How far from the singular state the least singular value is `value`."""
    low, high = -13.0, -1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if least_value(machine, at(10**middle), columns) > value else (middle, high)
    return 10**high


def questions(found, q):
    """What asks for motions and forces that follow from the actuated joints."""
    machine, _, frame, task = found
    rest = np.zeros(machine.nv)
    places = list(machine.tree.actuated_velocities)
    joints = machine.actuated_joints
    rates = np.ones(len(places))
    wanted = np.zeros(machine.nv)
    wanted[places] = 1.0
    asked = {
        "actuated_motion": lambda: machine.loops.actuated_motion(q, rates),
        "consistent_velocity": lambda: machine.loops.consistent_velocity(q, wanted, keep=joints),
        "inverse_dynamics": lambda: machine.inverse_dynamics(q, rest, rest),
        "actuation_singularity": lambda: regular(machine.loops.actuation_singularity(q, frame, task=task,
                                                                                     axes="world")),
        "input_output": lambda: machine.loops.input_output(q, frame, task=task, axes="world").motion(rates),
    }
    if len(machine.joints) < 10:
        asked |= {
            "actuated_acceleration": lambda: machine.loops.actuated_acceleration(q, rates, rates),
            "linearize": lambda: np.stack(machine.linearize(q, rest, rest)),
            "minimal_dynamics": lambda: machine.loops.minimal_dynamics(*joints).inertia_matrix(q)}
    return asked


def regular(found):
    if found.kind != "regular":
        raise SingularityError(found.kind)
    return 1.0


def refused(call):
    try:
        return not np.isfinite(call()).all()
    except SingularityError:
        return True


@pytest.mark.parametrize(("name", "size", "seed"), CASES)
def test_beside_a_singularity_of_the_drives_all_functions_agree(name, size, seed):
    found = MACHINES[name](np.random.default_rng(seed), size)
    machine, at = found.machine, found.at
    passive = [k for k in range(machine.nv) if k not in machine.tree.actuated_velocities]
    e = tolerance(machine.nv)
    edges = [distance_of(machine, at, passive, value) for value in (2 * e, e / 2)]
    for distance in [*edges, *10.0**np.arange(-3, -13, -3)]:
        q = at(distance)
        assert np.abs(machine.loops.residual(q)).max() < 1e-14 * max(size, 1.0)
        value = least_value(machine, q, passive)
        if not e / 1.9 < value < 1.9 * e:
            for what, call in questions(found, q).items():
                assert refused(call) == (value < e), (what, distance, value / e)
        rest = np.zeros(machine.nv)
        assert np.isfinite(machine.forward_dynamics(q, rest, rest)).all()  # the constraints are regular there
    both = np.array([at(edges[0]), at(edges[1])])
    rest = np.zeros((2, machine.nv))
    np.testing.assert_array_equal(np.isfinite(machine.inverse_dynamics(both, rest, rest)).all(axis=-1), [True, False])
    np.testing.assert_array_equal(
        np.isfinite(machine.loops.actuated_motion(both, np.ones(len(machine.tree.actuated_velocities)))).all(axis=-1),
        [True, False])
    with pytest.raises(SingularityError, match="do not command"):
        machine.inverse_dynamics(both[1], rest[1], rest[1])


OUTPUTS = {"four_bar": ("crank", "c", [0, 0, 0, 0, 0, 1]), "slider_crank": ("crank", "c", [1, 0, 0, 0, 0, 0])}


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", OUTPUTS)
def test_beside_a_dead_centre_of_the_output_rates_and_wrenches_end_where_the_posture_is_singular(name, size):
    """The crank drives and the output stands still at first order: rates for its motion do not follow there."""
    drive, frame, task = OUTPUTS[name]
    built = MACHINES[name](np.random.default_rng(3), size)
    machine = built.machine.variants.with_actuated(drive)
    passive = [k for k in range(3) if k not in built.machine.tree.actuated_velocities]
    kinds = set()
    for value in tolerance(3) * np.array([30.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1]):
        q = built.at(distance_of(built.machine, built.at, passive, value))
        kind = machine.loops.actuation_singularity(q, frame, task=task, axes="world").kind
        both = machine.loops.input_output(q, frame, task=task, axes="world")
        for call in (both.rates, both.wrench):
            try:
                refused = not np.isfinite(call([1.0])).all()
            except (SingularityError, UnreachableError):
                refused = True
            assert refused == (kind == "inverse"), (value, kind)
        kinds.add(kind)
    assert kinds == {"regular", "inverse"}


DRIVES = {"four_bar": list(combinations(("crank", "coupler", "rocker"), 1)),
          "slider_crank": list(combinations(("crank", "rod", "slider"), 1)),
          "five_bar": list(combinations(("left", "left rod", "right", "right rod"), 2)),
          "planar_3rrr": [("crank0", "crank1", "crank2"), ("rod0", "rod1", "rod2"), ("plate",)]}


def answers(machine, q):
    """Whether each way to ask for what follows from the actuated joints has an answer, by texts on numbers."""
    tree = machine.tree
    structure = constraint_structure(tree)
    places = tree.actuated_velocities
    A = np.asarray(machine.loops.jacobian(q))
    needed = np.ones(tree.nv)
    with np.errstate(all="ignore"):
        space = ConstraintSpace.of(tree, q)
        by_free_motions = replace(space, structure=replace(structure, by_structure=False))
        found = {"passive_motion": passive_motion(tree, q), "passive_correction": passive_correction(tree, q),
                 "forces": drives_of(tree).forces(tree, q, needed).tau,
                 "forces along other axes": drives_of(tree).forces(tree, q, needed, turned=False).tau,
                 "forces of any drives": of_any_drives(needed, space.A, places, rank=structure.rank,
                                                       commanded=len(places), scale=space.scale).tau,
                 "followers by free motions": by_free_motions.followers(places).N}
    told = {name: bool(np.isfinite(value).all()) for name, value in found.items()}
    commanded, moving = free_with_held(tree, structure, A)
    return told | {"determines": determines(structure, A, places), "commanded": commanded == structure.mobility,
                   "moving": not moving, "held": held_velocities(tree, A).shape[1] == 0}


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(sorted(DRIVES)), power=st.floats(-3.0, 3.0), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_random_linkages_that_any_joints_drive_are_singular_for_all_functions_or_for_none(name, power, seed, data):
    built = MACHINES[name](np.random.default_rng(seed), 10**power)
    joints = data.draw(st.sampled_from(DRIVES[name]))
    passive = [k for k in range(built.machine.nv) if k not in built.machine.tree.actuated_velocities]
    driven = built.machine.variants.with_actuated(*joints)
    others = [k for k in range(driven.nv) if k not in driven.tree.actuated_velocities]
    e = tolerance(driven.nv)
    for value in (2 * e, e / 2):
        q = built.at(distance_of(built.machine, built.at, passive, value))
        here = least_value(driven, q, others)
        if not e / 1.9 < here < 1.9 * e:
            told = answers(driven, q)
            assert told == dict.fromkeys(told, bool(here > e)), here / e


def parallelogram(random, size):
    """Its links in a row, two branches of motions meet."""
    a, b = size * random.uniform([0.2, 0.5], [0.4, 0.8])
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift([a])),
              Joint("rocker", "base", "c", Revolute(), shift([b]))]
    machine = cy.Mechanism.of("parallelogram", [Body("base"), *[link(name, size) for name in "abc"]], joints,
                              frames=[Frame("tip of b", "b", shift([b])), Frame("tip of c", "c", shift([a]))],
                              loops=[Loop("ring", "tip of b", "tip of c", Revolute())])
    return machine.variants.with_actuated("crank"), lambda distance: distance * np.array([1.0, -1.0, 1.0])


def questions_of_one_joint(machine, q):
    """What asks for motions and forces of a mechanism that its crank drives."""
    rest = np.zeros(3)
    asked = {method: lambda method=method: machine.forward_dynamics.using(method)(q, rest, rest)
             for method in ("multipliers", "augmented", "projection", "null space")}
    asked |= {"inverse_dynamics": lambda: machine.inverse_dynamics(q, rest, rest),
              "constraint_forces": lambda: machine.loops.forces(q, rest, rest)[:2],
              "actuated_motion": lambda: machine.loops.actuated_motion(q, [1.0]),
              "linearize": lambda: machine.linearize(q, rest, rest).D,
              "minimal_dynamics": lambda: machine.loops.minimal_dynamics("crank").inertia_matrix(q),
              "inverse_inertia_matrix": lambda: machine.inverse_inertia_matrix(q),
              "configuration_singularity": lambda: regular(machine.loops.singularity(q))}
    return asked


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_beside_a_bifurcation_all_functions_agree(size):
    machine, at = parallelogram(np.random.default_rng(int(size)), size)
    rest = np.zeros(3)
    e = tolerance(3)
    edges = [distance_of(machine, at, [0, 1, 2], value) for value in (2 * e, e / 2)]
    for distance in [*edges, *10.0**np.arange(-3, -13, -3)]:
        q = at(distance)
        value = least_value(machine, q, [0, 1, 2])
        if e / 1.9 < value < 1.9 * e:
            continue
        for what, call in questions_of_one_joint(machine, q).items():
            assert refused(call) == (value < e), (what, distance, value / e)
    q = at(edges[1])
    for call in (machine.forward_dynamics, machine.inverse_dynamics):
        with pytest.raises(SingularityError, match="'ring' of parallelogram depend on each other"):
            call(q, rest, rest)


def test_an_open_arm_loses_one_freedom_with_each_mimic_joint():
    assert mobility(cy.load("panda_hand").tree) == 8
    assert mobility(cy.load("panda").tree) == cy.load("panda").nv
