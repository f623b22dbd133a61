"""Linkages with one loop, given by the lines of their joints where they are assembled, and what is known of them
without the library: the product of their screws, differentiated by complex steps."""

import numpy as np
from scipy.optimize import least_squares

import cayley as cy
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Loop


def at(p, R=None):
    pose = np.eye(4)
    pose[:3, 3] = p
    pose[:3, :3] = np.eye(3) if R is None else R
    return pose


def turn(axis, angle):
    """The rotation about an axis; for complex angles too."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def ring(points, axes, *, size=1.0, start=None, random=None, name="ring"):
    """A loop of revolute joints at points (n, 3), about axes (n, 3); the last closes it. `size` is what a unit of the
    points is worth [m]; at q = `start`, zero if it is not said, it is assembled as given."""
    points = size * np.asarray(points, dtype=float)
    n = len(points)
    turned = np.zeros(n - 1) if start is None else np.asarray(start, dtype=float)
    masses = np.ones(n) if random is None else random.uniform(0.5, 2.0, n)
    bodies = [Body("b0"), *[Body(f"b{k}", masses[k], [0, 0, 0], 0.04 * size**2 * masses[k] * np.eye(3))
                            for k in range(1, n)]]
    joints = []
    before, R = np.zeros(3), np.eye(3)
    for k in range(n - 1):  # a body's frame is turned back by what its joint is turned forth
        joints.append(Joint(f"j{k}", f"b{k}", f"b{k + 1}", Revolute(tuple(axes[k])),
                            at(R.T @ (points[k] - before), R.T @ turn(axes[k], -turned[k]))))
        R = turn(axes[k], 0.0)
        before = points[k]
    frames = [Frame("end", f"b{n - 1}", at(points[-1] - points[-2])), Frame("start", "b0", at(points[-1]))]
    return cy.Mechanism.of(name, bodies, joints, frames=frames, loops=[Loop("L", "end", "start",
                                                                           Revolute(tuple(axes[-1])))])


def closure(points, axes, q):
    """(12) rotation and translation that the product of the turns about the lines makes, zero where they close."""
    T = np.eye(4, dtype=np.result_type(q, float))
    for p, a, angle in zip(np.asarray(points, dtype=float), np.asarray(axes, dtype=float), q, strict=True):
        R = turn(a, angle)
        step = np.eye(4, dtype=T.dtype)
        step[:3, :3] = R
        step[:3, 3] = p - R @ p
        T = T @ step
    return (T - np.eye(4))[:3].ravel()


def slopes(points, axes, q):
    return np.array([closure(points, axes, q + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(q))]).T


def walked(points, axes, steps=6, size=0.15, seed=0):
    """Closed configurations (n) of all joints, each a little farther along the motion from where it is assembled."""
    random = np.random.default_rng(seed)
    q = np.zeros(len(points))
    way = random.normal(size=len(q))
    found = []
    for _ in range(steps):
        _, s, V = np.linalg.svd(slopes(points, axes, q))
        N = V[np.count_nonzero(s > 1e-6):]
        way = N.T @ (N @ way)
        way *= size / np.linalg.norm(way)
        solved = least_squares(lambda x: closure(points, axes, x), q + way, lambda x: slopes(points, axes, x),
                               xtol=1e-15, ftol=1e-15, gtol=1e-15)
        assert np.abs(solved.fun).max() < 1e-12
        way, q = solved.x - q, solved.x
        found.append(q)
    return np.array(found)


def known_mobility(points, axes):
    """That of configurations that the motion leads to."""
    return min(len(points) - int(np.linalg.matrix_rank(slopes(points, axes, q), tol=1e-6))
               for q in walked(points, axes))


def sarrus(random, equal, between=np.pi / 2):
    """Two pairs of plates between two others, their hinges along x, and along x turned about z."""
    first, second = random.uniform(0.2, 0.6, size=2) if not equal else [random.uniform(0.3, 0.6)] * 2
    height = random.uniform(0.3, 0.9) * (first + second)
    foot = (first**2 - second**2 + height**2) / (2 * height)
    out = np.sqrt(first**2 - foot**2)
    leg = np.array([[0.0, 0.5, 0.0], [0.0, 0.5 + out, foot], [0.0, 0.5, height]])
    R = turn((0.0, 0.0, 1.0), between)
    x = np.array([1.0, 0.0, 0.0])
    return np.concatenate([leg, (leg @ R.T)[::-1]]), np.array([x] * 3 + [R @ x] * 3)


def planar(random, corners):
    points = np.concatenate([np.asarray(corners, dtype=float), np.zeros((len(corners), 1))], axis=1)
    R = np.linalg.qr(random.normal(size=(3, 3)))[0]
    R = R * np.linalg.det(R)
    return points @ R.T, np.array([R[:, 2]] * len(points))


def parallelogram(random):
    a, b = random.uniform(0.2, 0.8, size=2)
    t = random.uniform(0.3, 2.8)
    side = a * np.array([np.cos(t), np.sin(t)])
    return planar(random, [[0, 0], side, side + np.array([b, 0]), [b, 0]])


def antiparallelogram(random):
    corners = np.array([[0, 0], [0.3, 0.0], [0.3, 0.0], [1.0, 0.0]])
    a, b = 0.4, 1.0
    t = random.uniform(0.4, 2.6)
    corners[1] = a * np.array([np.cos(t), np.sin(t)])
    d = np.array([b, 0.0]) - corners[1]  # the mirror image across a diagonal of a parallelogram's corner
    u = d / np.linalg.norm(d)
    other = corners[1] + [b, 0.0]
    corners[2] = corners[1] + 2 * u * (u @ (other - corners[1])) - (other - corners[1])
    corners[3] = [b, 0.0]
    return planar(random, corners)


def four_bar(random):
    return planar(random, [[0, 0], random.uniform(0.2, 0.4, 2), random.uniform(0.5, 0.9, 2), [1.1, 0.1]])


def spherical(random):
    axes = random.normal(size=(4, 3))
    return np.zeros((4, 3)) + random.normal(size=3), axes / np.linalg.norm(axes, axis=1, keepdims=True)


def bennett(random):
    a, alpha = random.uniform(0.6, 1.0), random.uniform(0.6, 1.2)
    b = a * random.uniform(0.4, 0.8)
    beta = np.arcsin(np.sin(alpha) * b / a)
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    theta = random.uniform(0.5, 2.5)
    phi = 2 * np.arctan2(ratio, np.tan(theta / 2))
    T = np.eye(4)
    points, axes = [], []
    for length, twist, angle in ((a, alpha, theta), (b, beta, phi), (a, alpha, -theta), (b, beta, -phi)):
        T = T @ at(np.zeros(3), turn((0, 0, 1.0), angle))
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        T = T @ at([length, 0, 0]) @ at(np.zeros(3), turn((1.0, 0, 0), twist))
    return np.array(points), np.array(axes)


def bricard(random):
    """Line-symmetric: three joints anywhere, and the same three turned by half about a line."""
    points = random.uniform(-1.0, 1.0, size=(3, 3))
    axes = random.normal(size=(3, 3))
    half = np.diag([-1.0, -1.0, 1.0])
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    return np.concatenate([points, points @ half]), np.concatenate([axes, axes @ half])


KINDS = {
    "equal sarrus": lambda random: sarrus(random, True), "sarrus": lambda random: sarrus(random, False),
    "equal sarrus, tilted": lambda random: sarrus(random, True, random.uniform(0.5, 2.6)),
    "sarrus, tilted": lambda random: sarrus(random, False, random.uniform(0.5, 2.6)),
    "parallelogram": parallelogram, "antiparallelogram": antiparallelogram, "four-bar": four_bar,
    "spherical": spherical, "bennett": bennett, "bricard": bricard}


def falling(points, axes, masses, *, size=1.0, gravity=9.81):
    """The accelerations (n - 1) from rest where it is assembled, of bodies with their mass at their joints and as much
    inertia as `ring` gives them: the velocities that the closure allows, and gravity."""
    points = size * np.asarray(points, dtype=float)
    n = len(points)
    M = np.zeros((n, n))
    f = np.zeros(n)
    for k in range(1, n):  # body k is moved by the joints before it
        J = np.array([np.cross(axes[j], points[k - 1] - points[j]) if j < k else np.zeros(3) for j in range(n)]).T
        W = np.array([axes[j] if j < k else np.zeros(3) for j in range(n)]).T
        M += masses[k] * (J.T @ J + 0.04 * size**2 * W.T @ W)
        f += masses[k] * J.T @ [0.0, 0.0, -gravity]
    lines = np.array([np.concatenate([np.cross(p, a) / size, a]) for p, a in zip(points, axes, strict=True)]).T
    _, s, V = np.linalg.svd(lines)
    N = V[np.count_nonzero(s > 1e-9):].T
    return (N @ np.linalg.solve(N.T @ M @ N, N.T @ f))[:-1]


def moved(points, axes, q):
    """The lines, points (n, 3) and axes (n, 3), where the joints (n - 1 or n) have turned by q."""
    R, shift = np.eye(3), np.zeros(3)
    places, directions = [], []
    for p, a, angle in zip(np.asarray(points, dtype=float), np.asarray(axes, dtype=float), [*q, 0.0], strict=False):
        places.append(R @ p + shift)
        directions.append(R @ a)
        turned = turn(directions[-1], angle)
        R, shift = turned @ R, turned @ (shift - places[-1]) + places[-1]
    return np.array(places), np.array(directions)
