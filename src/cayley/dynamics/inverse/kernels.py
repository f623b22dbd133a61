"""The kernels of inverse dynamics of a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.dynamics.inverse.external_loads import NO_LOADS, ExternalLoads, loaded_text
from cayley.dynamics.inverse.methods import DEFAULT, METHODS
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.methods import KernelWithMethods, MethodKernel
from cayley.errors import ConventionError, UnsupportedError
from cayley.explained_calls import with_explained_calls
from cayley.kinematics.constraints.rows import timed
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.inverse.constrained import Drives

_SENTENCE = "Inverse dynamics: the joint forces tau that give the accelerations qdd at the state (q, qd)."


@with_explained_calls
class InverseDynamics(KernelWithMethods):
    """`inverse_dynamics(q, qd, qdd)`: the forces (..., nv) that give the accelerations `qdd` (..., nv) at the state
    (`q`, `qd`); of a mechanism with constraints those of its actuated joints, zero in the others."""

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]  # its own arguments, which are as many as its signature has
                self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None,
                dtype: DTypeLike | None = None) -> Array: ...

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body", base_motion: bool = False,
                    method: str | None = None) -> MechanismKernel:
        """The kernel with more inputs: a wrench (..., 6), (f; m), acting on the mechanism at the origin of each named
        frame, in its own axes or those of the "world"; then, with `base_motion`, the angular velocity (..., 3) of the
        root and the accelerations (..., 6), (a; dw), of its origin and of its turning, in its own axes, in which
        gravity stays as it is: `base_inputs` of `cayley.dynamics.inverse.external_loads` makes both of a pose and a
        twist. By any of the `methods`: those that are published for bases at rest and free tips give M qdd, to which
        the bias forces of such motions are added.

        >>> arm = cy.load("planar2r")
        >>> state, tip = ([0.3, 0.4], [0.1, 0.2], [3.0, 4.0]), [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]
        >>> [arm.inverse_dynamics.with_inputs(wrenches=["tool"], method=name)(*state, tip).round(9).tolist()
        ...  for name in ("newton-euler", "augmented-links", "trace-lagrange")]
        [[15.206892561, 1.995992132], [15.206892561, 1.995992132], [15.206892561, 1.995992132]]
        """
        method = method or DEFAULT
        self.check_method(method)
        return _by_method(self.tree, method, _drives(self.tree), MechanismKernel,
                          ExternalLoads(tuple(wrenches), axes, base_motion))

    def check_method(self, method: str) -> None:
        """Check that a method of this name exists; a form of the equations is named by `by_energy`."""
        if method in ("gibbs-appell", "nielsen", "tzenov"):
            raise ConventionError(f"{method!r} differentiates an energy: inverse_dynamics.by_energy({method!r})")
        super().check_method(method)

    def by_energy(self, form: str) -> MechanismKernel:
        """The kernel of a form of the equations that differentiates one scalar function: "gibbs-appell", dS/dqdd, for
        joints of every kind; "nielsen", dL'/dqd - 2 dL/dq, or "tzenov", (dL''/dqdd - 3 dL/dq) / 2, for joints whose
        velocities are rates of coordinates. The same forces, of a mechanism with constraints too; see
        `cayley.dynamics.inverse.energy_forms`.

        >>> cy.load("s1_f2").inverse_dynamics.by_energy("gibbs-appell")([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        array([15.20009968,  2.87612016])
        """
        return _by_energy(self.tree, form, _drives(self.tree))

    def with_weights(self, weights: Mapping[str, float]) -> MechanismKernel:
        """The kernel of a redundantly actuated mechanism with other forces of its drives: those for which the sum of
        weights times squares is smallest. `weights` by the names of actuated joints, by default one.

        >>> bar = cy.load("four_bar").variants.with_actuated("crank", "rocker")
        >>> q = bar.loops.close([0.5, 0.0, 0.0]).configuration
        >>> held = [by(q, *np.zeros((2, 3))) for by in (bar.inverse_dynamics,
        ...                                             bar.inverse_dynamics.with_weights({"rocker": 100.0}))]
        >>> bool(abs(held[1][2]) < 0.1 * abs(held[0][2]))
        True
        """
        drives = _drives(self.tree)
        if drives is None or drives.actuation.surplus == 0:
            raise UnsupportedError(f"{self.tree.name} is not redundantly actuated: the forces of its drives are "
                                   f"unique, and weights have no effect")
        return _by_method(self.tree, DEFAULT, drives.weighted(self.tree, dict(weights)), MechanismKernel)


def inverse_dynamics_kernel(tree: Tree) -> InverseDynamics:
    """The default method, with all others by name."""
    drives = _drives(tree)
    default = _by_method(tree, DEFAULT, drives, InverseDynamics)
    return default.with_methods(tree, METHODS, lambda method: _by_method(tree, method, drives, MethodKernel),
                                made_by=inverse_dynamics_kernel)


def _drives(tree: Tree) -> Drives | None:
    if not tree.is_constrained:
        return None
    from cayley.dynamics.inverse.constrained import drives_of  # which few mechanisms need
    return drives_of(tree)


def _words(tree: Tree, drives: Drives | None) -> str:
    if drives is None:
        return ""
    spare = ", those of least norm" if drives.actuation.surplus else ""
    return f"Forces of {', '.join(tree.actuated_joints) or 'no joint'}{spare}; the other joints have no drive."


def _explanation(tree: Tree, drives: Drives | None) -> Callable[..., None] | None:
    if drives is None:
        return None
    from cayley.dynamics.inverse.constrained import explanation_of_drives
    return explanation_of_drives(tree, drives)


@of_a_mechanism
def _by_energy(tree: Tree, form: str, drives: Drives | None) -> MechanismKernel:
    from cayley.dynamics.inverse.energy_forms import form_of
    text = form_of(tree, form)
    return _by_text(tree, lambda q, qd, qdd, _: text(q, qd, qdd), f"Form: {form}.", drives, MechanismKernel)


@of_a_mechanism
def _by_method(tree: Tree, method: str, drives: Drives | None, kind: type[Made],
               external: ExternalLoads = NO_LOADS) -> Made:
    text = loaded_text(tree.spanning_tree(), external, method)
    return _by_text(tree, text, f"{external.words} Method: {method}.".strip(), drives, kind, external)


def _by_text(tree: Tree, text: Callable[..., Array], words: str, drives: Drives | None, kind: type[Made],
             external: ExternalLoads = NO_LOADS) -> Made:
    free = tree.spanning_tree()

    def inverse_dynamics(q: Array, qd: Array, qdd: Array, *more: Scalar) -> Array:
        needed = text(q, qd, qdd, more) + drive_forces(free, q, qd, qdd)
        return needed if drives is None else drives.forces(tree, q, needed, *more[len(external.names):]).tau

    described(tree, inverse_dynamics, _SENTENCE, f"{words} {_words(tree, drives)}".strip())
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}{',()' if tree.is_timed else ''}->(v)"),
                  name="inverse_dynamics", outputs=("tau",), units=units_of(tree),
                  inputs=timed(tree, ("q", "qd", "qdd", *external.names)), kind=kind,
                  explain=_explanation(tree, drives), alone=drives.alone(tree) if drives else None)(inverse_dynamics)
