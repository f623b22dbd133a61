"""Rollouts that a thread computes limb by limb, beside the same on this processor."""

from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.algebras.counts import count
from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.cuda import cuda_iteration, limb_order
from cayley.compiler.cuda.cuda_stretches import LimbedProgram, handed_over, slots, stretches
from cayley.compiler.cuda.thread_shares import COARSE, FINE
from cayley.compiler.native.schedule import most_alive
from cayley.compiler.tracing.program import Variable
from cayley.model.formats.urdf import load_urdf
from programs import needs

needs_cpp = needs("g++")
RUN = {"step": 4e-3, "steps": 2, "every": 1, "progress": False}


def link(name, mass):
    return (f'<link name="{name}"><inertial><origin xyz="0.02 0.01 -0.15"/><mass value="{mass}"/>'
            '<inertia ixx="0.02" iyy="0.03" izz="0.015" ixy="0.001" ixz="0.002" iyz="-0.001"/></inertial></link>')


def joint(parent, child, place, axis):
    return (f'<joint name="to_{child}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>')


def walker(fingers=False):
    """A trunk with a leg of three links at each corner; the first one holds two fingers of two links each."""
    parts = [link("trunk", 8.0)]
    for leg, corner in enumerate(("0.3 0.2 0", "0.3 -0.2 0", "-0.3 0.2 0", "-0.3 -0.2 0")):
        parent, place = "trunk", corner
        for part, axis in enumerate(("1 0 0", "0 1 0", "0 1 0")):
            parts += [link(f"leg{leg}_{part}", 1.0 + 0.1 * leg), joint(parent, f"leg{leg}_{part}", place, axis)]
            parent, place = f"leg{leg}_{part}", "0 0.03 -0.3"
    for finger in range(2 if fingers else 0):
        parent = "leg0_2"
        for part, axis in enumerate(("1 0 0", "0 1 0")):
            parts += [link(f"finger{finger}_{part}", 0.2), joint(parent, f"finger{finger}_{part}",
                                                                 f"0 {0.1 * finger} -0.2", axis)]
            parent = f"finger{finger}_{part}"
    return cy.Mechanism(load_urdf(f'<robot name="walker">{"".join(parts)}</robot>', floating_base=True))


def stage(roll):
    return roll._iterated.iteration()


@pytest.fixture(scope="module")
def roll():
    return walker(fingers=True).rollout(method="semi-implicit-euler")


def starts(arm, batch, dtype=float):
    rng = np.random.default_rng(4)
    return {"q": arm.random_configuration(batch, seed=1).astype(dtype),
            "qd": rng.uniform(-0.5, 0.5, (batch, arm.nv)).astype(dtype)}


def limbed(roll, grain=FINE):
    return LimbedProgram.of(stage(roll).program, stage(roll).plan, grain)


def test_each_leg_is_a_part(roll):
    shares = limbed(roll).shares
    sizes = np.bincount([part for node, part in shares.part.items()])
    assert shares.parts >= 5 and sizes.max() < 0.4 * sizes.sum()
    assert limbed(cy.load("panda").rollout(method="semi-implicit-euler")) is None


@pytest.mark.parametrize("grain", [COARSE, FINE])
def test_what_a_limb_forgets_is_made_again_from_what_is_kept(roll, grain):
    found = limbed(roll, grain)
    kept = handed_over(found)
    known = set()
    parts = stretches(found)
    for stretch in parts:
        here = set()
        for node in stretch.nodes:
            assert all(a.index in here or a.index in known for a in node.args if a.args)
            here.add(node.index)
        known |= stretch.new & kept
    operations = [n.index for n in found.program.nodes if n.args]
    assert sorted(index for stretch in parts for index in stretch.new) == sorted(operations)
    assert len(operations) < sum(len(stretch.nodes) for stretch in parts) < 2 * len(operations)


def test_no_place_is_used_again_too_early(roll):
    parts = stretches(limbed(roll))
    late = sorted(parts[0].new)[:1]
    places = slots(parts, late)
    inside = {}
    for part in parts:
        assert all(inside[places[value]] == value for value in part.taken)
        inside.update((places[value], value) for value in part.new if value in places)
    assert inside[places[late[0]]] == late[0] and len(set(places.values())) < len(places)


