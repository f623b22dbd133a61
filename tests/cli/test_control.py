"""`cayley control`: laws by name, gains, circumstances, the page; what is wrong is named."""

import numpy as np
import pytest

import cayley as cy
from cli.processes import call, data, widest
from studio.browser import Browser, NoBrowser, chromium


def test_a_law_is_tried_and_told(tmp_path):
    page = tmp_path / "pages" / "control.html"
    shown = call("control", "planar2r", "--law", "computed-torque", "--ki", "200", "--rate", "1000", "--late", "1",
                 "--payload", "0.5", "--report", page).stdout
    for words in ("asymptotically stable", "ki = 200", "joint2 [N m]", "settled", "control.html"):
        assert words in " ".join(shown.split()), words
    assert widest(shown.replace(str(page), "")) <= 80
    text = page.read_text()
    for words in ("Step response", "Tracking", "Joint forces", "Stability", "1000 Hz, delay 1 period", "0.5 kg",
                  "<canvas"):
        assert words in text, words
    try:
        chromium()
    except NoBrowser as why:
        pytest.skip(str(why))
    with Browser() as browser:
        browser.open(page, width=390)
        assert not browser.problems and browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not [url for url in browser.requests if not url.startswith(("file:", "about:"))]
        assert browser.evaluate("[...document.images].every(image => image.naturalWidth > 400)")


def test_a_law_as_data():
    found = data(call("control", "planar2r", "--law", "pd_with_gravity", "--q", "0 90deg", "--target", "0.2 1.2",
                      "--frequency", "12", "--mismatch", "20", "--time", "1.5", "--json"))
    arm = cy.load("planar2r")
    inertias = 1 / np.diag(np.linalg.inv(arm.inertia_matrix([0.2, 1.2])))
    assert found["gains"]["kp"] == pytest.approx(144 * inertias) and found["t"][-1] == pytest.approx(1.5, abs=0.01)
    rest = np.array([0.2, 1.2]) - found["offset"]  # where the spring holds the weight that the law does not know
    assert found["gains"]["kp"] * np.array(found["offset"]) == pytest.approx(0.2 * arm.gravity_forces(rest), rel=1e-6)
    assert found["stability"]["nature"] == "asymptotically stable"
    every = data(call("control", "planar2r", "--json"))
    assert "computed-torque" in every and "kp" in every["pd"]["arguments"]
    assert "workspace-pd" in call("control", "planar2r").stdout


def test_an_unstable_loop_has_an_exit_code():
    said = call("control", "planar2r", "--law", "computed-torque", "--kp", "4e4", "--kd", "400", "--rate", "100",
                "--late", "2", "--time", "0.3", "--limits", "40 12", code=1)
    assert "drives saturated" in said.stderr
    assert "unstable, proved" in said.stdout


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (("planar2r", "--law", "computd-torque"), 1, "did you mean 'computed_torque'"),
    (("puma650", "--law", "pd"), 1, "did you mean 'puma560'"),
    (("planar2r", "--law", "pd", "--kp", "1,2,3"), 1, "the gains kp must be finite numbers, (2)"),
    (("planar2r", "--law", "pd", "--kp", "stiff"), 2, "'stiff' in kp is not a number"),
    (("planar2r", "--law", "pd", "--ki", "3"), 2, "the controller pd has no argument 'ki'"),
    (("planar2r", "--law", "pd", "--set", "knee"), 2, "not NAME=VALUE"),
    (("planar2r", "--law", "computed-torque", "--set", "windup=3"), 2, "did you mean 'wind_up'"),
    (("planar2r", "--law", "adaptive"), 2, "needs slope, rate"),
    (("planar2r", "--law", "sliding-mode"), 2, "needs kd, slope"),
    (("planar2r", "--law", "hybrid", "--set", "selection=1"), 2, "the command line: use Python"),
    (("planar2r", "--law", "pd", "--set", "output=voltage"), 1, "gives out voltage"),
    (("planar2r", "--law", "pd", "--rate", "0"), 2, "the sampling rate must be positive"),
    (("planar2r", "--law", "pd", "--late", "1"), 1, "give the period"),
    (("planar2r", "--law", "pd", "--limits", "1 2 3"), 2, "one number, or 2 of them"),
    (("planar2r", "--law", "pd", "--limits", "-5"), 1, "the limits of tau must be positive"),
    (("planar2r", "--law", "pd", "--mismatch", "-100"), 2, "the mismatch must be above -100 %"),
    (("planar2r", "--law", "pd", "--payload", "-1"), 2, "the payload must be zero or more"),
    (("planar2r", "--law", "workspace-pd", "--frame", "nose"), 1, "nose"),
    (("four_bar", "--law", "pd", "--target", "0.9 0.5 0.1"), 1, "pin"),
    (("scara", "--law", "pd"), 1, "need the mass of 'link1'")])
def test_what_is_wrong_is_named(arguments, code, words):
    assert words in " ".join(call("control", *arguments, code=code, columns=300).stderr.split())
