"""Random arms with a spherical wrist beside brute force: twists of quarter turns, lengths that vanish or are equal,
slides, and postures of right angles, where solutions meet or move.

`check(seed)` makes one arm. One whose first three joints do not take the wrist centre through space is refused; of any
other, the posture that made the pose is found, every solution and every member of a continuum reaches the pose, and
what Levenberg-Marquardt finds from many starts is among the solutions. With another reference there are solutions, too.
"""

import warnings

import numpy as np

from cayley.errors import UnsupportedError
from cayley.kinematics.inverse.analytic import analytic_inverse_kinematics
from cayley.model.denavit_hartenberg.table import DHTable, rows_from_numbers

STARTS = 48
SPECIAL = np.array([0.0, np.pi / 2, -np.pi / 2, np.pi])
WRISTS = [(-np.pi / 2, np.pi / 2), (np.pi / 2, -np.pi / 2), (np.pi / 2, np.pi / 2), (0.7, -1.1)]


def random_arm(random):
    """Rows (theta, d, a, alpha), and which joints turn."""
    numbers = np.zeros((6, 4))
    lengths = [0.0, 0.0, 0.2, 0.3]
    numbers[:3, 3] = random.choice([*SPECIAL, *SPECIAL, 0.4], 3)
    numbers[:3, 1] = random.choice(lengths, 3)
    numbers[:3, 2] = random.choice(lengths, 3)
    numbers[3:5, 3] = WRISTS[random.choice(4, p=[0.4, 0.2, 0.2, 0.2])]
    numbers[3, 1] = random.choice([0.0, 0.2, 0.3, 0.4])
    numbers[5, 1] = random.choice([0.0, 0.1])
    turns = np.ones(6, dtype=bool)
    turns[2] = random.random() < 0.7
    if not turns[2]:
        numbers[2, :2] = random.choice(SPECIAL), 0.0
    return numbers, turns


def random_posture(random, turns):
    """Right angles and others; a slide that is at zero or not."""
    q = np.where(random.random(6) < 0.4, random.choice(SPECIAL, 6), random.uniform(-np.pi, np.pi, 6))
    return np.where(turns, q, random.choice([0.0, 0.3, -0.25, 0.4]))


def forward(numbers, turns, q):
    """Poses (k, 4, 4) and Jacobians (k, 6, 6) by the product of rows, written here."""
    q = np.atleast_2d(q)
    here = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    axes = []
    for (theta, d, a, alpha), turning, x in zip(numbers, turns, q.T, strict=True):
        axes.append((here[:, :3, 2], here[:, :3, 3]))
        angle, shift = theta + x * turning, d + x * (not turning)
        row = np.zeros((len(q), 4, 4))
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        row[:, 0, :3] = np.stack([c, -ca * s, sa * s], axis=-1)
        row[:, 1, :3] = np.stack([s, ca * c, -sa * c], axis=-1)
        row[:, 2, 1:] = np.stack([sa + 0 * c, ca + 0 * c, shift], axis=-1)
        row[:, :2, 3] = np.stack([a * c, a * s], axis=-1)
        row[:, 3, 3] = 1.0
        here = here @ row
    tip = here[:, :3, 3]
    columns = [np.concatenate([np.cross(z, tip - o), z] if turning else [z, 0 * z], axis=-1)
               for (z, o), turning in zip(axes, turns, strict=True)]
    return here, np.stack(columns, axis=-1)


def misfit(numbers, turns, q, target):
    """Position and rotation error (k, 6), and the Jacobians."""
    pose, J = forward(numbers, turns, q)
    turn = np.cross(pose[:, :3, :3], np.broadcast_to(target[:3, :3], pose[:, :3, :3].shape), axis=-2).sum(axis=-1) / 2
    lost = 1.5 - np.trace(np.swapaxes(pose[:, :3, :3], 1, 2) @ target[:3, :3], axis1=1, axis2=2) / 2
    return np.concatenate([target[:3, 3] - pose[:, :3, 3], turn], axis=-1), J, lost


def by_search(numbers, turns, target, q, *, held=None, steps=60):
    """What Levenberg-Marquardt makes of starts (k, 6): where it ends, and whether on the pose. `held` is a joint that
    stays.
    """
    free = np.arange(6) != held
    damping = np.full(len(q), 1e-2)
    error, J, lost = misfit(numbers, turns, q, target)
    for _ in range(steps):
        J = J * free
        gram = np.swapaxes(J, 1, 2) @ J + damping[:, None, None] * np.eye(6)
        trial = q + np.linalg.solve(gram, np.swapaxes(J, 1, 2) @ error[..., None])[..., 0]
        new, new_J, new_lost = misfit(numbers, turns, trial, target)
        better = cost(new, new_lost) < cost(error, lost)
        damping = np.clip(np.where(better, damping / 8, damping * 6), 1e-14, 1e3)
        q, error, lost = (np.where(better.reshape(-1, *[1] * (x.ndim - 1)), y, x)
                          for x, y in ((q, trial), (error, new), (lost, new_lost)))
        J = np.where(better[:, None, None], new_J, J)
    return q, cost(error, lost) < 1e-22


