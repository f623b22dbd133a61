"""Laws by their names: what is in the table is found, described, and works for whoever asks by name."""

import inspect

import numpy as np
import pytest
import sympy as sp

import cayley as cy
from cayley.control import (
    ArmControl,
    Law,
    Selection,
    dc_motors,
    fuzzy_rules,
    linear_model,
    lyapunov_stability,
    radial_basis_network,
    region_of_attraction,
    sample_and_hold,
)
from cayley.errors import ConventionError, SignatureError, UnsupportedError


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


def test_laws_are_found_by_name_with_hyphens_as_well(arm):
    by_method = arm.control.computed_torque(100.0, 20.0)
    given = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [0.0, 0.1], [1.0, 2.0]]
    for name in ("computed-torque", "computed torque", "computed_torque"):
        by_name = arm.control.law(name)(100.0, kd=20.0)
        assert np.array_equal(by_name.step(*given), by_method.step(*given))
    with pytest.raises(SignatureError, match="no law 'computed-tork': did you mean 'computed_torque'"):
        arm.control.law("computed-tork")
    for wrong in ("computed-tork", "nothing like it", 3):
        with pytest.raises(SignatureError, match=r"no law .*; there are pd, pid, "):
            arm.control.law(wrong)
    assert repr(arm.control).startswith("<control of planar2r: pd, pid,")


def test_each_law_says_what_it_is_and_what_it_asks_for(arm):
    for name, law in arm.control.laws.items():
        assert law.about.endswith(".") and "\n" not in law.about and len(law.about) < 100, name
        assert list(law.arguments) == list(inspect.signature(getattr(arm.control, name)).parameters)
    assert arm.control.laws["workspace_pd"].is_of_frame and not arm.control.laws["pd"].is_of_frame


PLANE = [True, True, False, False, False, False]
ALONG = [True, False, False, False, False, False]
ARGUMENTS = {
    "pd": (10.0, 2.0), "pid": (10.0, 1.0, 2.0), "pd_with_gravity": (10.0, 2.0), "computed_torque": (10.0, 2.0),
    "workspace_pd": ("tool", 10.0, 2.0), "resolved_acceleration": ("tool", 10.0, 2.0),
    "operational_space": ("tool", 10.0, 2.0), "force": ("tool", "y", 0.1, 10.0),
    "hybrid": ("tool", Selection(position="x", force="y"), 10.0, 2.0, 0.1),
    "impedance": ("tool", 10.0, 2.0), "admittance": ("tool", 10.0, 2.0, 1.0), "null_space": ("tool", 10.0, 2.0),
    "passivity_based": (10.0, 2.0), "adaptive": (10.0, 2.0, 1.0, 1.0), "sliding_mode": (2.0, 1.0, 1.0, 0.1),
    "disturbance_rejection": (10.0, 2.0, 10.0), "lqr": ([0.3, 0.2],)}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_no_law_takes_a_gain_that_drives_away(arm, name):
    """Each gain in its turn, and of integral action; in volts, behind a negative gear, gains are negative."""
    law = arm.control.laws[name]
    rows = {"task": ALONG if name == "null_space" else PLANE} if "task" in law.arguments else {}
    for place, argument in enumerate([*law.arguments][:len(ARGUMENTS[name])]):
        if argument in ("kp", "kd", "ki", "kf", "stiffness", "damping"):
            given = [*ARGUMENTS[name]]
            given[place] = -given[place]
            with pytest.raises(SignatureError, match=r"not be negative|not negative|positive"):
                getattr(arm.control, name)(*given, **rows)
    if "ki" in law.arguments and "ki" not in [*law.arguments][:len(ARGUMENTS[name])]:
        with pytest.raises(SignatureError, match="the gains ki are not negative"):
            getattr(arm.control, name)(*ARGUMENTS[name], ki=-1.0, **rows)
    if name == "pd":
        assert arm.control.pd(-10.0, -2.0, output="voltage").parameters["kp"].tolist() == [-10.0, -10.0]


@pytest.mark.spec("S3-48", "S3-53")
def test_every_law_of_the_list_is_there_behind_one_interface(arm):
    """(a) to (f) of the source, the named extensions among them: each a system from what is measured and wanted to
    forces, made by its name alone; those that learn by trials and what is added to laws give such systems, too."""
    assert set(ARGUMENTS) <= set(arm.control.laws)
    for name, given in ARGUMENTS.items():
        rows = {"task": ALONG if name == "null_space" else PLANE} if "task" in arm.control.laws[name].arguments else {}
        made = arm.control.law(name.replace("_", "-"))(*given, **rows)
        assert isinstance(made, cy.System) and "q" in made.inputs, name
        if name == "admittance":  # which moves the target of a law of position
            assert "target" in made.outputs
        else:
            assert made.output_ports["tau"].shape == (2,) and "qd" in made.inputs, name
    for compensator in (radial_basis_network(arm, [0.0], 1.0, 1.0, 1.0), fuzzy_rules(arm, 1.0, 1.0, 1.0)):
        made = arm.control.computed_torque(10.0, 2.0, compensator=compensator)
        assert {"q", "qd", "target"} <= set(made.inputs) and made.output_ports["tau"].shape == (2,)


