"""The dynamic model of a mechanism in Cartesian space, seen from a frame: f = Dx x'' + Cx + Gx, and the torques that
follow.

    Dx = (J D^-1 J^T)^-1          J^T Dx = D J^-1 and Dx = J^-T D J^-1 where J is square
    Cx = Dx (J D^-1 C - J' qd)    Gx = Dx J D^-1 G         tau = J^T f
For square J these are (7.4.4) and (7.4.5) of the source; with more joints than rows they are Khatib's, and tau is the
part that the task feels. At a singular J some directions have no finite inertia: that is an error, unless `damping` k
is declared; then
    Dx = (J D^-1 J^T + k^2 1)^-1, with k^2 in units of 1/kg: directions heavier than 1/k^2 are made that light.
The rows x' = J qd are those of the twist (v; w) of a frame in the root's axes (geometric), or the rates of position and
parameters of the orientation (analytic). Source: Balafoutis & Patel (7.4.1)-(7.4.7), spec R9.1, R9.2; Khatib 1987."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.closed_form import gravity_forces, velocity_forces
from cayley.dynamics.forward.singular_inertia import check_definite, explanation, guarded
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.linearised.by_differentiation import regularity, solved, times, transposed
from cayley.dynamics.rigid_links.drives import passive_forces, rotor_inertias, rotor_velocity_forces
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ConventionError, SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians import analytic
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate, jacobian_second_rate
from cayley.kinematics.orientation import orientation as orientation_named
from cayley.model.tree import Tree
from cayley.showing import brief, shown_briefly


class JointModel(NamedTuple):
    """D (nv, nv), C and G (nv), J (m, nv) and J' qd (m) at a state."""

    D: Array
    C: Array
    G: Array
    J: Array
    bias: Array


