"""Laws as C that keeps its state: on this machine, and on a Cortex-M4F in an emulator, beside their steps in Python."""

import ctypes
import subprocess

import numpy as np
import pytest

import cayley as cy
from cayley.control import PoseTask, PositionTask, PostureTask, adaptive, joint_control, pd_with_gravity
from cayley.planning import MotionLimits
from cayley.systems import UNIT_QUATERNION, Block, System
from compiler.parity import COMPILER, STRICT
from programs import missing, needs
from systems.cortex import PROGRAMS, run
from systems.plants import rods

PERIODS = 25
SINGLE = np.finfo(np.float32).eps


@pytest.fixture(scope="module")
def cortex():
    if why := missing(*PROGRAMS):
        pytest.skip(why)


def looks(law, seed=0):
    """What a law sees in a few periods; once a measurement is not a number."""
    rng = np.random.default_rng(seed)
    rows = {name: rng.uniform(-1.0, 1.0, (PERIODS, *port.shape)).astype(np.float32) for name, port in law.ports.items()}
    rows["q"][PERIODS // 2, 0] = np.nan
    return rows | ({"h": np.full(PERIODS, 1e-3, dtype=np.float32)} if law.blocks else {})


def in_python(law, rows):
    """The outputs and states of the steps in double precision, from the same numbers."""
    x = np.zeros(law.layout.size)
    found = []
    for k in range(PERIODS):
        given = [np.asarray(values[k], dtype=float) for values in rows.values()]
        with np.errstate(invalid="ignore"):
            now = law.step(x, *given) if law.blocks else law.step(*given)
        x = now.x if law.blocks else x
        found.append((now.tau if law.blocks else now, x))
    return [np.array(column) for column in zip(*found, strict=True)]


LAWS = {
    "pid of two joints": lambda: joint_control(2, 80.0, 12.0, 20.0, wind_up=1.0),
    "gravity compensation of two joints": lambda: pd_with_gravity(rods(), 80.0, 12.0),
    "adaptive control of two joints": lambda: adaptive(rods(), 20.0, 8.0, 5.0, 2.0, payload="tool"),
    "computed torque of a Puma 560": lambda: cy.load("puma560").control.computed_torque(100.0, 20.0, 50.0, wind_up=30.0)
}


@pytest.mark.parametrize("which", LAWS)
def test_laws_on_a_cortex_m4(cortex, tmp_path, which, record_property):
    """The numbers of the step in Python to the rounding of single precision, without a heap or emulated doubles."""
    law = LAWS[which]()
    rows = looks(law)
    ran = run(law, "law", rows, tmp_path)
    record_property("cortex-m4f", f"{which}: {ran}")
    print(f"{which}: {ran}")
    tau, x = in_python(law, rows)
    assert all(np.isfinite(each).all() for each in ran.outputs.values()) and (tau == 0.0).any() and tau.any()
    assert np.abs(ran.outputs["tau"] - tau).max() < 8 * SINGLE * np.abs(tau).max()
    assert ((ran.outputs["tau"] == 0) == (tau == 0)).all()  # what a NaN takes away, and no more
    if law.blocks:
        assert np.abs(ran.outputs["x"] - x).max() < 8 * SINGLE * np.abs(x).max()
        assert np.abs(x[-1]).max() > 0  # something was remembered
    forbidden = ("malloc", "calloc", "realloc", "free", "sbrk", "aeabi_d", "aeabi_f2d", "adddf", "muldf", "divdf")
    assert not [name for name in ran.symbols if any(word in name for word in forbidden)]
    own = sum(ran.frames.values())
    assert 0 < ran.stack < 1024 and own <= ran.stack + 64 and 0 < ran.code < 4096


@needs("cc")
def test_what_is_kept_in_c_is_what_python_hands_on(tmp_path):
    """On this machine, in double precision: names that C has taken, blocks of any shape, values to begin with."""
    law = System(
        "odd", state={"state": Block((2, 2), default=1.5), "i": Block((), "s", default=-0.5), "int": 3,
                      "R": Block((4,), manifold=UNIT_QUATERNION)},
        inputs={"x_in": 2, "u": ""}, outputs={"out": 2, "double": ""},
        derivative=lambda t, x, u, p: {"state": -x.state * t, "i": u.u, "int": 2 * x["int"], "R": x["int"]},
        output=lambda t, x, u, p: {"out": x.state[0] + u.x_in * t, "double": x.i + x.R[0]})
    source, header = law.c_source("odd").write(tmp_path)
    subprocess.run([COMPILER, *STRICT, "-shared", "-fPIC", "-o", tmp_path / "odd.so", source, "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "odd.so"))

    class Kept(ctypes.Structure):
        _fields_ = [("state", ctypes.c_double * 4), ("i", ctypes.c_double), ("int", ctypes.c_double * 3),
                    ("R", ctypes.c_double * 4)]

    def array(*values):
        return (ctypes.c_double * len(values))(*values)

    kept, other = Kept(), Kept()
    for each in (kept, other):  # each has its own
        library.odd_init(ctypes.byref(each), array(0.1, 0.2, 0.3), array(1.0, 0.0, 0.0, 0.0))
    x = np.array([1.5, 1.5, 1.5, 1.5, -0.5, 0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0])
    for t in (0.0, 0.3, 0.6):
        out, number = array(0.0, 0.0), ctypes.c_double()
        library.odd_step(ctypes.byref(kept), ctypes.c_double(t), array(1.0, -1.0), ctypes.c_double(0.7),
                         ctypes.c_double(0.3), out, ctypes.byref(number))
        now = law.step(t, x, [1.0, -1.0], 0.7, 0.3)
        x = now.x
        assert np.allclose([*out, number.value], [*now.out, now.double], rtol=1e-14)
        assert np.allclose(np.concatenate([np.ravel(getattr(kept, name)) for name, _ in Kept._fields_]), x, rtol=1e-14)
    assert out[1] == pytest.approx(1.5 * (1 - 0.3 * 0.3) - 0.6, rel=1e-14)  # Euler's steps, and the time itself
    assert list(other.state) == [1.5] * 4
    assert "void odd_init(odd_state *state, const double int_[3], const double R[4]);" in header.read_text()


TASKS = {
    "a planar arm of three joints": lambda: cy.load("planar3r").tasks(
        [PositionTask("tool", axes="xy", gain=4.0), PostureTask(weight=1e-2)], limits=MotionLimits(velocity=0.5)),
    "the hand of a Panda": lambda: cy.load("panda").tasks([PoseTask("tool", gain=4.0), PostureTask(weight=1e-2)]),
}


@pytest.mark.parametrize("which", TASKS)
def test_tasks_within_limits_on_a_cortex_m4(cortex, tmp_path, which, record_property):
    """Velocities of tasks from a quadratic program: as in single precision here, and near those in double precision."""
    law = TASKS[which]()
    rng = np.random.default_rng(5)
    arm = cy.load("planar3r") if "planar" in which else cy.load("panda")
    q = np.asarray(arm.random_configuration(PERIODS, seed=6)) * 0.5
    T = np.asarray(arm.pose(q + rng.uniform(-0.5, 0.5, q.shape), "tool"))
    given = {"q": q, "target_tool": T[:, :3, 3] if "planar" in which else T, "target_posture": 0.8 * q}
    rows = {name: np.asarray(given.get(name, np.zeros((PERIODS, *port.shape))), dtype=np.float32)
            for name, port in law.ports.items()}
    ran = run(law, "law", rows, tmp_path)
    count = law.operations()
    record_property("cortex-m4f", f"{which}: {ran}; at most {count}")
    print(f"{which}: {ran}; at most {count}")
    single, exact = (dict(zip(law.outputs, law.step(*[values.astype(kind) for values in rows.values()]), strict=True))
                     for kind in (np.float32, np.float64))
    size = np.abs(exact["qd"]).max()
    assert (ran.outputs["status"] == 0).all() and (exact["active"] != 0).any()
    assert np.abs(ran.outputs["qd"] - single["qd"]).max() < 1e-3 * size
    assert np.abs(ran.outputs["qd"] - exact["qd"]).max() < 1e-3 * size
    assert not [name for name in ran.symbols if any(word in name for word in ("malloc", "free", "sbrk", "aeabi_d"))]
    assert 0 < ran.stack < 32768
