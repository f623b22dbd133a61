"""Hypothesis strategies that aim at where rotations are hard: zero, tiny angles, half-turns and their neighbourhood,
parallel and coordinate axes, repeated eigenvalues. Plain NumPy: nothing of the product is used."""

import numpy as np
from hypothesis import strategies as st

TINY = [1e-300, 1e-160, 1e-30, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-5, 1e-3]


def components(size: float = 10.0):
    """Ordinary numbers, and zero more often than chance."""
    return st.one_of(st.just(0.0), st.floats(-size, size, allow_subnormal=False))


def vectors(size: float = 10.0):
    return st.tuples(*[components(size)] * 3).map(np.array)


def angles():
    """From 0 to pi, both ends and their neighbourhoods included."""
    hard = [0.0, *TINY, *[np.pi - t for t in TINY], np.pi, np.pi / 2]
    return st.one_of(st.sampled_from(hard), st.floats(0.0, np.pi))


def signed_angles():
    """From -pi to pi."""
    return st.tuples(angles(), st.sampled_from([-1.0, 1.0])).map(lambda pair: pair[0] * pair[1])


def axes():
    """Unit vectors: coordinate axes, vectors almost along them, ties between components, and any others."""
    coordinate = st.sampled_from([s * e for e in np.eye(3) for s in (1.0, -1.0)])
    almost = st.tuples(coordinate, st.sampled_from([1e-160, 1e-16, 1e-8, 1e-4]),
                       vectors(1.0)).map(lambda t: t[0] + t[1] * t[2])
    ties = st.tuples(*[st.sampled_from([-1.0, 0.0, 1.0])] * 3).filter(any).map(np.array)
    anything = vectors(1.0).filter(lambda v: np.linalg.norm(v) > 0.1)
    return st.one_of(coordinate, almost, ties, anything).map(lambda v: v / np.linalg.norm(v))


def parallel_axes():
    """Two unit vectors, equal, opposite or almost so."""
    def pair(drawn):
        axis, sign, apart, aside = drawn
        other = sign * axis + apart * aside
        return axis, other / np.linalg.norm(other)

    return st.tuples(axes(), st.sampled_from([-1.0, 1.0]), st.sampled_from([0.0, 1e-16, 1e-9, 1e-4]),
                     vectors(1.0)).map(pair)


def rotation_vectors():
    """Axis times angle, the angle up to pi."""
    return st.tuples(axes(), angles()).map(lambda pair: pair[0] * pair[1])


def unit_quaternions():
    """(w, x, y, z) of either sign; half-turns have w = 0 exactly, or 6e-17."""
    def quaternion(drawn):
        axis, angle, sign = drawn
        q = sign * np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
        return q / np.linalg.norm(q)
    exact = axes().map(lambda axis: np.array([0.0, *axis]))
    return st.one_of(exact, st.tuples(axes(), angles(), st.sampled_from([-1.0, 1.0])).map(quaternion))


def homogeneous_forms():
    """[w : v] of every size from 1e-140 to 1e140, so that products of two stay numbers."""
    return st.tuples(unit_quaternions(), st.sampled_from([1.0, -1.0, 3e-7, -2e140,
                                                          1e-140])).map(lambda pair: pair[0] * pair[1])


def vector_parameters(longest: float = 1e16):
    """tan(phi/2) e, up to the neighbourhood of the half-turn."""
    def parameter(drawn):
        axis, angle = drawn
        return min(np.tan(angle / 2), longest) * axis
    return st.tuples(axes(), angles()).map(parameter)


def rotation_matrices():
    return unit_quaternions().map(matrix_of)


def matrix_of(q):
    """The rotation matrix of a quaternion, in the simplest arithmetic."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def symmetric_matrices(smallest: float = -10.0, largest: float = 10.0):
    """3x3, with eigenvalues that are often equal or almost so, or zero, in axes that are often the coordinate axes."""
    eigenvalue = st.one_of(st.sampled_from([0.0, 1.0, largest]), st.floats(smallest, largest, allow_subnormal=False))

    def matrix(drawn):
        R, (a, b, c), repeat = drawn
        values = {"none": (a, b, c), "two": (a, a, c), "three": (a, a, a), "almost": (a, a * (1 + 1e-9), c)}[repeat]
        A = R @ np.diag(values) @ R.T
        return (A + A.T) / 2
    return st.tuples(st.one_of(st.just(np.eye(3)), rotation_matrices()), st.tuples(*[eigenvalue] * 3),
                     st.sampled_from(["none", "two", "three", "almost"])).map(matrix)