def cost(error, lost):
    return np.sum(error[:, :3] ** 2, axis=-1) + np.where(lost > 1, 4.0, np.sum(error[:, 3:] ** 2, axis=-1))


def gaps(turns, q, others):
    """How far configurations (k, 6) are from the nearest of others (m, 6)."""
    difference = q[:, None] - others
    return np.abs(np.where(turns, np.mod(difference + np.pi, 2 * np.pi) - np.pi, difference)).max(axis=-1).min(axis=-1)


def places_the_centre(random, numbers, turns):
    """Whether the first three joints take the wrist centre through space somewhere."""
    wrist = numbers.copy()
    wrist[4:, :3] = 0.0
    J = forward(wrist, turns, random.uniform(-np.pi, np.pi, (20, 6)))[1]
    return np.linalg.svd(J[:, :3, :3], compute_uv=False)[:, 2].max() > 1e-9


def check(seed):
    random = np.random.default_rng(seed)
    numbers, turns = random_arm(random)
    rows = [(*row, "revolute" if turning else "prismatic") for row, turning in zip(numbers, turns, strict=True)]
    table = DHTable(rows_from_numbers(rows, order="theta d a alpha kind"), "standard")
    q = random_posture(random, turns)
    target = forward(numbers, turns, q)[0][0]
    with warnings.catch_warnings(), np.errstate(divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        try:
            found = analytic_inverse_kinematics(table, target, reference=q)
        except UnsupportedError as refusal:
            assert "numeric" in str(refusal)
            assert not places_the_centre(random, numbers, turns), refusal
            return
    assert places_the_centre(random, numbers, turns)
    compare(random, numbers, turns, q, target, found)
    other = analytic_inverse_kinematics(table, target, reference=random_posture(random, turns))
    assert len(other.solutions), "no solution with another reference"
    assert np.abs(forward(numbers, turns, other.solutions)[0] - target).max() < 1e-11


def compare(random, numbers, turns, q, target, found):
    near = gaps(turns, q[None], found.solutions)[0] if len(found.solutions) else np.inf
    assert near < 1e-6, f"the posture is {near:.2g} from the solutions"
    assert len(found.solutions) <= 8
    assert np.abs(forward(numbers, turns, found.solutions)[0] - target).max() < 1e-11
    moving = {c.solution for c in found.degenerate}
    for c in found.degenerate:
        start = found.solutions[c.solution] + 0.01 * c.tangent / np.abs(c.tangent).max()
        end, closed = by_search(numbers, turns, target, start[None], held=c.free)
        assert closed[0] and gaps(turns, end, start[None])[0] < 0.05, f"{c} does not move"
    still = [i for i in range(len(found.solutions)) if i not in moving]
    for i in still:
        assert not moves(numbers, turns, target, found.solutions[i]), f"solution {i} moves, and is no continuum"
    ends, closed = by_search(numbers, turns, target, np.where(turns, random.uniform(-np.pi, np.pi, (STARTS, 6)),
                                                             random.uniform(-0.6, 0.6, (STARTS, 6))))
    ends = ends[closed]
    regular = np.linalg.svd(forward(numbers, turns, ends)[1], compute_uv=False)[:, 5] > 1e-3 if len(ends) else []
    missing = gaps(turns, ends[regular], found.solutions)
    assert (missing < 1e-5).all(), f"a solution is {missing.max():.2g} from all that are given"
    if not moving:
        missing = gaps(turns, ends, found.solutions)
        assert (missing < 2e-2).all(), f"a singular solution is {missing.max():.2g} from all that are given"


def moves(numbers, turns, target, q):
    """Whether the arm leaves q by a tenth along a null vector of its Jacobian, step by step, the tool at rest."""
    _, values, vectors = np.linalg.svd(forward(numbers, turns, q)[1][0])
    for way in vectors[values < 1e-9]:
        joint = int(np.abs(way).argmax())
        here = q
        for _ in range(5):
            start = here + 0.02 * way / way[joint]
            end, closed = by_search(numbers, turns, target, start[None], held=joint, steps=30)
            if not closed[0] or gaps(turns, end, start[None])[0] > 0.1:
                break
            here = end[0]
        else:
            return True
    return False
