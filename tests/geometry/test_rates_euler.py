"""Euler rates and angular velocity: all twelve sequences, moving and fixed axes, against rotations in 60 digits."""

import json

import numpy as np
import pytest

from cayley.errors import ConventionError, SingularityError
from cayley.geometry import rates as cr
from cayley.geometry.rotations.euler import SEQUENCES
from cayley.geometry.tensors.cross import vee
from geometry import exact_motions as em
from geometry.exact_rotations import MP


def close(found, expected, size=1.0, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(size, np.max(np.abs(expected))))


def euler_curve(sequence, axes, angles):
    first, second = ([MP.mpf(x) for x in row] for row in ((0.4, -0.9, 1.3), (-0.7, 0.2, 0.5)))
    exact = [MP.mpf(float(a)) for a in angles]

    def matrix(t):
        turns = [
            em.elementary(s, a + t * b + t * t * c / 2)
            for s, a, b, c in zip(sequence, exact, first, second, strict=True)]
        R = turns[0] * turns[1] * turns[2] if axes == "moving" else turns[2] * turns[1] * turns[0]
        return R.tolist()
    return em.floats(first), em.floats(second), em.rates(matrix)


TRIPLES = ([0.3, 0.7, -1.1], [-2.0, 2.5, 3.0], [np.pi, 1.0, 0.0])


def kernels_of(sequence, axes):
    """The map to angular velocities, and then the kernels in the order of the fields."""
    found = cr.euler_chart(sequence, axes=axes)
    return found.velocity_map, *found.kernels[:-1]


def check_all(sequence, axes, velocity_map, velocity, acceleration, from_world, from_body, second_from_world,
              second_from_body):
    """The seven functions against the motion in 60 digits."""
    for angles in TRIPLES:
        rates, second, (R, dR, ddR) = euler_curve(sequence, axes, angles)
        spin = dR @ R.T
        w, dw = vee(spin), vee(ddR @ R.T - spin @ spin)
        for found, exact in ((velocity(angles, rates), w), (acceleration(angles, rates, second), dw)):
            close(found.world, exact)
            close(found.body, R.T @ exact)
        close(from_world(angles, w), rates)
        close(from_body(angles, R.T @ w), rates)
        close(second_from_world(angles, w, dw), second, 10)
        close(second_from_body(angles, R.T @ w, R.T @ dw), second, 10)
        margin = np.sin(angles[1]) if sequence[0] == sequence[2] else np.cos(angles[1])
        close(abs(np.linalg.det(velocity_map(angles))), abs(margin))
        close(velocity_map(angles) @ rates, w)


@pytest.mark.spec("S3-19")
@pytest.mark.parametrize("sequence, axes",
                         [*((s, "moving") for s in SEQUENCES), ("zyz", "fixed"), ("xyz", "fixed"), ("zxy", "fixed")])
def test_euler_rates_of_every_sequence(sequence, axes):
    check_all(sequence, axes, *kernels_of(sequence, axes))


@pytest.mark.spec("S3-19")
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_rates_about_fixed_axes(sequence):
    """The text of the kernels, not compiled: that the back ends agree is shown elsewhere, and 84 compilations take
    long.
    """
    check_all(sequence, "fixed", *(k.reference for k in kernels_of(sequence, "fixed")))


@pytest.mark.spec("S3-19")
def test_euler_rates_worked_example():
    """Spec W3-04."""
    options = {"sequence": "zyz", "axes": "moving"}
    found = cr.euler_chart(**options).velocity([0.3, 0.7, 5.0], [0.4, -0.9, 1.3])
    np.testing.assert_allclose(found.world, [1.0660462486, -0.6123096929, 1.3942948435], atol=1e-9)
    Omega = cr.world_velocity_map_of_euler([0.3, 0.7, 5.0], **options)
    np.testing.assert_allclose(np.linalg.det(Omega), -0.6442176872, atol=1e-9)
    sp, cp, st_, ct = np.sin(0.3), np.cos(0.3), np.sin(0.7), np.cos(0.7)
    np.testing.assert_allclose(Omega, [[0, -sp, st_ * cp], [0, cp, st_ * sp], [1, 0, ct]], atol=1e-15)
    inverse = [[-cp * ct / st_, -sp * ct / st_, 1], [-sp, cp, 0], [cp / st_, sp / st_, 0]]
    w = np.array([0.2, -0.5, 0.9])
    np.testing.assert_allclose(cr.euler_chart(**options).rates_from_world([0.3, 0.7, 5.0], w), inverse @ w,
                               atol=1e-14)


@pytest.mark.spec("S3-19")
@pytest.mark.parametrize("sequence, middle", [("zyz", 0.0), ("zyz", np.pi), ("xyx", -np.pi), ("zyx", np.pi / 2),
                                              ("xyz", -np.pi / 2)])
@pytest.mark.parametrize("axes", ["moving", "fixed"])
def test_euler_singularities(sequence, middle, axes):
    """There is no inverse; the message names a direction that no rates reach, and the map itself is still right."""
    angles = np.array([[0.3, 0.7, 0.1], [0.3, middle, 0.1]])
    here = cr.euler_chart(sequence, axes=axes)
    for function, extra in ((here.rates_from_world, 1), (here.rates_from_body, 1), (here.accelerations_from_world, 2),
                            (here.accelerations_from_body, 2)):
        with pytest.raises(SingularityError,
                           match=f"{sequence} angles 1 of the batch about {axes} axes are singular") as caught:
            function(angles, *[np.ones(3)] * extra)
    lost = np.array(json.loads(str(caught.value).split("along ")[1].split(";")[0]))
    Omega = cr.world_velocity_map_of_euler(angles[1], sequence=sequence, axes=axes)
    assert np.max(np.abs(lost @ Omega)) < 1e-5 and abs(np.linalg.norm(lost) - 1) < 1e-5
    rates, _, (R, dR, _) = euler_curve(sequence, axes, angles[1])
    close(here.velocity(angles[1], rates).world, vee(dR @ R.T))


def test_euler_conventions_are_named():
    with pytest.raises(ConventionError):
        cr.euler_chart("zzy", axes="moving")
    with pytest.raises(ConventionError):
        cr.euler_chart("zyz", axes="rotating")
