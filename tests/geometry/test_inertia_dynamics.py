"""Momentum, energy, Newton and Euler of one body, and their costs (S1-24 to S1-26, S2-47, S2-48, S3-28)."""

from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cayley.compiler.algebras.counts import Operations
from cayley.errors import SingularityError
from cayley.geometry import inertia as ci
from cayley.geometry.tensors import angular_acceleration_from_vectors, dual_vector, hat, tensor_in_frame
from geometry import formulas_of_inertia as fi

RNG = np.random.default_rng(24)
SEEDS = st.integers(0, 2**32 - 1)


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


class Particles:
    """A rigid body of point masses in motion: all momenta, forces and moments as sums, without any inertia tensor."""

    def __init__(self, seed, at_center=False):
        rng = np.random.default_rng(seed)
        self.m = rng.uniform(0.1, 2, size=7)
        self.q = rng.normal(size=(7, 3))  # from the reference point of the body
        if at_center:
            self.q -= self.m @ self.q / self.m.sum()
        self.s, self.sd, self.sdd, self.w, self.wd = rng.normal(size=(5, 3))
        self.mass, self.center = self.m.sum(), self.m @ self.q / self.m.sum()
        self.velocity = self.sd + np.cross(self.w, self.q)
        self.acceleration = self.sdd + np.cross(self.wd, self.q) + np.cross(self.w, np.cross(self.w, self.q))
        # about the reference point
        self.I = sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(self.m, self.q, strict=True))
        d = self.q - self.center
        self.I_c = sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(self.m, d, strict=True))
        self.J_c = sum(m * np.outer(r, r) for m, r in zip(self.m, d, strict=True))
        self.d = d

    def total(self, arms, vectors):
        return self.m @ np.cross(arms, vectors)


@pytest.mark.spec("S1-24", "S2-47")
@given(SEEDS)
def test_angular_momentum_against_particles(seed):
    body = Particles(seed)
    about_origin = body.total(body.s + body.q, body.velocity)
    close(fi.angular_momentum_of_moving_body(body.mass, body.s, body.sd, body.center, body.I, body.w), about_origin)
    about_center = body.total(body.d, body.velocity)
    close(ci.angular_momentum(body.I_c, body.w), about_center)
    close(fi.angular_momentum_from_euler_tensor(body.J_c, body.w), about_center)
    velocity = body.m @ body.velocity / body.mass
    close(fi.angular_momentum_about_point(body.mass, body.s + body.center, velocity, about_center), about_origin)
    for tensor in (fi.angular_momentum_tensor(body.J_c,
                                              body.w), fi.angular_momentum_tensor_from_inertia(body.I_c, body.w)):
        close(dual_vector(tensor), about_center)
        close(tensor, hat(about_center))
    close(fi.angular_momentum_tensor(body.J_c, body.w), body.J_c @ hat(body.w) + hat(body.w) @ body.J_c)
    close(ci.kinetic_energy(body.mass, velocity, body.I_c, body.w), np.sum(body.m[:, None] * body.velocity**2) / 2)


@pytest.mark.spec("S1-24")
def test_angular_momentum_about_a_point_at_rest():
    body = Particles(3)
    L = fi.angular_momentum_of_moving_body(body.mass, np.zeros(3), np.zeros(3), body.center, body.I, body.w)
    close(L, body.I @ body.w)  # (4.3.22)
    L_c = ci.angular_momentum(body.I_c, body.w)
    close(fi.angular_momentum_about_point(body.mass, body.center, np.cross(body.w, body.center), L_c), L)  # (4.3.25)


@pytest.mark.spec("S1-25", "S2-48")
@given(SEEDS)
def test_newton_and_euler_against_particles(seed):
    body = Particles(seed)
    force = body.m @ body.acceleration
    moment = body.total(body.d, body.acceleration)
    Omega = angular_acceleration_from_vectors(body.w, body.wd)
    by_vectors = ci.newton_euler_by_vectors(body.mass, body.I_c, body.center, body.w, body.wd, body.sdd)
    for found in (by_vectors, ci.newton_euler_by_tensors(body.mass, body.J_c, body.center, Omega, body.sdd),
                  ci.newton_euler_by_symmetric_tensors(body.mass, body.J_c, body.center, Omega, body.sdd)):
        close(found.force, force)
        close(found.moment, moment)
    close(ci.euler_torque(body.I_c, body.w, body.wd), moment)
    close(fi.euler_torque_from_euler_tensor(body.J_c, body.w, body.wd), moment)
    close(fi.torque_tensor(body.J_c, Omega), hat(moment))
    close(fi.torque_tensor_from_inertia(body.I_c, Omega, body.wd), hat(moment))
    close(dual_vector(fi.torque_tensor(body.J_c, Omega)), moment)
    close(fi.moment_about_point(moment, body.s + body.center, force), body.total(body.s + body.q, body.acceleration))
    close(ci.angular_acceleration_from_torque(body.I_c, body.w, moment), body.wd, 1e-10)


@pytest.mark.spec("S1-25", "S2-48")
def test_a_point_at_rest_that_is_not_the_centre():
    body = Particles(11)
    swinging = np.cross(body.wd, body.q) + np.cross(body.w, np.cross(body.w, body.q))
    about_point = body.total(body.q, swinging)
    close(ci.euler_torque(body.I, body.w, body.wd), about_point)  # (4.3.35)
    M_c = ci.euler_torque(body.I_c, body.w, body.wd)
    Omega = angular_acceleration_from_vectors(body.w, body.wd)
    close(fi.moment_about_point(M_c, body.center, body.mass * Omega @ body.center), about_point)  # (4.3.36)
    close(fi.torque_tensor(ci.euler_tensor_from_inertia(body.I), Omega), hat(about_point))
    close(fi.torque_tensor_from_inertia(body.I, Omega, body.wd), hat(about_point))


