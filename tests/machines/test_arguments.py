"""Empty batches, wrong shapes and what is no number, given to the closed forms of machines."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError
from cayley.machines import Planar3RRR, StewartPlatform, TranslationalDelta

RRR = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
DELTA = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
STEWART = StewartPlatform(np.random.default_rng(0).normal(size=(6, 3)), np.random.default_rng(1).normal(size=(6, 3)))


def test_a_batch_of_no_machine_has_no_postures():
    found = RRR.direct_position(np.zeros((0, 3)))
    assert found.poses.shape == (0, 6, 3) and found.count.shape == (0,) and "no machine" in repr(found)
    assert RRR.inverse_position(np.zeros((0, 3))).shape == (0, 8, 3)
    assert DELTA.direct_position(np.zeros((0, 3))).shape == (0, 2, 3)
    assert STEWART.direct_position(np.zeros((0, 6)), guess=np.eye(4)).pose.shape == (0, 4, 4)
    bar = cy.load("four_bar")
    assert bar.loops.close(np.zeros((0, 3))).configuration.shape == (0, 3)
    assert bar.loops.close(np.zeros((2, 0, 3))).residual.shape == (2, 0)
    system = cy.load("planar2r").system()
    none = {"q": np.zeros((0, 2)), "qd": np.zeros((0, 2))}
    assert system.rollout()(none, step=1e-3, steps=3, inputs={"tau": np.zeros(2)}).end["q"].shape == (0, 2)


def test_an_angle_that_is_no_number_has_no_assembly_and_leaves_the_others_alone():
    theta = RRR.inverse_position([1.25, 0.62, 0.2])[0]
    found = RRR.direct_position([theta, [np.nan, 0.0, 0.0], theta])
    assert found.count.tolist() == [2, 0, 2]
    np.testing.assert_array_equal(found.poses[0], found.poses[2])


@pytest.mark.parametrize("call, words", [
    (lambda: RRR.direct_position([0.0, 0.0]), "crank angles"),
    (lambda: RRR.crank_rates([1.25, 0.62, 0.2], [0.0] * 3, [0.0] * 4), "rates of the platform"),
    (lambda: DELTA.rod_lengths([0.0, 0.0], [0.0] * 3), "places"),
    (lambda: DELTA.velocity([0.0, 0.0, 0.5], [0.0] * 3, [1.0]), "rates of the cranks"),
    (lambda: STEWART.direct_position([1.0] * 5, guess=np.eye(4)), "lengths of legs"),
    (lambda: STEWART.direct_position([1.0] * 6, guess=np.eye(3)), "guesses")])
def test_wrong_shapes_are_named(call, words):
    with pytest.raises(SignatureError, match=words + r" must have the shape \(\.\.\., "):
        call()
    with pytest.raises(SignatureError, match=r"argument 'pose' has shape \(\), but its core shape is \(3\)"):
        RRR.vertices(3.0)
