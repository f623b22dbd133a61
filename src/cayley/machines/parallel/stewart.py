"""The Stewart-Gough platform: six legs of variable length between a base and a platform that moves in every way.

    B_k, P_k     joints of the legs: on the base, and on the platform in its own axes         T = (R, p)   pose
    L_k          length of leg k: |p + R P_k - B_k|,   u_k its direction
    Ld = J (v; w),   J_k = (u_k, (R P_k) x u_k)     twist of the platform at its origin, in the base's axes
The inverse problem is this formula. The direct one has up to 40 answers; it is solved by Newton's method from a guess,
and for all of them from many starts. It is singular where the six lines u_k through the joints depend on each other.
Source: Stewart 1965, Gough 1962; Dietmaier 1998 for the number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics, movements
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import ModelError, SingularityError
from cayley.geometry.rotations.rotation_vector import matrix_from_rotation_vector
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.inverse.search import damped_solution, first_of_each
from cayley.machines.arguments import batch_of, compiled, data, place
from cayley.machines.parallel.legs import ParallelSingularity, held_solution, parallel_singularity
from cayley.model.joint_kinds import Floating, Prismatic, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.machines.workspace_maps import WorkspaceMap

_STEPS = 60
_DAMPING = 0.05
_ROUNDS = 20
_MOST = 40
_CLOSES = 1e-13  # of the largest length
_APART = 1e-6  # entries of poses, places by the largest length: nearer ones are one
_UNKNOWN = Body("unknown")
_MASSLESS = Body("massless", 0.0)
_UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class StewartAssembly:
    """The pose (..., 4, 4) that Newton's method found, how far the legs are from their lengths [m], and its steps."""

    status: Literal["assembled", "not found"]
    pose: Array
    residual: Array
    iterations: int

    __repr__ = brief


