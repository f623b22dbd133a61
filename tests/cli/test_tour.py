"""The tour runs, and what it shows is true."""

import re
from pathlib import Path

import cayley as cy
from cayley.dynamics.inverse import kane
from cli.processes import call, data, run, widest


def test_the_tour_of_the_main_robot_fits_a_terminal():
    shown = run("tour", "--no-report").stdout
    arm = cy.load("puma560")
    methods = arm.inverse_dynamics.methods
    assert all(method in shown for method in methods) and f"all agree: {len(methods)} methods" in shown
    assert "150n-48" in shown and "Cayley, one state" in shown and widest(shown) <= 80
    operations = arm.inverse_dynamics.operations()
    assert f"{operations.multiplications} multiplications, {operations.additions} additions" in shown


def test_the_tour_as_data_with_its_report(tmp_path):
    found = data(call("tour", "planar2r", "--output", tmp_path / "new" / "arm.html", "--json"))
    assert found["agrees"] and found["spread"] < 1e-12
    assert {row["method"]
            for row in found["methods"] if not row["refused"]} == set(cy.load("planar2r").inverse_dynamics.methods)
    rows = found["published"]["rows"]
    assert rows["Luh et al. [14]"]["published"]["multiplications"] == 150 * 2 - 48
    assert min(found["seconds_a_state"].values()) > 0
    assert found["report"] == str(
        (tmp_path / "new" / "arm.html").resolve()) and (tmp_path / "new" / "arm.html").stat().st_size > 10_000


def test_a_robot_without_masses_has_no_tour():
    assert "mass of 'link1'" in call("tour", "scara", "--no-report", code=1).stderr


def test_methods_that_differ_end_the_tour_with_an_error(monkeypatch):
    """A method is spoiled; the tour must say so."""
    right = kane.inverse_dynamics
    monkeypatch.setattr(kane, "inverse_dynamics", lambda *state: 1.000001 * right(*state))
    assert not data(call("tour", "planar2r", "--no-report", "--json", code=1))["agrees"]


def test_the_readme_says_where_the_report_of_the_tour_is(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    monkeypatch.chdir(tmp_path)
    written = Path(data(call("tour", "planar2r", "--json"))["report"])
    assert written.name == "planar2r_report.html" and written.parent in (Path("."), tmp_path)
    made = re.search(r"cayley tour --output (\S+)", (root / "Makefile").read_text(encoding="utf-8"))[1]
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "`puma560_report.html`" in readme and f"`{made}`" in readme