@pytest.mark.spec("S2-48", "S3-28")
@given(SEEDS)
def test_fixed_and_body_axes_give_the_same_torque(seed):
    body, R = Particles(seed), Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    here = ci.euler_torque(body.I_c, body.w, body.wd)
    # wd is the same vector: w x w = 0, spec E3-42
    there = ci.euler_torque(tensor_in_frame(R, body.I_c), R @ body.w, R @ body.wd)
    close(there, R @ here)
    velocity, rate = RNG.normal(size=(2, 3))
    step = 1e-6
    ahead, behind = (R @ Rotation.from_rotvec(h * body.w).as_matrix() @ (velocity + h * rate) for h in (step, -step))
    close(R @ fi.force_in_body_axes(body.mass, body.w, velocity, rate), body.mass * (ahead - behind) / (2 * step), 1e-7)


@pytest.mark.spec("S2-48", "S2-49")
@given(SEEDS)
def test_principal_axes(seed):
    rng = np.random.default_rng(seed)
    moments, w, wd = rng.uniform(0.5, 2, size=3), *rng.normal(size=(2, 3))
    close(fi.euler_torque_principal(moments, w, wd), ci.euler_torque(np.diag(moments), w, wd))
    x, y, z = moments
    close(fi.euler_torque_principal(moments, w, wd)[0], x * wd[0] - w[1] * w[2] * (y - z))
    close(fi.euler_torque_principal(moments, w, wd)[2], z * wd[2] - w[0] * w[1] * (x - y))


@pytest.mark.spec("S3-28")
def test_torque_is_the_rate_of_angular_momentum():
    I, w, wd, step = Particles(5).I_c, *RNG.normal(size=(2, 3)), 1e-5
    R = Rotation.random(rng=RNG).as_matrix()

    # in fixed axes, of a body that turns from R with w + wd t in body axes; exact to second order in t
    def momentum(t):
        turned = R @ Rotation.from_rotvec(w * t + wd * t * t / 2).as_matrix()
        return turned @ I @ (w + wd * t)

    numeric = (momentum(step) - momentum(-step)) / (2 * step)
    close(R @ ci.euler_torque(I, w, wd), numeric, 1e-7)
    I_world, w_world, wd_world = tensor_in_frame(R, I), R @ w, R @ wd
    close(ci.euler_torque(I_world, w_world, wd_world), numeric, 1e-7)


def test_singular_inertia_has_no_acceleration():
    with pytest.raises(SingularityError, match="not determined"):
        ci.angular_acceleration_from_torque(ci.rod(1.0, mass=1.0).inertia, np.ones(3), np.ones(3))


# Costs


class Counted:
    """A number that counts the operations on it; signs are free, as in the published tables."""

    tally: ClassVar = Counter()

    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        Counted.tally["multiplications"] += 1
        return Counted(self.value * other.value)

    def __add__(self, other):
        Counted.tally["additions"] += 1
        return Counted(self.value + other.value)

    def __sub__(self, other):
        Counted.tally["additions"] += 1
        return Counted(self.value - other.value)

    def __neg__(self):
        return Counted(-self.value)


def counted(text, *arguments):
    numbers = np.frompyfunc(Counted, 1, 1)
    Counted.tally = Counter()
    result = text.__wrapped__(*[np.asarray(numbers(a), dtype=object) for a in arguments])
    return Operations(**Counted.tally), [np.array([x.value for x in part]) for part in result]


@pytest.mark.spec("S1-26")
def test_published_costs_are_those_of_the_texts():
    body = Particles(7)
    Omega = angular_acceleration_from_vectors(body.w, body.wd)
    force, moment = body.m @ body.acceleration, body.total(body.d, body.acceleration)
    arguments = {
        "vectors": (ci.newton_euler_by_vectors, (body.mass, body.I_c, body.center, body.w, body.wd, body.sdd)),
        "tensors": (ci.newton_euler_by_tensors, (body.mass, body.J_c, body.center, Omega, body.sdd)),
        "symmetric tensors": (ci.newton_euler_by_symmetric_tensors, (body.mass, body.J_c, body.center, Omega,
                                                                     body.sdd))}
    published = {"vectors": (45, 33), "tensors": (30, 24), "symmetric tensors": (27, 24)}
    costs = ci.body_costs()
    assert [c.formulation for c in costs] == list(published)
    for cost in costs:
        text, operands = arguments[cost.formulation]
        operations, wrench = counted(text, *operands)  # the values of the counted run are right, too
        close(wrench[0], force)
        close(wrench[1], moment)
        assert operations == cost.text == cost.published == Operations(*published[cost.formulation])


@pytest.mark.spec("S1-26")
def test_what_the_compiler_makes_of_the_texts():
    compiled = {c.formulation: (c.compiled.multiplications, c.compiled.additions) for c in ci.body_costs()}
    assert compiled["tensors"] == compiled["symmetric tensors"] == (27, 24)  # it finds the symmetry by itself
    assert compiled["vectors"] == (45, 33)  # nothing is shared there, symmetric or not
