"""Euler angles beside SciPy's `Rotation`: matrix and quaternion to angles and back, all 24 conventions, batches of 100
000.

SciPy holds quaternions inside. Where it starts from or ends at a quaternion it is given its best case: a `Rotation`
made beforehand, or one that nobody turns into an array. Cayley's times include the check of its arguments, both triples
and the report of singularities.

    python benchmarks/rotations_euler.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from cayley.geometry.rotations.euler import (
    SEQUENCES,
    euler_from_matrix,
    euler_from_quaternion,
    matrix_from_euler,
    quaternion_from_euler,
)


class Row(NamedTuple):
    label: str
    ours: Callable[[], object]
    scipy: Callable[[], object]


def rows(count: int = 100_000, seed: int = 0) -> list[Row]:
    """Every conversion of every convention on `count` random attitudes, as two calls without arguments; raises if the
    sides differ.
    """
    rotations = Rotation.random(count, rng=seed)
    matrices, quaternions = rotations.as_matrix(), rotations.as_quat(scalar_first=True)
    return [row for sequence in SEQUENCES for axes in ("moving", "fixed")
            for row in _rows_of(sequence, axes, rotations, matrices, quaternions)]


def _rows_of(sequence, axes, rotations, matrices, quaternions) -> list[Row]:
    name, convention = sequence.upper() if axes == "moving" else sequence, {"sequence": sequence, "axes": axes}
    angles = rotations.as_euler(name)
    _same(euler_from_matrix(matrices, **convention), angles, 1e-12)
    np.testing.assert_allclose(matrix_from_euler(angles, **convention), matrices, rtol=0, atol=1e-12)
    label = f"{sequence} {axes}"
    return [
        Row(f"matrix to {label}", lambda: euler_from_matrix(matrices, **convention),
            lambda: Rotation.from_matrix(matrices).as_euler(name)),
        Row(f"quaternion to {label}", lambda: euler_from_quaternion(quaternions, **convention),
            lambda: rotations.as_euler(name)),
        Row(f"{label} to matrix", lambda: matrix_from_euler(angles, **convention),
            lambda: Rotation.from_euler(name, angles).as_matrix()),
        Row(f"{label} to quaternion", lambda: quaternion_from_euler(angles, **convention),
            lambda: Rotation.from_euler(name, angles))]


def _same(found, angles, tolerance: float) -> None:
    """The angles agree where they are well determined."""
    clear = found.margin > 1e-2
    np.testing.assert_allclose(np.angle(np.exp(1j * (found.angles - angles)))[clear], 0, atol=tolerance)


def measured(row: Row, rounds: int = 5) -> tuple[float, float]:
    """Median seconds of Cayley and of SciPy, taking turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, sink in zip((row.ours, row.scipy), times, strict=True):
            call()
            start = time.perf_counter()
            call()
            sink.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def main(count: int = 100_000) -> None:
    print(f"{'batch of ' + str(count):34}{'Cayley':>10}{'SciPy':>10}   ns a state")
    for row in rows(count):
        ours, theirs = (1e9 * seconds / count for seconds in measured(row))
        print(f"{row.label:34}{ours:10.1f}{theirs:10.1f}{theirs / ours:9.1f} times")


if __name__ == "__main__":
    main()
