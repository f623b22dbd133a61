"""Results as tables, files and dictionaries for other programs."""

import csv
import json
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, UnsupportedError
from cayley.systems import System
from cayley.tabulated import plain


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


def test_a_trajectory_is_a_row_a_sample(arm, tmp_path):
    pandas = pytest.importorskip("pandas")
    fall = arm.simulate([0.3, 0.0], [0.0, 0.1], until=0.2)
    frame = fall.to_dataframe()
    assert list(frame.columns) == ["t [s]", "q.joint1 [rad]", "q.joint2 [rad]", "qd.joint1 [rad/s]",
                                   "qd.joint2 [rad/s]", "tau.joint1 [N m]", "tau.joint2 [N m]", "work [J]"]
    np.testing.assert_array_equal(frame["qd.joint2 [rad/s]"], fall.qd[:, 1])
    back = pandas.read_csv(fall.to_csv(tmp_path / "fall.csv"))
    np.testing.assert_array_equal(back.to_numpy(), frame.to_numpy())  # to the last digit
    told = json.loads(json.dumps(fall.to_dict()))
    np.testing.assert_array_equal(told["q"], fall.q)
    assert told["mechanism"] == "planar2r" and told["coordinates"][0] == ["joint1", "rad"]


def test_batches_say_which_trajectory_a_row_is_of(arm):
    start = np.random.default_rng(0).normal(size=(2, 3, 2))
    rolled = arm.rollout()(start, np.zeros(2), step=1e-3, steps=4)
    table = rolled.to_columns()
    assert [len(column) for column in table.values()] == [2 * 3 * 5] * len(table)
    chosen = (table["trajectory axis 0"] == 1) & (table["trajectory axis 1"] == 2)
    np.testing.assert_array_equal(table["q.joint1 [rad]"][chosen], rolled.q[1, 2, :, 0])
    own = arm.rollout()(start[0], np.zeros(2), step=np.array([1e-3, 2e-3, 3e-3]), steps=4).to_columns()
    np.testing.assert_allclose(own["t [s]"][own["trajectory"] == 2], 3e-3 * np.arange(5))
    assert json.dumps(rolled.to_dict())
    empty = arm.rollout()(np.zeros((0, 2)), np.zeros(2), step=1e-3, steps=4).to_columns()
    assert {len(column) for column in empty.values()} == {0}


def test_quaternions_and_mimic_joints_have_columns():
    afloat = cy.load("planar2r", floating_base=True).variants.with_missing_masses(1.0)
    run = afloat.rollout()(afloat.neutral, np.zeros(afloat.nv), step=1e-3, steps=2)
    table = run.to_columns()
    assert len([name for name in table if name.startswith("q.")]) == 9 and len(table) == 1 + 9 + 8 + 8 + 1
    assert all(len(column) == 3 for column in table.values())


def test_the_trajectory_of_a_system_has_states_inputs_outputs_and_modes(arm):
    loop = cy.connect(arm, arm.control.pid(100.0, 10.0, 5.0))
    run = loop.simulate({"q": [0, 0], "qd": [0, 0]}, until=0.1, inputs={"target": [0.1, 0.2]})
    table = run.to_columns()
    np.testing.assert_array_equal(table["tau[1]"], run["tau"][:, 1])
    np.testing.assert_array_equal(table["integral[0]"], run["integral"][:, 0])
    assert (table["target[1]"] == 0.2).all() and json.dumps(run.to_dict())
    spring = System("spring", state={"x": "m", "v": "m/s"}, modes={"side": ("left", "right")},
                    derivative=lambda t, x, u, p: {"x": x.v, "v": -x.x})
    swung = spring.simulate({"x": 1.0, "v": 0.0}, until=1.0)
    assert set(swung.to_columns()["side"]) == {"left"} and "x [m]" in swung.to_columns()


def test_comparisons_and_reports(arm, tmp_path):
    compared = arm.formulations.compare_inverse_dynamics([0.3, 0.1], [0.0, 0.0], [0.0, 0.0],
                                                         methods=["newton-euler", "kane"])
    rows = list(csv.DictReader(compared.to_csv(tmp_path / "methods.csv").open()))
    assert [row["method"] for row in rows] == ["newton-euler", "kane"]
    assert float(rows[0]["multiplications"]) == compared.rows[0].operations.multiplications
    told = json.loads(json.dumps(compared.to_dict()))
    assert told["agrees"] is True and told["rows"][1]["distance"] < 1e-12
    report = cy.load("puma560").summary()
    joints = report.joints.to_columns()
    np.testing.assert_allclose(joints["lower [rad]"], cy.load("puma560").lower, rtol=1e-3)
    assert joints["name"].tolist() == [f"joint{k}" for k in range(1, 7)] and joints["number"].dtype.kind == "i"
    assert np.isnan(report.bodies.to_columns()["mass [kg]"][0])
    told = json.loads(json.dumps(report.to_dict()))
    assert told["joints"][2]["kind"] == "revolute" and isinstance(told["warnings"], list) and "frames" in told


def test_files_that_cannot_be_written_are_named(arm, tmp_path, monkeypatch):
    fall = arm.simulate([0.3, 0.0], [0.0, 0.0], until=0.01)
    with pytest.raises(UnsupportedError, match=r"a \.csv file, not 'fall\.xlsx'"):
        fall.to_csv(tmp_path / "fall.xlsx")
    with pytest.raises(ModelError, match="does not exist"):
        fall.to_csv(tmp_path / "no" / "fall.csv")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'cayley\[tables\]'"):
        fall.to_dataframe()


def test_plain_data_are_of_python_alone():
    found = plain({1: np.float32(0.5), "b": {np.int64(2)}, "c": [np.array([True])], "d": None, "e": cy.load})
    assert found["1"] == 0.5 and found["b"] == [2] and found["c"] == [[True]] and found["d"] is None
    assert isinstance(found["e"], str) and type(found["1"]) is float
