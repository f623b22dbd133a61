"""Rollouts that threads share, or of which one computes limbs again, beside the same on this processor."""

import shutil

import numpy as np
import pytest

import cayley as cy
from cayley.compiler import cuda_iteration
from cayley.compiler.cuda_limbs import handed_over, stretches
from cayley.compiler.cuda_shares import SharedProgram
from cayley.compiler.shares import FINE
from cayley.model.formats.urdf import load_urdf

needs_cpp = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
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
    return roll._of_system._iterated.iteration()


@pytest.fixture(scope="module")
def roll():
    return walker(fingers=True).rollout(method="semi-implicit-euler")


def starts(arm, batch, dtype=float):
    rng = np.random.default_rng(4)
    return {"q": arm.random_configuration(batch, seed=1).astype(dtype),
            "qd": rng.uniform(-0.5, 0.5, (batch, arm.nv)).astype(dtype)}


def test_each_leg_is_a_part(roll):
    shares = SharedProgram.of(stage(roll).program, stage(roll).plan).shares
    sizes = np.bincount([part for node, part in shares.part.items()])
    assert shares.parts >= 5 and sizes.max() < 0.4 * sizes.sum()
    chain = cy.load("panda").rollout(method="semi-implicit-euler")
    assert SharedProgram.of(stage(chain).program, stage(chain).plan) is None


def test_nothing_is_taken_over_before_it_is_handed(roll):
    found = SharedProgram.of(stage(roll).program, stage(roll).plan)
    part = found.shares.part
    phase = found.shares.phase
    for node in found.program.nodes:
        for operand in node.args if node.index in part else ():
            if operand.index in part:
                assert phase[node.index] >= phase[operand.index] + (part[node.index] != part[operand.index])
    for (_, value), when in found.loads.items():
        assert phase[value] < when < found.shares.phases
    together = {}
    for value, slot in found.slots.items():
        last = max(when for (_, v), when in found.loads.items() if v == value)
        for made, taken in together.setdefault(slot, []):
            assert phase[value] > taken or last < made
        together[slot].append((phase[value], last))


@needs_cpp
@pytest.mark.parametrize(("dtype", "batch"), [(np.float64, 34), (np.float32, 2)])
def test_as_on_this_processor(cupy, monkeypatch, roll, dtype, batch):
    """More trajectories than a warp has lanes and fewer: the last block is not full."""
    monkeypatch.setattr(cuda_iteration, "CROWDED", 0)
    monkeypatch.setitem(cuda_iteration.RECOMPUTED, "float", 0)
    given = starts(walker(fingers=True), batch)
    right = roll(**given, **RUN)
    there = roll.on("cuda")
    found = there(**{name: a.astype(dtype) for name, a in given.items()}, **RUN)
    compiled = next(iter(there._of_system._iterated._functions.values()))._code._compiled.values()
    assert all(loaded.warps >= 5 and loaded.shared > 0 for loaded in compiled)
    for name in ("q", "qd", "work"):
        value = getattr(right, name)
        np.testing.assert_allclose(getattr(found, name), value, rtol=0,
                                   atol=(1e-12 if dtype is np.float64 else 2e-5) * max(1.0, np.abs(value).max()))


def test_what_a_limb_forgets_is_made_again_from_what_is_kept(roll):
    found = SharedProgram.of(stage(roll).program, stage(roll).plan, FINE)
    kept = handed_over(found)
    known = set()
    for stretch in stretches(found):
        here = set()
        for node in stretch.nodes:
            assert all(a.index in here or a.index in known for a in node.args if a.args)
            here.add(node.index)
        known |= stretch.new & kept
    operations = [n.index for n in found.program.nodes if n.args]
    assert sorted(index for stretch in stretches(found) for index in stretch.new) == sorted(operations)
    assert len(operations) < sum(len(stretch.nodes) for stretch in stretches(found)) < 2 * len(operations)


@needs_cpp
@pytest.mark.parametrize(("dtype", "batch"), [(np.float64, 130), (np.float32, 2)])
def test_limbs_computed_again_as_on_this_processor(cupy, monkeypatch, roll, dtype, batch):
    monkeypatch.setattr(cuda_iteration, "CROWDED", 0)
    monkeypatch.setitem(cuda_iteration.RECOMPUTED, "double", 2)
    monkeypatch.setitem(cuda_iteration.RECOMPUTED, "float", 2)
    given = starts(walker(fingers=True), batch)
    right = roll(**given, **RUN)
    there = roll.on("cuda")
    monkeypatch.setattr(there._of_system._iterated, "_functions", {})
    found = there(**{name: a.astype(dtype) for name, a in given.items()}, **RUN)
    compiled = next(iter(there._of_system._iterated._functions.values()))._code._compiled.values()
    assert all(loaded.warps == 0 and loaded.shared > 0 for loaded in compiled)
    for name in ("q", "qd", "work"):
        value = getattr(right, name)
        np.testing.assert_allclose(getattr(found, name), value, rtol=0,
                                   atol=(1e-12 if dtype is np.float64 else 2e-5) * max(1.0, np.abs(value).max()))
