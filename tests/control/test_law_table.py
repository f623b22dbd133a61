"""Laws by their names: what is in the table is found, described, and works for whoever asks by name."""

import inspect

import numpy as np
import pytest

import cayley as cy
from cayley.control import ArmControl, Law
from cayley.errors import SignatureError


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


def test_laws_are_found_by_name_with_hyphens_as_well(arm):
    by_method = arm.control.computed_torque(100.0, 20.0)
    by_name = arm.control.law("computed-torque")(100.0, kd=20.0)
    given = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [0.0, 0.1], [1.0, 2.0]]
    assert np.array_equal(by_name.step(*given), by_method.step(*given))
    with pytest.raises(SignatureError, match="no law 'computed-tork': did you mean 'computed_torque'"):
        arm.control.law("computed-tork")
    assert repr(arm.control).startswith("<control of planar2r: pd, pid,")


def test_each_law_says_what_it_is_and_what_it_asks_for(arm):
    for name, law in arm.control.laws.items():
        assert law.about.endswith(".") and "\n" not in law.about and len(law.about) < 100, name
        assert list(law.arguments) == list(inspect.signature(getattr(arm.control, name)).parameters)
    assert arm.control.laws["workspace_pd"].is_of_frame and not arm.control.laws["pd"].is_of_frame


def test_a_law_of_ones_own_is_one_function_and_one_line(arm, monkeypatch):
    def braked(arm, kd):
        """Joints that are braked."""
        return cy.System("brake", inputs={"qd": arm.nv}, outputs={"tau": arm.nv}, output=lambda t, x, u, p: -kd * u.qd)

    monkeypatch.setattr(ArmControl, "braked", Law(braked), raising=False)
    assert arm.control.laws["braked"].about == "Joints that are braked."
    assert np.array_equal(arm.control.braked(2.0).step([1.0, -3.0]), [-2.0, 6.0])