class StewartPlatform:
    """A platform by the joints (6, 3) of its legs on the base and on the platform, in the axes of each [m].

    >>> angles = np.radians([0, 60, 120, 180, 240, 300])
    >>> turned = angles + np.radians([25, -25, 25, -25, 25, -25])
    >>> ring = lambda radius, at: radius * np.stack([np.cos(at), np.sin(at), 0 * at], axis=1)
    >>> machine = StewartPlatform(ring(0.8, angles), ring(0.4, turned))
    >>> pose = np.eye(4)
    >>> pose[:3, 3] = 0.0, 0.0, 0.9
    >>> lengths = machine.leg_lengths(pose)
    >>> lengths.round(6)
    array([1.014871, 1.014871, 1.014871, 1.014871, 1.014871, 1.014871])
    >>> machine.direct_position(lengths, guess=pose).status
    'assembled'
    """

    def __init__(self, base: ArrayLike, platform: ArrayLike) -> None:
        self.base = data("joints on the base of a Stewart platform", base, (6, 3))
        self.platform = data("joints on a Stewart platform", platform, (6, 3))

    @compiled("(4,4)->(6)", outputs=("lengths",))
    def leg_lengths(self, pose: Array) -> Array:
        """`leg_lengths(pose)`: the legs' lengths (..., 6) [m] at poses (..., 4, 4); the inverse position problem."""
        return np.array([np.sqrt(leg @ leg) for leg in self.legs(pose)])

    @compiled("(4,4)->(6,6)")
    def jacobian(self, pose: Array) -> Array:
        """`jacobian(pose)`: rates of the lengths by the twist (v; w) of the platform at its origin, (..., 6, 6)."""
        legs = self.legs(pose)
        arms = [pose[:3, :3] @ joint for joint in self.platform]
        directions = [leg / np.sqrt(leg @ leg) for leg in legs]
        return np.array([np.concatenate([u, np.cross(arm, u)]) for u, arm in zip(directions, arms, strict=True)])

    def leg_rates(self, pose: ArrayLike, twist: ArrayLike) -> Array:
        """Rates (..., 6) of the lengths for twists (..., 6) of the platform at its origin."""
        return np.einsum("...ij,...j->...i", self.jacobian(pose), batch_of("twists of the platform", twist, (6,)))

    @compiled("(4,4),(6),(6)->(6)")
    def leg_accelerations(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """`leg_accelerations(pose, twist, acceleration)`: second rates (..., 6) of the lengths, for twists (..., 6) and
        their rates (..., 6): u.a + |v - u u.v|^2 / L of every ball."""
        found = []
        for joint, leg in zip(self.platform, self.legs(pose), strict=True):
            arm = pose[:3, :3] @ joint
            v = twist[:3] + np.cross(twist[3:], arm)
            a = acceleration[:3] + np.cross(acceleration[3:], arm) + np.cross(twist[3:], np.cross(twist[3:], arm))
            L = np.sqrt(leg @ leg)
            Ld = leg @ v / L
            found.append((leg @ a + v @ v - Ld * Ld) / L)
        return np.array(found)

    def platform_twist(self, pose: ArrayLike, leg_rates: ArrayLike) -> Array:
        """Twists (..., 6) of the platform for rates (..., 6) of the lengths; where none follow, as `singularity` says,
        NaN, and `SingularityError` for one pose."""
        return held_solution(self.jacobian(pose), batch_of("rates of the legs", leg_rates, (6,)), "Stewart platform",
                             lengths=self._worth)

    def leg_forces(self, pose: ArrayLike, wrench: ArrayLike) -> Array:
        """Forces (..., 6) of the legs, positive where they push, with which the platform exerts wrenches (..., 6), at
        its origin and in the base's axes, at rest and without weight; where the legs do not hold it, NaN, and
        `SingularityError` for one pose."""
        return held_solution(self.jacobian(pose), batch_of("wrenches", wrench, (6,)), "Stewart platform",
                             lengths=self._worth, forces=True)

    @cached_property
    def unheld_motions(self) -> int:
        """The number of motions of the platform that the legs hold at no pose: 0, unless its architecture is singular,
        as that of a base and a platform that are flat hexagons of the same form, however they are turned (Ma & Angeles
        1991)."""
        poses = self._starts(np.full(6, np.ptp(self.base, axis=0).max() + np.ptp(self.platform, axis=0).max()), 24, 1)
        return 6 - int(relative_rank(self.jacobian(poses) / self._worth).max())

    def dynamics(self, *, platform: Body, cylinder: Body | None = None, piston: Body | None = None,
                 gravity: ArrayLike = (0.0, 0.0, -9.81)) -> StewartDynamics:
        """Inverse and forward dynamics in the coordinates of the platform. The bodies are given
        as to `tree`. Legs that are not given have no mass.

        >>> angles = np.radians([0, 60, 120, 180, 240, 300])
        >>> ring = lambda radius, at: radius * np.stack([np.cos(at), np.sin(at), 0 * at], axis=1)
        >>> machine = StewartPlatform(ring(0.8, angles), ring(0.4, angles + np.radians([25, -25] * 3)))
        >>> pose = np.eye(4)
        >>> pose[2, 3] = 0.9
        >>> lift = machine.dynamics(platform=Body("plate", 12.0)).inverse_dynamics(pose, np.zeros(6), np.zeros(6))
        >>> lift.round(6)  # a sixth of the weight, times the length of a leg by its height
        array([22.124186, 22.124186, 22.124186, 22.124186, 22.124186, 22.124186])
        """
        return StewartDynamics(self, platform, cylinder, piston, data("gravity", gravity, (3,)))

    def direct_position(self, lengths: ArrayLike, *, guess: ArrayLike) -> StewartAssembly:
        """The pose (..., 4, 4) near a guess (..., 4, 4) whose legs have these lengths (..., 6); "not found" if one has
        not."""
        wanted = batch_of("lengths of legs", lengths, (6,))
        start = batch_of("guesses", guess, (4, 4))
        batch = np.broadcast_shapes(wanted.shape[:-1], start.shape[:-2])
        size = np.abs(wanted).max(initial=1e-300)
        poses = np.array(np.broadcast_to(start, (*batch, 4, 4))).reshape(-1, 4, 4)
        lengths = np.broadcast_to(wanted, (*batch, 6)).reshape(-1, 6)
        steps = self._search(poses, lengths, size)
        residual = np.abs(lengths - self.leg_lengths(poses)).max(axis=-1, initial=0.0)
        closed = bool((residual <= 10 * _CLOSES * size).all())
        return StewartAssembly("assembled" if closed else "not found", poses.reshape(*batch, 4, 4),
                               residual.reshape(batch)[()], steps)

    def direct_positions(self, lengths: ArrayLike, *, starts: int = 400, seed: int = 0) -> Array:
        """All poses (m, 4, 4) that were found for one set of lengths (6). A machine that its legs hold has at most 40.
        Rounds of random starts are tried until one finds no new pose, or all 40 are known. The search may miss poses;
        more starts may find more.

        Sorted by height, then by the other coordinates. Mirror images about a planar base are both there."""
        wanted = np.asarray(lengths, dtype=float)
        if wanted.shape != (6,):
            raise ModelError(f"the lengths of one machine must be (6), not {wanted.shape}")
        if self.unheld_motions:
            raise SingularityError(
                f"the legs of this Stewart platform leave it {self.unheld_motions} free motions at every pose (base "
                "and platform of the same form, or joints in line): its poses form a continuum")
        size = wanted.max()
        unit = np.array([1.0, 1.0, 1.0, size])  # of the columns of a pose
        known = np.zeros((0, 4, 4))
        for number in range(_ROUNDS):
            guesses = self._starts(wanted, starts, seed + number)
            found = self.direct_position(np.broadcast_to(wanted, (starts, 6)), guess=guesses)
            more = np.concatenate([known, found.pose[found.residual <= 1e-10 * size]])
            before = len(known)
            known = more[first_of_each((more / unit).reshape(len(more), 16), _APART)[0]]
            if len(known) == before or len(known) >= _MOST:
                break
        return np.array(sorted(known, key=lambda pose: tuple(np.round(pose[[2, 0, 1], 3] / size, 6)))).reshape(-1, 4, 4)

    def singularity(self, pose: ArrayLike, *, tolerance: float | None = None) -> ParallelSingularity:
        """The singularity of the legs at one pose (4, 4): the twists (v; w) that they leave free are `gained`."""
        return parallel_singularity(self.jacobian(pose), np.ones(6), lengths=self._worth, tolerance=tolerance)

    @cached_property
    def _worth(self) -> Array:
        """The metres that a unit of each component of a twist is worth (6): a radian the platform's radius."""
        return np.repeat([1.0, float(np.linalg.norm(self.platform, axis=1).max()) or 1.0], 3)

    def workspace(self, *, height: float, lengths: ArrayLike, rotation: ArrayLike = _UPRIGHT,
                  box: ArrayLike | None = None, resolution: int = 150) -> WorkspaceMap:
        """The workspace of the platform's origin at one height z [m] and orientation (3, 3), with legs of `lengths`
        (shortest, longest) [m], and its singular curves; `plot()` draws it.

        `box`: ((left, bottom), (right, top)) [m]."""
        from cayley.machines.workspace_maps import stewart_map
        return stewart_map(self, rotation, height, lengths, box, resolution)

    def tree(self, *, platform: Body = _UNKNOWN, cylinder: Body = _UNKNOWN, piston: Body = _UNKNOWN,
             gravity: ArrayLike = (0.0, 0.0, -9.81)) -> Tree:
        """The machine as a tree with loops, `cy.Mechanism(machine.tree(...))`. The masses are those of a body for the
        platform, and of one for the lower and one for the upper part of a leg; their frames are at the lower joint and
        at the ball, z along the leg and upwards. The joints are "platform", which floats, and for each leg "foot1" (two
        angles) and "leg1" (its length), ...; a ball closes each loop."""
        bodies = [Body("base"), replace(platform, name="platform")]
        joints = [Joint("platform", "base", "platform", Floating())]
        frames = []
        loops = []
        for k, (foot, top) in enumerate(zip(self.base, self.platform, strict=True), start=1):
            bodies += [replace(cylinder, name=f"cylinder{k}"), replace(piston, name=f"piston{k}")]
            joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(), place(*foot)),
                       Joint(f"leg{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
            frames.append(Frame(f"joint{k}", "platform", place(*top)))
            loops.append(Loop(f"ball{k}", f"piston{k}", f"joint{k}", Spherical()))
        return Tree.of("Stewart platform", bodies, joints, frames=frames, gravity=gravity, loops=loops,
                       actuated=[f"leg{k}" for k in range(1, 7)])

    def configuration(self, pose: ArrayLike) -> Array:
        """The coordinates (..., 25) of `tree` for poses (..., 4, 4)."""
        T = batch_of("poses", pose, (4, 4))
        batch = T.shape[:-2]
        w = Rotation.from_matrix(T[..., :3, :3].reshape(-1, 3, 3)).as_quat(scalar_first=True).reshape(*batch, 4)
        legs = T[..., None, :3, 3] + np.einsum("...ij,kj->...ki", T[..., :3, :3], self.platform) - self.base
        length = np.linalg.norm(legs, axis=-1)
        second = np.arcsin(legs[..., 0] / length)  # Rx(a) Ry(b) z = (sin b, -sin a cos b, cos a cos b)
        own = np.stack([np.arctan2(-legs[..., 1], legs[..., 2]), second, length], axis=-1).reshape(*batch, 18)
        return np.concatenate([T[..., :3, 3], w, own], axis=-1)

    def legs(self, pose: Array) -> list[Array]:
        """The six vectors (3) from the feet to the balls, a text for one pose (4, 4)."""
        return [pose[:3, 3] + pose[:3, :3] @ joint - foot for joint, foot in zip(self.platform, self.base, strict=True)]

    def _search(self, poses: Array, lengths: Array, size: float) -> int:
        """Bring poses (n, 4, 4), in place, to lengths (n, 6) where that is possible; the most steps that it took."""
        step = self._step.ufunc()
        rows = np.arange(len(poses))
        for steps in range(_STEPS):
            with np.errstate(all="ignore"):
                moved, off = step(poses[rows], lengths[rows], size)
            on = ~(off <= _CLOSES * size)
            if not on.any():
                return steps
            rows = rows[on]
            poses[rows] = moved[on]
        return _STEPS

    @compiled("(4,4),(6),()->(4,4),()")
    def _step(self, pose: Array, lengths: Array, size: Scalar) -> tuple[Array, Scalar]:
        """`(pose, lengths, size)` -> the pose after a damped step of Newton's method, no longer than half of the
        machine or half a radian; and by how much a leg was off before it."""
        off = (lengths - self.leg_lengths(pose)) / size
        J = self.jacobian(pose) / np.array([1.0] * 3 + [size] * 3)
        move = damped_solution(J, off, _DAMPING * np.minimum(off @ off, 1.0))
        longest = np.maximum(np.sqrt(move[:3] @ move[:3]), np.sqrt(move[3:] @ move[3:]))
        move = move / np.maximum(1.0, 2 * longest)
        R = matrix_from_rotation_vector(move[3:]) @ pose[:3, :3]
        top = np.concatenate([R, (pose[:3, 3] + size * move[:3])[:, None]], axis=1)
        return np.concatenate([top, pose[3:]]), size * np.max(np.abs(off))

    def _starts(self, lengths: Array, count: int, seed: int) -> Array:
        chance = np.random.default_rng(seed)
        poses = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
        poses[:, :3, :3] = Rotation.random(count, rng=chance).as_matrix()
        poses[:, :3, 3] = np.mean(self.base, axis=0) + chance.normal(size=(count, 3)) * lengths.mean()
        return poses


class StewartLeg(NamedTuple):
    """A leg at its joints: coordinates q (3), axes (3, 3) of the slide, and G (3, 3): q' = G v of the ball."""

    q: Array
    axes: Array
    G: Array


class StewartDynamics:
    """Inverse and forward dynamics in the coordinates of the platform, by Newton and Euler, with or without masses of
    legs: see `StewartPlatform.dynamics`.

        t = (v; w), td        twist of the platform at its origin, in the base's axes, and its rate
        s, v, a               from a leg's foot to its ball; velocity and acceleration of the ball
        J^T f = W + sum of H_k^T F_k          f forces of the legs' drives, H_k t = v_k,  J the legs' Jacobian
    W is the wrench that moves the platform, F the force at the ball that moves a leg: a tree of a universal joint
    (alpha, beta) and a slide (L), s = Rx(alpha) Ry(beta) (0, 0, L). With x, y, z the axes of the slide,
        q' = (-y.v / (L cos beta), x.v / L, z.v)         F = x tau_2 / L - y tau_1 / (L cos beta) + z tau_3
    and tau are the forces of the joints by Newton and Euler. Source: Dasgupta & Mruthyunjaya 1998."""

    def __init__(self, machine: StewartPlatform, platform: Body, cylinder: Body | None, piston: Body | None,
                 gravity: Array) -> None:
        if platform.mass is None:
            raise ModelError("the platform has no mass: dynamics need platform=Body(name, mass, center, inertia)")
        self.machine = machine
        self.platform = platform
        self.mass: float = platform.mass
        self.gravity = gravity
        for name, body in (("cylinder", cylinder), ("piston", piston)):
            if body is not None and body.mass is None:
                raise ModelError(f"the {name} of a leg has an unknown mass; leave it out if it has none")
        bodies = [Body("base"), replace(cylinder or _MASSLESS, name="cylinder"),
                  replace(piston or _MASSLESS, name="piston")]
        joints = [Joint("foot", "base", "cylinder", Universal()), Joint("leg", "cylinder", "piston", Prismatic())]
        self.leg = links_of(Tree.of("leg", bodies, joints, gravity=gravity))

    @compiled("(4,4),(6),(6)->(6)", outputs=("forces",), explain="_explain")
    def inverse_dynamics(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """`inverse_dynamics(pose, twist, acceleration)`: the forces (..., 6) of the legs [N], positive where they push
        the platform away, that give the rate (..., 6) of the twist (..., 6).

        NaN, and for one state an error, where the legs do not hold the platform."""
        needed = self._wrench(pose, twist, acceleration)
        J = wrapped(self.machine.jacobian(pose))
        return only_where(is_definite(J @ J.T), np.linalg.solve(J.T, needed))

    @compiled("(4,4),(6),(6)->(6)", outputs=("acceleration",))
    def forward_dynamics(self, pose: Array, twist: Array, forces: Array) -> Array:
        """`forward_dynamics(pose, twist, forces)`: the rate (..., 6) of the twist that forces (..., 6) of the legs
        give."""
        rest = wrapped(self.machine.jacobian(pose)).T @ forces - self._wrench(pose, twist, np.zeros(6))
        return ldl_solve(self.mass_matrix(pose), rest)

    @compiled("(4,4)->(6,6)")
    def mass_matrix(self, pose: Array) -> Array:
        """`mass_matrix(pose)`: (..., 6, 6) of platform and legs, for twists at the platform's origin."""
        R = pose[:3, :3]
        c = hat(R @ self.platform.center)
        corner = -self.mass * c
        own = R @ self.platform.inertia @ R.T - self.mass * c @ c
        M = np.block([[self.mass * np.eye(3), corner], [corner.T, own]])
        for joint, s in zip(self.machine.platform, self.machine.legs(pose), strict=True):
            H = np.concatenate([np.eye(3), -hat(R @ joint)], axis=1)
            q, _, G = _leg_motion(s)
            M = M + H.T @ (G.T @ inertia_matrix(self.leg, q) @ G) @ H
        return M

    # The text

    def _wrench(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """The wrench of the drives on the platform, J^T f."""
        w = twist[3:]
        wd = acceleration[3:]
        R = pose[:3, :3]
        c = R @ self.platform.center
        I = R @ self.platform.inertia @ R.T
        force = self.mass * (acceleration[:3] + np.cross(wd, c) + np.cross(w, np.cross(w, c)) - self.gravity)
        total = np.concatenate([force, I @ wd + np.cross(w, I @ w) + np.cross(c, force)])
        for joint, s in zip(self.machine.platform, self.machine.legs(pose), strict=True):
            arm = R @ joint
            v = twist[:3] + np.cross(w, arm)
            a = acceleration[:3] + np.cross(wd, arm) + np.cross(w, np.cross(w, arm))
            F = self._leg_force(s, v, a)
            total = total + np.concatenate([F, np.cross(arm, F)])
        return total

    def _leg_force(self, s: Array, v: Array, a: Array) -> Array:
        """The force (3) at its ball that moves a leg."""
        q, axes, G = _leg_motion(s)
        qd = G @ v
        falling = replace(self.leg, gravity=np.zeros(3))
        drift = axes @ movements(falling, q, qd, np.zeros(3))[-1].a
        return G.T @ inverse_dynamics(self.leg, q, qd, G @ (a - drift))

    def _explain(self, pose: ArrayLike, *_: Array) -> None:
        found = self.machine.singularity(pose)
        if found.kind != "regular":
            raise SingularityError(
                f"the legs of the Stewart platform do not hold it at this pose: it is free to move along "
                f"{found.gained[0].round(6).tolist()}, and no forces of the legs are determined")


def _leg_motion(s: Array) -> StewartLeg:
    L = np.sqrt(s @ s)
    across = np.sqrt(s[1] * s[1] + s[2] * s[2])  # L cos(beta)
    sa, ca, sb, cb = -s[1] / across, s[2] / across, s[0] / L, across / L
    axes = np.stack([np.stack([cb, 0.0 * L, sb]), np.stack([sa * sb, ca, -sa * cb]), np.stack([-ca * sb, sa, ca * cb])])
    x, y, z = axes.T
    q = np.stack([np.arctan2(-s[1], s[2]), np.arctan2(s[0], across), L])
    return StewartLeg(q, axes, np.stack([-y / across, x / L, z]))
