"""Identification of the parameters of a mechanism: `arm.identification`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import one_kernel
from cayley.compiler.typing import ArrayLike
from cayley.mechanism import functions
from cayley.mechanism.room import Room, forwarded

if TYPE_CHECKING:
    from cayley.dynamics.identification import RegressorModel
    from cayley.dynamics.identification.force_sensitivity import ForceSensitivity
    from cayley.dynamics.linearised.identified_discrete_model import IdentifiedCoefficients


class Identification(Room):
    """Models that are linear in the inertial parameters of a mechanism, and the sensitivity of forces to each."""

    linear_model = forwarded(lambda: functions.linear_model)

    @one_kernel("q", "qd")
    def kinetic_energy_regressor(self) -> Kernel:
        """`kinetic_energy_regressor(q, qd)`: the kinetic energy by each inertial parameter (..., p), in the order of
        `linear_model()`; if armature is included, of `linear_model(joint_terms=["rotor"])`.

        >>> arm = cy.load("s1_f2")
        >>> values = arm.identification.linear_model().values
        >>> energy = arm.identification.kinetic_energy_regressor([0.3, -0.7], [1.1, -0.4]) @ values
        >>> np.isclose(energy, arm.kinetic_energy([0.3, -0.7], [1.1, -0.4]))
        np.True_
        """
        return self._energy_model().kinetic_energy_regressor

    @one_kernel("q")
    def potential_energy_regressor(self) -> Kernel:
        """`potential_energy_regressor(q)`: the potential energy by each inertial parameter (..., p), in the same order.

        >>> arm = cy.load("s1_f2")
        >>> values = arm.identification.linear_model().values
        >>> energy = arm.identification.potential_energy_regressor([0.3, -0.7]) @ values
        >>> np.isclose(energy, arm.potential_energy([0.3, -0.7]))
        np.True_
        """
        return self._energy_model().potential_energy_regressor

    def force_sensitivity(self, *parameters: str, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                          changes: ArrayLike | None = None, scale: ArrayLike | None = None) -> ForceSensitivity:
        """The sensitivity of the forces of a motion to each number that is meant by words, as in `with_parameters`,
        ranked; see `cayley.dynamics.identification.force_sensitivity`.

        >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 100, 2))
        >>> print(cy.load("planar2r").identification.force_sensitivity("mass", "length", q=q, qd=qd, qdd=qdd))
        Forces by parameters
                           change  of the forces
          link2.mass       0.015   1.2 %
          joint2.length.x  0.005   0.533 %
          link1.mass       0.02    0.344 %
          tool.length.x    0.004   0 %
        """
        return functions.force_sensitivity(self.tree, parameters, q, qd, qdd, changes=changes, scale=scale)

    def fit_linear_model(self, states: ArrayLike, forces: ArrayLike, next_states: ArrayLike,
                         dt: float) -> IdentifiedCoefficients:
        """D, V and P from samples of perturbations near a nominal motion, `dt` [s] apart: (k, 2 nv) of the state (q,
        qd), (k, nv) of the forces held from then on, (k, 2 nv) of the next state.

        >>> from cayley.dynamics.linearised.state_space import LinearisedMechanism
        >>> arm = cy.load("planar2r")
        >>> step = LinearisedMechanism(arm.tree).at([0.3, 0.4]).discretised(0.01)
        >>> x, u = np.split(np.random.default_rng(0).normal(size=(20, 6)), [4], axis=1)
        >>> found = arm.identification.fit_linear_model(x, u, x @ step.A.T + u @ step.B.T, 0.01)
        >>> bool(np.allclose(found.D, arm.inertia_matrix([0.3, 0.4])))
        True
        """
        return functions.fit_coefficients(self.tree, states, forces, next_states, dt)

    def _energy_model(self) -> RegressorModel:
        """The linear model whose parameters have the energies that the mechanism has."""
        return self.linear_model(joint_terms=["rotor"] if "armature" in self.tree.included else [])