@pytest.mark.spec("S3-48")
def test_a_law_of_ones_own_is_one_function_and_one_line(arm, monkeypatch):
    def braked(arm, kd):
        """Joints that are braked."""
        return cy.System("brake", inputs={"qd": arm.nv}, outputs={"tau": arm.nv}, output=lambda t, x, u, p: -kd * u.qd)

    monkeypatch.setattr(ArmControl, "braked", Law(braked), raising=False)
    assert arm.control.laws["braked"].about == "Joints that are braked."
    assert np.array_equal(arm.control.braked(2.0).step([1.0, -3.0]), [-2.0, 6.0])


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name not in ("admittance", "lqr")])
def test_no_law_pushes_what_has_no_drive(arm, name):
    rows = {"task": ALONG} if "task" in arm.control.laws[name].arguments else {}
    floats = cy.load("planar2r", floating_base=True).variants.with_missing_masses(1.0)
    for plant, words in ((arm.variants.with_actuated("joint1"), "'joint2'"), (floats, "'root_joint'")):
        with pytest.raises(UnsupportedError, match=f"{words}.*(has no drive|is floating)"):
            plant.control.law(name)(*ARGUMENTS[name], **rows)
    assert plant.control.task("tool").asked.size == 6  # what only looks pushes nothing


def test_lqr_drives_what_has_drives():
    pole = cy.load("s1_g1").variants.with_actuated("joint1")  # upright
    by_name = cy.load("s1_g1").control.lqr([np.pi / 2, 0.0], driven=["joint1"])
    law = pole.control.lqr([np.pi / 2, 0.0])
    state = ([1.5, 0.1], [0.2, -0.3], [np.pi / 2, 0.0], [0.0, 0.0])
    assert law.step(*state)[0] != 0.0 and law.step(*state)[1] == 0.0
    assert np.array_equal(law.step(*state), by_name.step(*state))


ONE = sp.Symbol("x")
TWO = {ONE: -ONE, sp.Symbol("y"): -sp.Symbol("y")}
SQUARE = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}


@pytest.mark.parametrize("wrong", ["1", "a", [1, 2, 3], [[1, 2], [3, 4]], float("nan"), 1j, object()])
def test_what_is_no_number_is_refused_by_name(arm, wrong):
    laws = arm.control
    for make in (
            lambda: dc_motors([1.0, 2.0], wrong, 0.05), lambda: dc_motors([1.0, 2.0], 0.1, 0.05, gear=wrong),
            lambda: laws.pd(wrong, 1.0), lambda: laws.impedance("tool", wrong, 1.0, task=PLANE),
            lambda: laws.force("tool", "x", 1.0, 1.0, near=wrong), lambda: laws.lqr([0.1, 0.2], period=wrong),
            lambda: laws.wall("tool", np.zeros(3), [0.0, 1.0, 0.0], wrong), lambda: sample_and_hold("tau", 2, wrong),
            lambda: sample_and_hold("tau", 2, 1e-3, late=wrong),
            lambda: lyapunov_stability({ONE: -ONE}, ONE**2, samples=wrong),
            lambda: region_of_attraction(TWO, slice=SQUARE, shape=(3, 3), near=wrong),
            lambda: region_of_attraction(TWO, slice=SQUARE, shape=(3, 3), until=wrong)):
        with pytest.raises(SignatureError):
            make()


@pytest.mark.parametrize("wrong", [None, 3, 1j, object()])
def test_what_is_none_of_the_things_that_are_asked_for_is_refused_by_name(arm, wrong):
    laws = arm.control
    for make in (
            lambda: laws.hybrid("tool", wrong, 1.0, 1.0, 1.0), lambda: laws.force("tool", wrong, 1.0, 1.0),
            lambda: laws.law(wrong), lambda: laws.task("tool", task=wrong), lambda: linear_model(wrong, {}),
            lambda: laws.iterative_learning(wrong, wrong, 10, 1.0, 1.0),
            lambda: lyapunov_stability({ONE: -ONE}, ONE**2, region=wrong or 0.0),
            lambda: region_of_attraction(TWO, slice=wrong),
            lambda: region_of_attraction(TWO, slice=SQUARE, shape=wrong)):
        with pytest.raises((SignatureError, ConventionError)):
            make()