@dataclass(frozen=True, eq=False)
class CartesianModel:
    """The model at one state, or a batch of states: f = inertia x'' + velocity_forces + gravity_forces."""

    inertia: Array  # Dx (..., m, m)
    velocity_forces: Array  # Cx (..., m)
    gravity_forces: Array  # Gx (..., m)
    J: Array  # (..., m, nv)
    condition: Scalar  # of J (...)
    damping: float

    __repr__ = brief

    def force(self, acceleration: ArrayLike) -> Array:
        """f (..., m) that the frame needs for x'' (..., m). Forces act on the mechanism."""
        return times(self.inertia, acceleration) + self.velocity_forces + self.gravity_forces

    def joint_forces(self, acceleration: ArrayLike) -> Array:
        """tau (..., nv) directly from x'': J^T f."""
        return times(np.swapaxes(self.J, -2, -1), self.force(acceleration))

    def acceleration(self, force: ArrayLike) -> Array:
        """x'' (..., m) that forces f (..., m) give."""
        return np.linalg.solve(self.inertia, (force - self.velocity_forces - self.gravity_forces)[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class CartesianMechanism:
    """A mechanism as a frame of it feels it. `damping` k [kg^-1/2] makes singular configurations possible.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = CartesianMechanism(load_robot("planar2r"), "tool", task=(True, True, False, False, False, False))
    >>> arm.at([0.3, 1.2], [0.0, 0.0]).inertia.shape
    (2, 2)
    """

    tree: Tree
    frame: str
    orientation: str | None = None
    task: str | Sequence[bool] = "pose"
    damping: float = 0.0

    def __post_init__(self) -> None:
        if not self.damping >= 0.0:
            raise SignatureError(f"the damping k of singular configurations is not negative, and here {self.damping}")

    @cached_property
    def coordinates(self) -> CartesianCoordinates:
        return CartesianCoordinates(self.tree, self.frame, self.orientation, self.task)

    @cached_property
    def joint_model(self) -> Kernel[JointModel]:
        """`joint_model(q, qd)`: D, C, G, J and J' qd."""
        return joint_model_kernel(self.coordinates)

    def at(self, q: ArrayLike, qd: ArrayLike) -> CartesianModel:
        """The model at states (..., nq), (..., nv).

        `SingularityError` where J is singular and nothing is damped, or D is."""
        D, C, G, J, bias = self.joint_model(q, qd)
        check_definite(self.tree, D)
        if not self.damping:
            check_regular(J, self.frame)
        if J.shape[-2] == J.shape[-1] and not self.damping:
            inertia = np.linalg.solve(transposed(J), transposed(np.linalg.solve(transposed(J), D)))
            inertia = (inertia + transposed(inertia)) / 2
            velocity = solved(transposed(J), C) - times(inertia, bias)
            gravity = solved(transposed(J), G)
        else:
            lightness: Array = J @ np.linalg.solve(D, transposed(J)) + self.damping ** 2 * np.eye(J.shape[-2])
            inertia = np.linalg.inv(lightness)
            velocity = times(inertia, times(J, solved(D, C)) - bias)
            gravity = times(inertia, times(J, solved(D, G)))
        with np.errstate(divide="ignore"):
            condition = 1.0 / regularity(J)
        return CartesianModel(inertia, velocity, gravity, J, condition, self.damping)

    def joint_forces(self, q: ArrayLike, qd: ArrayLike, acceleration: ArrayLike) -> Array:
        """tau (..., nv) for the acceleration x'' (..., m) of the frame at a state: (7.4.5)."""
        return self.at(q, qd).joint_forces(acceleration)


@shown_briefly
class OperationalSpace(NamedTuple):
    """Dx (m, m), Cx and Gx (m), and the inverse D^-1 J^T Dx (nv, m) that accelerates nothing else."""

    inertia: Array
    velocity_forces: Array
    gravity_forces: Array
    inverse: Array


def operational_space_kernel(tree: Tree, frame: str, *, orientation: str | None = None,
                             task: str | Sequence[bool] = "pose") -> Kernel:
    """`operational_space(q, qd, damping)`: Dx, Cx, Gx and the inverse, compiled, for control loops. `damping` zero:
    regular states only.

    >>> from cayley.model.catalogue import load_robot
    >>> law = operational_space_kernel(load_robot("planar2r"), "tool", task="position")
    >>> np.isfinite(law([0.3, 0.0], [0.0, 0.0], 0.01).inertia).all()
    np.True_
    """
    coordinates = CartesianCoordinates(tree, frame, orientation, task)
    text = _joint_model_text(coordinates)
    m = coordinates.size

    def operational_space(q: Array, qd: Array, damping: Scalar) -> OperationalSpace:
        D, C, G, J, bias = text(q, qd)
        onward = solve(D, J.T)
        inertia = ldl_solve(J @ onward + (damping * damping) * np.eye(m), np.eye(m))
        return OperationalSpace(inertia, inertia @ (onward.T @ C - bias), inertia @ (onward.T @ G), onward @ inertia)

    def check(q: ArrayLike, qd: ArrayLike, damping: ArrayLike) -> None:
        if not np.asarray(damping).all():
            check_regular(regular(q, qd).J, frame, damped=np.asarray(damping) != 0)

    regular = joint_model_kernel(coordinates)
    text_or_nan = guarded(tree, operational_space, [(m, m), (m,), (m,), (tree.nv, m)])
    return kernel(sized(tree, f"(q),(v),()->({m},{m}),({m}),({m}),(v,{m})"), name="operational_space",
                  inputs=("q", "qd", "damping"), outputs=OperationalSpace._fields, check=check,
                  explain=explanation(tree))(text_or_nan)


def joint_model_kernel(coordinates: CartesianCoordinates) -> Kernel[JointModel]:
    """`joint_model(q, qd)`: D, C, G, J and J' qd."""
    text = _joint_model_text(coordinates)
    m = coordinates.size

    def joint_model(q: Array, qd: Array) -> JointModel:
        return text(q, qd)

    return kernel(sized(coordinates.tree, f"(q),(v)->(v,v),(v),(v),({m},v),({m})"),
                  outputs=JointModel._fields)(joint_model)


def _joint_model_text(coordinates: CartesianCoordinates) -> Text:
    tree = coordinates.tree
    links = minimal_links(tree)
    rotors = np.diag(rotor_inertias(tree))

    def text(q: Array, qd: Array) -> JointModel:
        C = velocity_forces(links, q, qd) + rotor_velocity_forces(tree, qd) + passive_forces(tree, q, qd)
        return JointModel(inertia_matrix(links, q) + rotors, C, gravity_forces(links, q), coordinates.jacobian(q),
                          coordinates.jacobian_rate(q, qd) @ qd)

    return text


def check_regular(J: Array, frame: str, *, damped: ArrayLike = False) -> None:
    """Raise if some directions of a task cannot be accelerated, by J (..., m, n), where nothing is damped (...)."""
    margin, dampings = np.broadcast_arrays(regularity(J), damped)
    bad = first_failure(~(margin <= least_singular(J.shape[-1], J.dtype)) | dampings)
    if bad is not None:
        raise SingularityError(
            f"the Jacobian{place(bad)} of {frame!r} is singular (smallest singular value {margin[bad]:.1e} of the "
            "largest): the frame has no finite inertia in some direction. Declare a damping, or ask for fewer rows")


class Jacobians(NamedTuple):
    """J, J' and J'' (m, nv)."""

    J: Array
    dJ: Array
    ddJ: Array


@dataclass(frozen=True)
class CartesianCoordinates:
    """The rows of a frame's motion. `orientation` None: geometric; a name of `kinematics.orientation`: analytic.

    `task`: "pose", "position", "orientation", or six truth values for (x, y, z; x, y, z).

    >>> from cayley.model.catalogue import load_robot
    >>> plane = (True, True, False, False, False, False)
    >>> CartesianCoordinates(load_robot("planar2r"), "tool", task=plane).size
    2
    """

    tree: Tree
    frame: str
    orientation: str | None = None
    task: str | Sequence[bool] = "pose"

    def __post_init__(self) -> None:
        self.tree.frame(self.frame)
        if self.orientation is not None and orientation_named(self.orientation).size != 3:
            raise ConventionError(
                f"{self.orientation!r} has four parameters, which are not independent: take three angles, a rotation "
                "vector or a vector-parameter")

    @cached_property
    def rows(self) -> tuple[int, ...]:
        return tuple(k for k, asked in enumerate(Task.of(self.tree, self.task, "world").rows) if asked)

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def is_geometric(self) -> bool:
        """True if rows are of the twist: some turn, and no parameters of the orientation stand for it."""
        return self.orientation is None and any(k > 2 for k in self.rows)

    def jacobian(self, q: Array) -> Array:
        """J (m, nv)."""
        return self._rows(general_jacobian, analytic.analytic_jacobian, q)

    def jacobian_rate(self, q: Array, qd: Array) -> Array:
        """J' (m, nv)."""
        return self._rows(jacobian_rate, analytic.analytic_jacobian_rate, q, qd)

    def jacobian_second_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """J'' (m, nv)."""
        return self._rows(jacobian_second_rate, analytic.analytic_jacobian_second_rate, q, qd, qdd)

    def _rows(self, geometric: Text, of_parameters: Text, q: Array, *rates: Array) -> Array:
        """The rows of a task. Of numbers, the parameters of the orientation are checked not to be singular; kernels
        have a check of their own."""
        if self._singular_orientation is not None and np.asarray(q).dtype != object:
            self._singular_orientation(np.asarray(q))
        given = self.tree, q, *rates, self.frame
        found = (geometric(*given, axes="world") if self.orientation is None
                 else of_parameters(*given, orientation=self.orientation, relative_to="world"))
        return found[list(self.rows)]

    @cached_property
    def jacobians(self) -> Kernel[Jacobians]:
        """`jacobians(q, qd, qdd)`: J, J' and J''. `SingularityError` where the parameters of the orientation are
        singular."""
        def jacobians(q: Array, qd: Array, qdd: Array) -> Jacobians:
            return Jacobians(self.jacobian(q), self.jacobian_rate(q, qd), self.jacobian_second_rate(q, qd, qdd))

        m = self.size
        return kernel(sized(self.tree, f"(q),(v),(v)->({m},v),({m},v),({m},v)"), outputs=Jacobians._fields,
                      check=self._singular_orientation)(jacobians)

    @cached_property
    def _singular_orientation(self) -> Callable[..., None] | None:
        if self.orientation is None:
            return None
        return analytic.check_orientation(self.tree, self.frame, orientation=self.orientation, relative_to="world")
