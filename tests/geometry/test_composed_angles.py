"""Two triples of angles to one: the product of rotation matrices and quaternions of 60 digits as oracles, gimbal locks
and half-turns included.
"""

import numpy as np
import pytest

from cayley.errors import ConventionError, GeometryError, SingularityError
from cayley.geometry.rotations import vector_parameter_angles as module
from cayley.geometry.rotations.euler import matrix_from_euler
from cayley.geometry.rotations.rotation_vector import compose_rotation_vectors
from cayley.geometry.rotations.vector_parameter import compose_vector_parameters
from cayley.geometry.rotations.vector_parameter_angles import (
    compose_bryant,
    compose_euler,
    compose_eulerian,
    homogeneous_of_composed_bryant,
    vector_parameter_from_bryant,
    vector_parameter_of_composed_bryant,
)
from geometry.exact_euler import CONVENTIONS, MP, distance, exact_matrix, exact_quaternion, is_proper
from geometry.exact_rotations import product

ALLOWED = 6e-15  # of an attitude [rad]
HARD = [0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2, 1e-9, np.pi - 1e-9, np.pi / 2 + 1e-12]


def pairs(seed, hard=7, plain=2):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.choice(HARD, (hard, 2, 3)), rng.uniform(-np.pi, np.pi, (plain, 2, 3))])


def turned(r):
    """The exact quaternion of a rotation vector."""
    angle = MP.sqrt(sum(MP.mpf(x) ** 2 for x in r.tolist()))
    sine = MP.sin(angle / 2) / angle if angle else MP.mpf(0.5)
    return [MP.cos(angle / 2), *[sine * MP.mpf(x) for x in r.tolist()]]


@pytest.mark.spec("S0-77")
@pytest.mark.parametrize(("sequence", "axes"), [*CONVENTIONS[::4], *CONVENTIONS[3::4]])
def test_any_euler_sequence(sequence, axes):  # each of the twelve, about moving or about fixed axes
    """Both triples are the product of both rotations, in 60 digits and as matrices; at a gimbal lock whole families
    are."""
    states = pairs(len(sequence) + ord(sequence[1]))
    found = compose_euler(states[:, 0], states[:, 1], sequence=sequence, axes=axes)
    for k, (a, b) in enumerate(states):
        wanted = product(*[exact_quaternion(x.tolist(), sequence, axes) for x in (a, b)])
        for triple in (found.angles[k], found.other[k]):
            assert distance(exact_quaternion(triple.tolist(), sequence, axes), wanted) <= ALLOWED
        matrix = matrix_from_euler(a, sequence=sequence, axes=axes) @ matrix_from_euler(b, sequence=sequence, axes=axes)
        assert np.abs(exact_matrix(found.angles[k].tolist(), sequence, axes) - matrix).max() <= 1e-14
    least = [0.0, np.pi] if is_proper(sequence) else [-np.pi / 2, np.pi / 2]
    assert (found.angles[:, 1] >= least[0]).all() and (found.angles[:, 1] <= least[1]).all()


@pytest.mark.spec("S0-77")
@pytest.mark.parametrize(("sequence", "axes"), [("zyz", "moving"), ("xzx", "fixed"), ("zyx", "moving"),
                                                ("yxz", "fixed")])
def test_two_triples_that_make_a_gimbal_lock(sequence, axes):
    """R(a) R(b) has parallel outer axes though neither factor has: one combination is left, and a family of triples."""
    middle = 0.0 if is_proper(sequence) else np.pi / 2
    whole = [0.4, middle, 0.7] if axes == "moving" else [0.7, middle, 0.4]
    a = np.array([0.3, 1.1, -0.6])
    back = matrix_from_euler(a, sequence=sequence, axes=axes).T @ matrix_from_euler(whole, sequence=sequence, axes=axes)
    b = module.euler_from_quaternion(module.normalize_homogeneous(_quaternion(back)), sequence=sequence,
                                     axes=axes).angles
    found = compose_euler(a, b, sequence=sequence, axes=axes)
    wanted = product(*[exact_quaternion(x.tolist(), sequence, axes) for x in (a, b)])
    assert found.margin < 1e-7  # as near as the rounding of b lets it come
    assert distance(exact_quaternion(found.angles.tolist(), sequence, axes), wanted) <= ALLOWED
    assert abs(found.combined - (whole[0] + found.sign * whole[2])) < 1e-14
    still = compose_euler(whole, [0.0, 0.0, 0.0], sequence=sequence, axes=axes)
    assert still.singular
    for third in (-1.0, 0.2):
        family = still.family(third=third)
        assert family[2] == third
        assert distance(exact_quaternion(family.tolist(), sequence, axes),
                        exact_quaternion([float(x) for x in whole], sequence, axes)) <= ALLOWED


