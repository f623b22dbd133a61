"""The kernels of inverse dynamics of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.dynamics.inverse.external_loads import ExternalLoads
from cayley.dynamics.inverse.methods import DEFAULT, METHODS
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.methods import KernelWithMethods
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree

_SENTENCE = "Inverse dynamics: the joint forces tau that give the accelerations qdd at the state (q, qd)."


class InverseDynamics(KernelWithMethods):
    """`inverse_dynamics(q, qd, qdd)`: the forces (..., nv) that give the accelerations `qdd` (..., nv) at the state
    (`q`, `qd`).
    """

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]  # its own arguments, which are as many as its signature has
                self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None,
                dtype: DTypeLike | None = None) -> Array: ...

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel:
        """The kernel with more inputs: a wrench (..., 6), (f; m), acting on the mechanism at the origin of each named
        frame, in its own axes or those of the "world"; then, with `base_motion`, the angular velocity (..., 3) of the
        root and the accelerations (..., 6), (a; dw), of its origin and of its turning, in its own axes."""
        return _with_loads(self.tree, ExternalLoads(tuple(wrenches), axes, base_motion))


def inverse_dynamics_kernel(tree: Tree) -> InverseDynamics:
    """The default method, with all others by name."""
    default = _by_method(tree, DEFAULT, InverseDynamics)
    return default.with_methods(tree, METHODS, lambda method: _by_method(tree, method, MechanismKernel),
                                made_by=inverse_dynamics_kernel)


@of_a_mechanism
def _with_loads(tree: Tree, external: ExternalLoads) -> MechanismKernel:
    links = minimal_links(tree, loaded=external.frames)

    def text(q: Array, qd: Array, qdd: Array, *more: Array) -> Array:
        acting = external.at_links(links, tree, q, more)
        return inverse_dynamics(links, q, qd, qdd, **acting) + drive_forces(tree, qd, qdd)

    described(tree, text, _SENTENCE, external.words)
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}->(v)"), name="inverse_dynamics", outputs=("tau", ),
                  units=units_of(tree), inputs=("q", "qd", "qdd", *external.names), kind=MechanismKernel)(text)


@of_a_mechanism
def _by_method(tree: Tree, method: str, kind: type[Made]) -> Made:
    text = METHODS[method].text(tree, "inverse_dynamics")

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
        return text(q, qd, qdd) + drive_forces(tree, qd, qdd)

    described(tree, inverse_dynamics, _SENTENCE, f"Method: {method}.")
    return kernel(sized(tree, "(q),(v),(v)->(v)"), name="inverse_dynamics", outputs=("tau",), units=units_of(tree),
                  kind=kind)(inverse_dynamics)
