"""Functions and programs that the tests of the compiler share."""

import inspect
from dataclasses import dataclass

import numpy as np

import cayley as cy
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.program import Program
from cayley.compiler.tracing.simplify import simplify
from cayley.compiler.tracing.symbols import where
from cayley.compiler.tracing.trace import trace


def program_of(function, signature: str, *, name: str | None = None, inputs=None, outputs=None, units=None,
               description="", **dimensions: int) -> Program:
    """The simplified program of a function for the given dimensions."""
    return simplify(
        trace(function, Signature.parse(signature), dimensions, name=name or function.__name__, units=units,
              inputs=inputs or list(inspect.signature(function).parameters), outputs=outputs, description=description))


def solved_equations(A, b):
    """Linear ones, whose rows must change places, and others."""
    x = np.linalg.solve(A + 3.0 * np.eye(3)[::-1], b)
    return {"x": x, "root": cy.newton(lambda y: y + 0.2 * np.sin(y) - x, x, iterations=5).x}


def pendulum_torque(q, qdd):
    return 2.0 * qdd + 9.81 * np.sin(q)


def every_operation(x, y):
    """Each operation of a graph at least once, for entries of x and y between -1 and 1; signature (3),(3)->(26)."""
    a, b, c = x
    p, q, r = y
    return np.stack([
        a + b,
        a - p,
        a * q,
        b / (2.0 + r),
        -c,
        a**3,
        (1.1 + b)**0.5,
        (2.0 + c)**-2,
        np.sqrt(1.0 + p * p),
        np.sin(a),
        np.cos(a) * b,
        np.tan(b),
        np.arcsin(c),
        np.arccos(p),
        np.arctan(q),
        np.arctan2(a, b),
        np.hypot(p, r),
        np.exp(q),
        np.log(1.5 + r),
        np.abs(a),
        np.sign(b),
        np.floor(5.0 * c),
        np.minimum(a, p),
        np.maximum(b, q),
        where((a < b) & (p <= q) | ~(c < r), np.sin(a + b), r - 0.1),
        (5.0 * a) % 0.7, ])


def choices(x, low, high):
    """Minimum, maximum, comparisons and truth values used as numbers; signature (n),(),()->(n),(n),()."""
    clipped = np.minimum(np.maximum(x, low), high)
    inside = where((x > low) & (x < high), 1.0, np.floor(x))
    return {"clipped": clipped, "inside": inside, "count": np.sum((x >= low) * 1.0)}


def moved_points(rotation, position, points):
    """Matrices in and out; signature (3,3),(3),(k,3)->(k,3),(3,3),()."""
    moved = points @ rotation.T + position
    gram = rotation.T @ rotation
    return {"moved": moved, "gram": gram, "volume": np.linalg.det(rotation)}


def kinetic_energy(m, v):
    """Scalars in and out; signature (),()->()."""
    return 0.5 * m * v**2


@dataclass(frozen=True)
class Link:
    """A body on a revolute joint about its own z axis: geometry by modified Denavit-Hartenberg parameters, inertia
    about the frame.
    """

    a: float
    sine: float
    cosine: float
    d: float
    mass: float
    first_moment: np.ndarray
    inertia: np.ndarray


def seven_joint_arm() -> list[Link]:
    """An arm with axes at right angles and general inertias."""
    random = np.random.default_rng(20)
    links = []
    for k in range(7):
        mass, center = random.uniform(0.5, 3.0), random.normal(scale=0.1, size=3)
        spread = random.normal(scale=0.1, size=(3, 3))
        about_center = spread @ spread.T + 0.02 * np.eye(3)
        inertia = about_center + mass * (center @ center * np.eye(3) - np.outer(center, center))
        links.append(
            Link(random.choice([0.0, 0.08]),
                 float((-1)**k) if k else 0.0, float(not k), random.choice([0.0, 0.3]), mass, mass * center, inertia))
    return links


ARM = seven_joint_arm()


def inverse_dynamics(q, qd, qdd):
    """Recursive Newton-Euler in link frames; signature (n),(n),(n)->(n)."""
    w, wd, acceleration, passed = np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 9.81]), []
    for link, q_i, qd_i, qdd_i in zip(ARM, q, qd, qdd, strict=False):
        R, p = _pose(link, q_i)
        acceleration = R.T @ (acceleration + np.cross(wd, p) + np.cross(w, np.cross(w, p)))
        w, wd = R.T @ w, R.T @ wd
        wd = wd + np.stack([w[1] * qd_i, -w[0] * qd_i, qdd_i])
        w = w + np.stack([0.0 * qd_i, 0.0 * qd_i, qd_i])
        force = link.mass * acceleration + np.cross(wd, link.first_moment) + np.cross(w, np.cross(w, link.first_moment))
        moment = link.inertia @ wd + np.cross(w, link.inertia @ w) + np.cross(link.first_moment, acceleration)
        passed.append((R, p, force, moment))
    f, m, torques = np.zeros(3), np.zeros(3), []
    for R, p, force, moment in reversed(passed):
        f, m = f + force, m + moment
        torques.append(m[2])
        f, m = R @ f, R @ m + np.cross(p, R @ f)
    return np.stack(torques[::-1])


def _pose(link: Link, angle):
    s, c, zero = np.sin(angle), np.cos(angle), 0.0 * angle
    R = np.stack([np.stack([c, -s, zero]), np.stack([s * link.cosine, c * link.cosine, zero - link.sine]),
                  np.stack([s * link.sine, c * link.sine, zero + link.cosine])])
    return R, np.array([link.a, -link.sine * link.d, link.cosine * link.d])
