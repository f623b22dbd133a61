"""Euler angles in 60 digits: the product of three elementary turns, and nothing of the product code."""

import itertools

import numpy as np

from geometry.exact_rotations import MP, matrix_of, product

CONVENTIONS = [("".join(letters), axes) for letters in itertools.product("xyz", repeat=3)
               for axes in ("moving", "fixed") if letters[0] != letters[1] != letters[2]]
OFFSETS = [0.0, *[sign * 10.0**-k for k in (16, 15, 14, 12, 10, 8, 7, 6, 4, 3) for sign in (1, -1)]]


def is_proper(sequence: str) -> bool:
    return sequence[0] == sequence[2]


def scipy_name(sequence: str, axes: str) -> str:
    return sequence.upper() if axes == "moving" else sequence


def exact_quaternion(angles, sequence: str, axes: str):
    """The exact quaternion of angles that may be floats or exact numbers."""
    turns = [[MP.cos(MP.mpf(a) / 2), *[MP.sin(MP.mpf(a) / 2) if letter == axis else MP.mpf(0) for letter in "xyz"]]
             for axis, a in zip(sequence, angles, strict=True)]
    first, middle, third = turns if axes == "moving" else reversed(turns)
    return product(product(first, middle), third)


def exact_matrix(angles, sequence: str, axes: str) -> np.ndarray:
    """The rotation matrix, rounded to doubles."""
    return np.array(matrix_of(exact_quaternion(angles, sequence, axes)), dtype=np.float64)


def worst_angle_error(triples, exact, sequence: str, axes: str) -> float:
    """The largest attitude error [rad] of triples of floats, beside exact quaternions."""
    return max(
        distance(exact_quaternion([float(a) for a in triple], sequence, axes), q)
        for triple, q in zip(triples, exact, strict=True))


def distance(p, q) -> float:
    """The angle [rad] between the attitudes of two exact quaternions of any length, where it is small."""
    difference = product(p, [q[0], -q[1], -q[2], -q[3]])
    return float(2 * MP.sqrt(sum(x * x for x in difference[1:])) / MP.sqrt(sum(x * x for x in difference)))


def singular_middles(sequence: str) -> list:
    """The middle angles at which the outer axes are parallel, exact."""
    return [MP.mpf(0), +MP.pi] if is_proper(sequence) else [MP.pi / 2, -MP.pi / 2]


def hard_triples(sequence: str, seed: int = 0) -> list:
    """Triples with the middle angle at, and as little as 1e-16 from, each singularity, and some anywhere."""
    rng = np.random.default_rng(seed)
    middles = [middle + MP.mpf(offset) for middle in singular_middles(sequence) for offset in OFFSETS]
    middles += [MP.mpf(x) for x in rng.uniform(-3.1, 3.1, 12).tolist()]
    outer = [[MP.mpf(x) for x in pair] for pair in rng.uniform(-np.pi, np.pi, (len(middles) - 8, 2)).tolist()]
    outer += [[MP.mpf(a) * MP.pi / 2, MP.mpf(b) * MP.pi / 2] for a, b in rng.integers(-1, 3, (8, 2)).tolist()]
    return [(first, middle, third) for middle, (first, third) in zip(middles, outer, strict=True)]
