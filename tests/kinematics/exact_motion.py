"""Rates of anything that depends on a configuration, by differences in 50 digits along a motion with given velocity and
acceleration.

The motion is written out here for every kind of joint, to second order in time; it shares only the meaning of q and v
with the library.
"""

import mpmath
import numpy as np

import cayley as cy
from cayley.model.joint_kinds import Floating, Spherical

STEP = mpmath.mpf(10) ** -14


def derivatives(kernel, tree, q, v, vd):
    """f, df/dt and d2f/dt2 of a kernel of q alone."""
    with mpmath.workdps(60):
        before, now, after = (np.asarray(kernel.evaluate(cy.MPMATH, configuration_at(tree, q, v, vd, t)))
                              for t in (-STEP, 0, STEP))
        values = now, (after - before) / (2 * STEP), (after - 2 * now + before) / STEP**2
        return [x.astype(np.float64) for x in values]


def configuration_at(tree, q, v, vd, t):
    tree = getattr(tree, "tree", tree)  # of a mechanism its own
    parts = []
    for joint, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        own, rate, second = ([mpmath.mpf(x) for x in values] for values in (q[a], v[b], vd[b]))
        if isinstance(joint.motion, Spherical):
            parts += turned(own, rate, second, t)
        elif isinstance(joint.motion, Floating):
            parts += slid(own, rate, second, t) + turned(own[3:], rate[3:], second[3:], t)
        else:
            parts += [x + t * dx + t * t / 2 * ddx for x, dx, ddx in zip(own, rate, second, strict=True)]
    return np.array(parts, dtype=object)


def turned(q, w, dw, t):
    """q' = q w/2, q'' = q (w w + 2 dw)/4, as products of quaternions; q is made unit in all its digits first."""
    length = mpmath.sqrt(sum(x * x for x in q))
    q = [x / length for x in q]
    first = [x / 2 for x in product(q, [0, *w])]
    squared = product([0, *w], [0, *w])
    second = product(q, [squared[0] / 4, *[(s + 2 * d) / 4 for s, d in zip(squared[1:], dw, strict=True)]])
    return [x + t * dx + t * t / 2 * ddx for x, dx, ddx in zip(q, first, second, strict=True)]


def slid(q, rate, second, t):
    """p' = R u, p'' = R (w x u + du)."""
    u, w, du = rate[:3], rate[3:], second[:3]
    wxu = [w[1] * u[2] - w[2] * u[1], w[2] * u[0] - w[0] * u[2], w[0] * u[1] - w[1] * u[0]]
    p1, p2 = rotated(q[3:], u), rotated(q[3:], [a + b for a, b in zip(wxu, du, strict=True)])
    return [x + t * dx + t * t / 2 * ddx for x, dx, ddx in zip(q[:3], p1, p2, strict=True)]


def rotated(q, x):
    length2 = sum(c * c for c in q)
    return [c / length2 for c in product(product(q, [0, *x]), [q[0], -q[1], -q[2], -q[3]])[1:]]


def product(a, b):
    w, x, y, z = a
    s, i, j, k = b
    return [
        w * s - x * i - y * j - z * k, w * i + x * s + y * k - z * j, w * j - x * k + y * s + z * i,
        w * k + x * j - y * i + z * s]
