"""The predictor-corrector on curves that are known: ellipses that close, arcs with ends, turning points, starts off the
curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cayley.kinematics.continuation import Progress, corrected, follow, whole_curve, zero_ahead


class Ellipse:
    """(x/a)^2 + (y/b)^2 = 1, of which only what is above `floor` exists."""

    def __init__(self, a, b, floor=-np.inf):
        self.a, self.b, self.floor = a, b, floor

    def equations(self, p):
        value = (p[:, :1] / self.a)**2 + (p[:, 1:] / self.b)**2 - 1.0
        return np.stack([2 * p[:, :1] / self.a**2, 2 * p[:, 1:] / self.b**2], axis=2), -value

    def advance(self, p, t, h):
        found = corrected(self.equations, np.add, (p + h * t)[None], iterations=20, tolerance=1e-14)
        if found.missing[0] > 1e-10 or found.points[0, 1] < self.floor:
            return None
        return found.points[0], found.tangent[0] * np.sign(found.tangent[0] @ t)

    def whole(self, start):
        begin = np.array(start)
        tangent = corrected(self.equations, np.add, begin[None], iterations=1, tolerance=0.0).tangent[0]
        return whole_curve(begin, tangent, self.advance, longest=0.05, shortest=1e-10, straight=0.9, most=5000,
                           back=lambda p, _: float(np.linalg.norm(p - begin)))


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 3.0), st.floats(0.5, 3.0))
def test_an_ellipse_closes_and_has_its_length(a, b):
    curve = Ellipse(a, b).whole([a, 0.0])
    assert curve.closes and (curve.points[0] == curve.points[-1]).all()
    assert np.abs(((curve.points / [a, b])**2).sum(axis=1) - 1.0).max() < 1e-10
    angle = np.unwrap(np.arctan2(curve.points[:, 1] / b, curve.points[:, 0] / a))
    assert abs(abs(angle[-1] - angle[0]) - 2 * np.pi) < 1e-9


def test_an_arc_is_followed_to_both_of_its_ends():
    curve = Ellipse(1.0, 1.0, floor=0.3).whole([0.0, 1.0])
    assert not curve.closes
    assert np.allclose(np.sort(curve.points[[0, -1], 0]), [-np.sqrt(1 - 0.09), np.sqrt(1 - 0.09)], atol=1e-8)
    assert (np.diff(curve.points[:, 0]) > 0).all() or (np.diff(curve.points[:, 0]) < 0).all()


def test_the_last_point_is_the_one_that_ends_it():
    ring = Ellipse(1.0, 1.0)
    curve = follow(np.array([1.0, 0.0]), np.array([0.0, 1.0]), ring.advance, longest=0.1, shortest=1e-6, most=100,
                   ends=lambda p: p[1] > 0.5)
    assert curve.points[-1, 1] > 0.5 > curve.points[-2, 1] and not curve.closes


def test_a_turning_point_is_located_to_rounding():
    ring = Ellipse(2.0, 1.0)
    start = np.array([2.0 * np.cos(1.5), np.sin(1.5)])
    along = np.array([-2.0 * np.sin(1.5), np.cos(1.5)])
    along = along / np.linalg.norm(along)
    top = zero_ahead(lambda _, t: float(t[1]), start, along, ring.advance, 0.5)
    assert np.abs(top - [0.0, 1.0]).max() < 1e-7 and abs(top[1] - 1.0) < 1e-14
    assert zero_ahead(lambda _, t: float(t[1]), start, along, ring.advance, 0.05) is None


def test_points_without_equations_stay_and_say_so():
    def equations(p):
        with np.errstate(invalid="ignore"):
            return 0.5 / np.sqrt(p)[:, None], 1.0 - np.sqrt(p)

    found = corrected(equations, np.add, np.array([[0.5], [-1.0]]), iterations=20, tolerance=1e-14)
    assert found.is_known.tolist() == [True, False]
    assert found.points[0, 0] == pytest.approx(1.0, abs=1e-12) and found.points[1, 0] == -1.0


def test_shares_double_halve_and_begin_again():
    walk = Progress(2, 0.5)
    rows = np.arange(2)
    share, last = walk.ahead(rows)
    assert share.tolist() == [0.5, 0.5] and not last.any()
    walk.record(rows, np.array([True, False]), last)
    assert walk.done.tolist() == [0.5, 0.0] and walk.next.tolist() == [1.0, 0.25]
    share, last = walk.ahead(rows)
    assert share.tolist() == [1.0, 0.25] and last.tolist() == [True, False]
    walk.record(rows, np.array([True, True]), last)
    assert walk.done.tolist() == [0.0, 0.25] and walk.next.tolist() == [1.0, 0.5]