def _quaternion(R):
    from scipy.spatial.transform import Rotation
    return np.roll(Rotation.from_matrix(R).as_quat(), 1)


@pytest.mark.spec("S0-77")
def test_bryant_angles():
    """O(c'') = Rz Ry Rx Rz' Ry' Rx', c'' = <c, c'>; half-turns of either, both, or the product alone."""
    states = pairs(1, 20, 10)
    found = compose_bryant(states[:, 0], states[:, 1])
    forms = homogeneous_of_composed_bryant(states[:, 0], states[:, 1])
    for k, (a, b) in enumerate(states):
        wanted = product(*[exact_quaternion(x.tolist(), "xyz", "fixed") for x in (a, b)])
        assert distance([MP.mpf(x) for x in forms[k].tolist()], wanted) <= ALLOWED
        for triple in (found.angles[k], found.other[k]):
            assert distance(exact_quaternion(triple.tolist(), "xyz", "fixed"), wanted) <= ALLOWED
    a, b = np.array([0.5, -0.4, 0.9]), np.array([-1.2, 0.3, 0.2])
    c = [vector_parameter_from_bryant(x) for x in (a, b)]
    np.testing.assert_allclose(vector_parameter_of_composed_bryant(a, b), compose_vector_parameters(*c), atol=1e-14)
    quarter = np.array([np.pi / 2, 0.0, 0.0])
    half = compose_bryant(quarter, quarter)
    np.testing.assert_allclose(half.angles, [np.pi, 0.0, 0.0], atol=1e-15)
    lock = compose_bryant([0.0, np.pi / 4, 0.0], [0.0, np.pi / 4, 0.0])
    assert lock.margin < 1e-15 and abs(lock.angles[1] - np.pi / 2) < 1e-7


@pytest.mark.spec("S0-77")
def test_an_exact_half_turn_has_no_vector_parameter(monkeypatch):
    exact = module.check_not_half_turn
    monkeypatch.setattr(module, "check_not_half_turn", lambda h: exact(np.array([0.0, *h[1:]])))
    with pytest.raises(SingularityError, match="half-turn about"):
        vector_parameter_of_composed_bryant([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])


@pytest.mark.spec("S0-77")
def test_rotation_vectors():
    """exp(a) exp(b): angles from 0 to pi of the result, none, small, half-turns and several turns of the factors."""
    rng = np.random.default_rng(2)
    axes = rng.normal(size=(40, 2, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    axes[20:, 1] = axes[20:, 0]  # about one axis: angles add
    lengths = rng.choice([0.0, 1e-9, 0.3, np.pi / 2, np.pi, np.pi - 1e-9, 2 * np.pi, 7.0], (40, 2, 1))
    states = axes * lengths
    found = compose_rotation_vectors(states[:, 0], states[:, 1])
    assert (np.linalg.norm(found, axis=1) <= np.pi + 1e-15).all()
    for (a, b), r in zip(states, found, strict=True):
        assert distance(turned(r), product(turned(a), turned(b))) <= ALLOWED
    np.testing.assert_allclose(np.abs(compose_rotation_vectors([np.pi / 2, 0, 0], [np.pi / 2, 0, 0])), [np.pi, 0, 0],
                               atol=1e-15)


@pytest.mark.spec("S0-77")
def test_eulerian_angles_are_a_sequence_too():
    """Mladenova's angles are those of z-x-z about fixed axes of the inverse: the closed law and `compose_euler` agree.
    """
    for a, b in pairs(3):
        closed = compose_eulerian(a, b)
        passive = compose_euler(b, a, sequence="zxz", axes="fixed")
        wanted = exact_quaternion(closed.angles.tolist(), "zxz", "fixed")
        assert distance(exact_quaternion(passive.angles.tolist(), "zxz", "fixed"), wanted) <= 2 * ALLOWED


def test_names_of_sequences_and_batches():
    with pytest.raises(ConventionError, match="sequence"):
        compose_euler([0, 0, 0], [0, 0, 0], sequence="zzy", axes="moving")
    assert compose_euler(np.zeros((0, 3)), np.zeros(3), sequence="zyx", axes="fixed").angles.shape == (0, 3)
    assert compose_bryant(np.zeros((4, 1, 3)), np.zeros((2, 3))).angles.shape == (4, 2, 3)
    with pytest.raises(GeometryError, match="nan"):
        compose_bryant([np.nan, 0.0, 0.0], [0.0, 0.0, 0.0])
