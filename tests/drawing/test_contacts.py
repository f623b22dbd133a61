"""Contacts in pictures, on pages and in the live view."""

import json
import re

import numpy as np
import pytest

from cayley.drawing.contact_arrows import TOUCHING, arrow_ends, rims, touching_spots
from cayley.shapes.seen import seen_shapes
from simulation.test_contacts import STEP, G, at, ball, block


@pytest.fixture(scope="module")
def sliding():
    mechanism = block(0.3, 0.0)
    return mechanism, mechanism.rollout()(at(0.1, mechanism), [1.0, 0, 0, 0, 0, 0], step=STEP, steps=60, every=20)


def test_forces_are_those_of_the_run_at_the_points_that_touch(sliding):
    mechanism, run = sliding
    spots = touching_spots(mechanism.tree, run.q[-1], run.end["contact_forces"])
    assert len(spots) == 4
    assert np.allclose(sum(spot.force for spot in spots), [-0.3 * 2 * G, 0, 2 * G], atol=1e-6)
    assert all(abs(spot.point[2]) < 1e-6 and spot.friction == 0.3 for spot in spots)
    ends = arrow_ends(spots, 1.0)
    longest = max(range(4), key=lambda k: np.linalg.norm(spots[k].force))
    assert np.linalg.norm(ends[longest] - spots[longest].point) == pytest.approx(0.2)
    for spot, rim in zip(spots, rims(spots, 1.0), strict=True):
        along = rim - spot.point
        up = along @ spot.normal
        assert np.allclose(np.linalg.norm(along - up[:, None] * spot.normal, axis=1), 0.3 * up)


def test_without_forces_the_points_without_a_gap_are_shown():
    resting = ball()
    assert len(touching_spots(resting.tree, at(0.1, resting), None)) == 1
    assert touching_spots(resting.tree, at(0.1 + 2 * TOUCHING, resting), None) == []


def test_a_run_is_drawn_with_its_forces_and_with_the_shapes_that_touch(sliding, tmp_path):
    mechanism, run = sliding
    assert [shape.kind.word for shape in seen_shapes(mechanism.tree)] == ["box"]
    drawn = run.draw([0.06])
    with_forces = len(drawn.collections)
    assert with_forces >= 2 + 8  # floor and robot, a cone and an arrow at each corner
    assert len(mechanism.draw(run.q[-1]).collections) < with_forces
    page = run.animate(tmp_path / "sliding.html").read_text()
    contacts = json.loads(re.search(r'"contacts":(\[\{.*?\}\])', page).group(1))
    assert [len(each["arrows"]) for each in contacts][-1] == 4
    assert run.animate(tmp_path / "sliding.gif").stat().st_size > 0
