"""What the pages of docs/developers/extending.md define works as they say, everywhere."""

import doctest
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.accounting.tables import method_table
from cayley.dynamics.inverse.methods import METHODS
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import CayleyError
from cayley.model.formats import FORMATS
from cayley.model.parts import Body, Joint
from cli.processes import call, data
from dynamics.chains import random_chain, random_state
from dynamics.mechanisms import near, random_mechanism
from dynamics.test_methods import SHORT

PAGES = (Path(__file__).parents[1] / "docs" / "developers" / "extending.md").read_text(encoding="utf-8").split("\n## ")


def page(title):
    """What the examples of a page define; what undoes them at its end is not run."""
    names = {"np": np, "cy": cy, "Body": Body, "Joint": Joint}
    text = next(part for part in PAGES if part.startswith(title))
    for example in doctest.DocTestParser().get_examples(text):
        if "it was an example" in example.source:
            continue
        with suppress(CayleyError) if example.exc_msg else nullcontext():
            exec(compile(example.source, title, "exec"), names)
    return names


@pytest.fixture(scope="module")
def method():
    page("A method")
    yield "spatial-newton-euler"
    del METHODS["spatial-newton-euler"], sys.modules["spatial_newton_euler"]


@pytest.mark.parametrize("pattern", [*SHORT[::5], "RRPRRR", "RRRRRRR"])
def test_the_method_of_the_page_agrees_on_chains(method, pattern):
    tree = random_chain(pattern, len(pattern))
    state = random_state(tree, 3)
    reference = inverse_dynamics(links_of(tree), *state)
    found = METHODS[method].text(tree, "inverse_dynamics")(*state)
    assert np.abs(found - reference).max() <= 1e-12 * max(1.0, np.abs(reference).max())


def test_the_method_of_the_page_agrees_with_pinocchio_for_every_kind_of_joint(method):
    import pinocchio as pin
    for seed in range(4):
        arm, _, (q, qd, qdd), there = random_mechanism(seed)
        T = there.velocity_map(q)
        tau = pin.rnea(there.model, there.model.createData(), there.q(q), T @ qd,
                       T @ qdd + there.velocity_map_rate(q, qd) @ qd)
        near(METHODS[method].text(arm.tree, "inverse_dynamics")(q, qd, qdd), T.T @ tau, 1e-11)


def test_the_method_of_the_page_is_counted_compared_and_shown(method):
    arm = cy.load("planar2r")
    comparison = arm.formulations.compare_inverse_dynamics(*np.random.default_rng(0).normal(size=(3, 10, 2)))
    assert comparison.agrees and method in [row.method for row in comparison.rows]
    assert {"zeros folded", "compiled"} <= set(method_table(2).rows[method])
    assert method in call("counts", "planar2r").stdout
    shown = data(call("tour", "planar2r", "--no-report", "--json"))
    assert shown["agrees"] and method in [row["method"] for row in shown["methods"]]
    assert "void inverse_dynamics" in arm.inverse_dynamics.using(method).c_source().source


def test_the_format_of_the_page_is_read_written_and_checked(tmp_path):
    before = list(FORMATS)
    try:
        arm = page("A file format")["arm"]
        arm.save(tmp_path / "arm.links")
        found = data(call("check", tmp_path / "arm.links", "--json"))
        assert found["usable"] and found["mechanism"].startswith("arm: 3 bodies, 2 joints")
        assert "cannot hold" not in call("info", tmp_path / "arm.links").stdout
    finally:
        FORMATS[:] = before
