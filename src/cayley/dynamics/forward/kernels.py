"""The kernels of forward dynamics of a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.nominal_values import is_present
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.dynamics.forward import conjugate_gradients
from cayley.dynamics.forward.conjugate_gradients import IterativeAccelerations
from cayley.dynamics.forward.dry_friction import with_friction
from cayley.dynamics.forward.methods import METHODS, default_method
from cayley.dynamics.forward.singular_inertia import explanation, guarded, why_singular
from cayley.dynamics.inverse.external_loads import NO_LOADS, ExternalLoads
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import coulomb_frictions, passive_forces, rotor_inertias, rotor_velocity_forces
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.methods import KernelWithMethods, MethodKernel
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.explained_calls import with_explained_calls
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree

_TAKES_LOADS = {METHODS[name].module for name in ("composite-bodies", "articulated-bodies")}
_SENTENCE = "Forward dynamics: the accelerations qdd that the joint forces tau give at the state (q, qd)."


@with_explained_calls
class ForwardDynamics(KernelWithMethods):
    """`forward_dynamics(q, qd, tau)`: the accelerations (..., nv) that the forces `tau` (..., nv) give at the state
    (`q`, `qd`), and at the time `t` of a mechanism with constraints that depend on it."""

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]  # its own arguments, which are as many as its signature has
                self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *t: ArrayLike, out: Array | None = None,
                dtype: DTypeLike | None = None) -> Array: ...

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body", base_motion: bool = False,
                    method: str | None = None) -> MechanismKernel:
        """The kernel with more inputs: wrenches and the motion of the base, as in inverse dynamics, by any of the
        `methods`. Methods that are published for bases at rest and free tips solve M qdd = tau - b with the bias forces
        b of such motions.

        >>> arm = cy.load("planar2r")
        >>> turning, lift = [0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        >>> by = arm.forward_dynamics.with_inputs(base_motion=True, method="operator-factors")
        >>> tau = arm.inverse_dynamics.with_inputs(base_motion=True)([0.3, 0.4], [0.1, 0.2], [3.0, 4.0], turning, lift)
        >>> by([0.3, 0.4], [0.1, 0.2], tau, turning, lift).round(12)
        array([3., 4.])
        """
        external = ExternalLoads(tuple(wrenches), axes, base_motion)
        if method is not None:
            self.check_method(method)
        if self.tree.is_constrained:
            from cayley.dynamics.forward.constrained import constrained_dynamics_kernel
            from cayley.kinematics.constraints.structure import constraint_structure
            return constrained_dynamics_kernel(self.tree, constraint_structure(self.tree), method or "multipliers",
                                               MechanismKernel, external)
        return _by_method(self.tree, method or default_method(self.tree), MechanismKernel, external)

    def by_conjugate_gradients(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, guess: ArrayLike | None = None,
                               tolerance: float = 1e-12, most_iterations: int | None = None) -> IterativeAccelerations:
        """The accelerations of one state by iteration, from a guess such as those of the time step before; with the
        number of iterations, the residual, and why it stopped. Not compiled. `SingularityError` where they do not
        exist.

        >>> found = cy.load("s1_f2").forward_dynamics.by_conjugate_gradients([0.3, -0.7], [1.1, -0.4], [15.2, 2.9])
        >>> found.qdd.round(6), found.iterations, found.converged
        (array([0.365215, 2.571932]), 2, True)
        """
        tree = self.tree
        if coulomb_frictions(tree).any():
            raise UnsupportedError(
                f"{tree.name} includes dry friction, which these iterations do not know: call forward_dynamics itself")
        q, qd, tau = (np.asarray(x, dtype=float) for x in (q, qd, tau))
        if (q.shape, qd.shape, tau.shape) != ((tree.nq,), (tree.nv,), (tree.nv,)):
            raise SignatureError(
                f"this iterates for one state, q ({tree.nq}), qd ({tree.nv}) and tau ({tree.nv}), not for {q.shape}, "
                f"{qd.shape} and {tau.shape}")
        reason = why_singular(tree, q)
        if reason is not None:
            raise SingularityError(reason)
        forces = tau - rotor_velocity_forces(tree, qd) - passive_forces(tree, q, qd)
        return conjugate_gradients.solve(links_of(tree), q, qd, forces, rotors=rotor_inertias(tree), guess=guess,
                                         tolerance=tolerance, most_iterations=most_iterations)


def forward_dynamics_kernel(tree: Tree) -> ForwardDynamics:
    """The default method, with all others by name; of a mechanism with constraints, those of `constrained`."""
    if tree.is_constrained:
        return _constrained_kernel(tree)
    default = _by_method(tree, default_method(tree), ForwardDynamics)
    return default.with_methods(tree, METHODS, lambda method: _by_method(tree, method, MethodKernel),
                                made_by=forward_dynamics_kernel)


def _constrained_kernel(tree: Tree) -> ForwardDynamics:
    from cayley.dynamics.forward import constrained  # which few mechanisms need
    from cayley.kinematics.constraints.structure import constraint_structure
    structure = constraint_structure(tree)
    default = constrained.constrained_dynamics_kernel(tree, structure, "multipliers", ForwardDynamics)
    return default.with_methods(
        tree, constrained.METHODS,
        lambda method: constrained.constrained_dynamics_kernel(tree, structure, method, MethodKernel),
        made_by=forward_dynamics_kernel)


@of_a_mechanism
def _by_method(tree: Tree, method: str, kind: type[Made], external: ExternalLoads = NO_LOADS) -> Made:
    plain = METHODS[method].links is links_of
    links = links_of(tree) if plain else minimal_links(tree, loaded=external.frames)
    text = _loaded_text(tree, links, method) if external.names else METHODS[method].text(tree, "forward_dynamics")
    compute = with_friction(tree, links, text, rotor_inertias(tree))
    options = _rotors(tree, method)

    def forward_dynamics(q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        acting = external.at_links(links, tree, q, more) if external.names else {}
        return compute(q, qd, tau - rotor_velocity_forces(tree, qd), **options, **acting)

    described(tree, forward_dynamics, _SENTENCE, f"{external.words} Method: {method}.".strip())
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}->(v)"), name="forward_dynamics", outputs=("qdd", ),
                  units=units_of(tree), inputs=("q", "qd", "tau", *external.names), kind=kind,
                  explain=explanation(tree))(guarded(tree, forward_dynamics, [(tree.nv,)]))


def _loaded_text(tree: Tree, links: Links, method: str) -> Callable[..., Any]:
    """The text `(q, qd, tau, rotors=..., base=..., loads=...)` of a method. Those that know neither moving bases nor
    loads compute M^-1 (tau - b), as if there were no gravity and no velocity."""
    if METHODS[method].module in _TAKES_LOADS:
        return METHODS[method]._replace(links=lambda _: links).text(tree, "forward_dynamics")
    at_rest = METHODS[method].text(tree.with_gravity((0.0, 0.0, 0.0)), "forward_dynamics")

    def text(q: Array, qd: Array, tau: Array, *, rotors: Array | None = None,
             **acting: Any) -> Array:  # noqa: ANN401 (handed on)
        bias = inverse_dynamics(links, q, qd, np.zeros(tree.nv), **acting)
        return at_rest(q, np.zeros(tree.nv), tau - bias, **({} if rotors is None else {"rotors": rotors}))

    return text


def _rotors(tree: Tree, method: str) -> dict[str, Array]:
    """The rotors as an option of a method, if there are any."""
    rotors = rotor_inertias(tree)
    if not is_present(rotors).any():
        return {}
    if not METHODS[method].takes("rotors", "forward_dynamics"):
        raise UnsupportedError(
            f"the method {method!r} of forward dynamics knows no rotors: leave them out, or use another method")
    return {"rotors": rotors}