@needs_cpp
@pytest.mark.parametrize(("dtype", "together", "batch"), [(np.float64, 4, 2 * 128 + 3), (np.float32, 1, 2)])
def test_as_on_this_processor(cupy, monkeypatch, roll, dtype, together, batch):
    """Threads that take two trajectories and three, and threads that take one or none."""
    monkeypatch.setattr(cuda_iteration, "CROWDED", 0)
    monkeypatch.setitem(cuda_iteration.TOGETHER, "float", together)
    monkeypatch.setitem(cuda_iteration.TOGETHER, "double", together)
    given = starts(walker(fingers=True), batch)
    right = roll(**given, **RUN)
    there = roll.on("cuda")
    monkeypatch.setattr(there._iterated, "_functions", {})
    found = there(**{name: a.astype(dtype) for name, a in given.items()}, **RUN)
    compiled = next(iter(there._iterated._functions.values()))._code._compiled.values()
    assert all(loaded.together == together and (loaded.shared > 0) == (together == 1) for loaded in compiled)
    for name in ("q", "qd", "work"):
        value = getattr(right, name)
        np.testing.assert_allclose(getattr(found, name), value, rtol=0,
                                   atol=(1e-12 if dtype is np.float64 else 2e-5) * max(1.0, np.abs(value).max()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_on_a_gpu(monkeypatch, dtype):
    cupy = pytest.importorskip("cupy")
    monkeypatch.setattr(cuda_iteration, "CROWDED", 0)
    monkeypatch.setenv("CAYLEY_CACHE", "off")  # where code that keeps everything may lie
    arm = walker(fingers=True)
    roll = arm.rollout(method="semi-implicit-euler")
    given = starts(arm, 3 * 128 + 5)
    right = roll(**given, **RUN)
    found = roll.on("cuda")(**{name: cupy.asarray(a.astype(dtype)) for name, a in given.items()}, **RUN).here()
    for name in ("q", "qd"):
        value = getattr(right, name)
        np.testing.assert_allclose(getattr(found, name), value, rtol=0,
                                   atol=(1e-11 if dtype is np.float64 else 2e-5) * max(1.0, np.abs(value).max()))


# Around a loop: contacts


FEET = {"leg0_2": 0.03, "leg1_2": 0.03, "leg2_2": 0.03, "leg3_2": 0.03}


@pytest.fixture(scope="module")
def standing():
    """A walker whose legs have points, and its rollout by sweeps."""
    return walker().with_contacts(points=FEET, friction=0.7).rollout(iterations=5)


def test_limbs_are_found_in_the_graph(standing):
    program, states = stage(standing).program, fed(stage(standing))
    given = limb_order._given(program.nodes, {node.index: 1 << k for k, node in enumerate(states)})
    q, qd = 7, 19 + 6  # where joints begin: a base has 7 coordinates and 6 velocities
    legs = [{*range(q + 3 * leg, q + 3 * leg + 3), *range(qd + 3 * leg, qd + 3 * leg + 3)} for leg in range(4)]
    limbs = limb_order._limbs(program.nodes, given)
    assert [{k for k in range(len(states)) if limb >> k & 1} for limb in limbs] == legs


def test_an_order_by_limbs_computes_the_same_with_less_at_hand(standing):
    program = stage(standing).program
    ordered = limb_order.limb_by_limb(program, fed(stage(standing)))
    assert count(ordered).additions <= count(program).additions
    before = ended(program, "call")
    assert most_alive(ended(ordered, "call")) < 0.8 * most_alive(before)
    rng = np.random.default_rng(0)
    given = [rng.uniform(0.1, 1.0, v.shape) for v in program.inputs]
    for here, there in zip(interpret(ordered, NUMPY, *given), interpret(program, NUMPY, *given), strict=True):
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-12 * max(1.0, np.abs(there).max()))


def fed(iteration):
    return [n for _, before in iteration.plan.feeds for n in iteration.program.inputs[before].nodes]


def ended(program, op):
    """What comes before the first operation of this kind."""
    nodes = next(n for n in program.nodes if n.op == op).args
    return replace(program, outputs=(Variable("arguments", (len(nodes),), tuple(nodes)),))


def test_what_is_kept_around_a_loop_costs_less_than_to_keep_or_to_compute_all(standing):
    found = LimbedProgram.of(stage(standing).program, stage(standing).plan)
    before, loop, after = stretches(found)
    assert {n.op for n in loop.nodes} == {"call", "result"}
    everything = {a.index for n in found.program.nodes if n.index in after.new for a in n.args if a.index in before.new}
    again = len(after.nodes) - len(after.new)
    assert again + 10 * len(after.taken) < 10 * len(everything) and again < len(before.nodes) / 2


@needs_cpp
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_contacts_as_on_this_processor(cupy, monkeypatch, standing, dtype):
    """More threads in a block than there are trajectories: those that have ended are waited for by none."""
    given = {"q": np.tile(walker().neutral, (3, 1)), "qd": starts(walker(), 3)["qd"]}
    given["q"][:, 2] = [0.6, 0.61, 0.9]
    right = standing(**given, **RUN)
    there = standing.on("cuda")
    monkeypatch.setattr(there._iterated, "_functions", {})
    found = there(**{name: a.astype(dtype) for name, a in given.items()}, **RUN)
    loaded, = [each for code in there._iterated._functions.values() for each in code._code._compiled.values()]
    assert loaded.together == 1 and loaded.shared > 0
    forces = right["contact_forces"][:, -1]
    assert forces[:2].any() and not forces[2].any()
    for name in ("q", "qd", "contact_forces"):
        np.testing.assert_allclose(found[name], right[name], rtol=0, atol=(1e-10 if dtype is np.float64 else 2e-4)
                                   * max(1.0, np.abs(right[name]).max()))
