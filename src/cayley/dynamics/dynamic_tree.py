"""A mechanism with its dynamics as compiled kernels: what `Mechanism` has of this layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.dynamics.forward.inverse_inertia_matrix import inverse_inertia_matrix_kernel
from cayley.dynamics.forward.kernels import ForwardDynamics, forward_dynamics_kernel
from cayley.dynamics.forward.singular_inertia import InertiaRegularity, inertia_regularity
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.compare import Comparison, compare_inverse_dynamics
from cayley.dynamics.inverse.kernels import InverseDynamics, inverse_dynamics_kernel
from cayley.dynamics.inverse.reactions import Reactions, reactions_kernel
from cayley.dynamics.linearised.kernels import Linearize, forward_derivatives_kernel, linearize_kernel
from cayley.dynamics.rigid_links.methods import KernelWithMethods
from cayley.dynamics.state_kernels import (
    bias_forces_kernel,
    center_of_mass_kernel,
    coriolis_matrix_kernel,
    gravity_forces_kernel,
    kinetic_energy_kernel,
    momentum_kernel,
    potential_energy_kernel,
)
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.equations import EquationsOfMotion
    from cayley.dynamics.identification import LinearModel


class DynamicTree(Tree):
    """Functions of the state (`q` (..., nq), `qd` (..., nv)); all broadcast over leading axes. Forces are along the
    velocities: torques [N m] of revolute joints, forces [N] of prismatic ones.

    The drives' rotors and friction take part if `including` says so.
    """

    @cached_property
    def inverse_dynamics(self) -> InverseDynamics:
        """`inverse_dynamics(q, qd, qdd)`: the joint torques and forces (..., nv) that give the accelerations `qdd`;
        RNEA, by default on base parameters. `.using(method)` is another method, `.with_inputs(...)` has external
        wrenches and a moving base.

        >>> cy.load("s1_f2").inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        array([15.20009968,  2.87612016])
        """
        return inverse_dynamics_kernel(self)

    @cached_property
    def forward_dynamics(self) -> ForwardDynamics:
        """`forward_dynamics(q, qd, tau)`: the accelerations (..., nv) that the joint torques and forces `tau` give; by
        way of the mass matrix or articulated bodies (ABA), whichever is cheaper. `.using(method)`, `.with_inputs(...)`.

        A state whose inertia matrix is singular, or not positive definite, has none: by every method they are NaN for
        all joints, and a call for one state raises `SingularityError` that says why. `inertia_regularity` says it of a
        batch.

        >>> cy.load("s1_f2").forward_dynamics([0.3, -0.7], [1.1, -0.4], [15.2000996773, 2.87612015916]).round(9)
        array([0.5, 2. ])
        """
        return forward_dynamics_kernel(self)

    @cached_property
    def inertia_matrix(self) -> KernelWithMethods:
        """`inertia_matrix(q)`: the mass matrix M(q) (..., nv, nv); composite bodies (CRBA). `.using(method)`.

        >>> cy.load("s1_f2").inertia_matrix([0.3, -0.7]).round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        return inertia_matrix_kernel(self)

    @cached_property
    def inverse_inertia_matrix(self) -> Kernel:
        """`inverse_inertia_matrix(q)`: the inverse of the mass matrix, M^-1 (..., nv, nv).

        >>> cy.load("s1_f2").inverse_inertia_matrix([0.3, -0.7]).round(3)
        array([[ 2.477, -5.634],
               [-5.634, 23.927]])
        """
        return inverse_inertia_matrix_kernel(self)

    def inertia_condition(self, q: Any) -> np.ndarray:
        """The condition number (...) of M, with the scale of each velocity taken out: 1e10 costs ten digits in forward
        dynamics; infinite where a joint moves no mass.

        >>> cy.load("s1_f2").inertia_condition([0.3, -0.7]).round(3)
        np.float64(6.459)
        """
        M = self.inertia_matrix(q)
        own = np.diagonal(M, axis1=-2, axis2=-1)
        scale = 1 / np.sqrt(np.where(own > 0, own, 1.0))
        condition = np.linalg.cond(scale[..., :, None] * M * scale[..., None, :])
        return np.where((own > 0).all(axis=-1) | np.isnan(condition), condition, np.inf)[()]

    def inertia_regularity(self, q: Any) -> InertiaRegularity:
        """Where accelerations follow from forces (...), and why not elsewhere: joints that move no mass, inertias that
        no body has.

        There `forward_dynamics`, by every method, `inverse_inertia_matrix` and `forward_derivatives` of a batch are NaN
        for all joints; for one state they raise `SingularityError` with the reason, unless they are `unchecked`.

        >>> cy.load("s1_f2").inertia_regularity([[0.3, -0.7], [0.0, 0.0]]).regular
        array([ True,  True])
        """
        return inertia_regularity(self, q)

    # The parts of tau = M qdd + C qd + G

    @cached_property
    def bias_forces(self) -> Kernel:
        """`bias_forces(q, qd)`: the nonlinear effects C(q, qd) qd + G(q) (..., nv), and friction if it is included:
        what is left of `inverse_dynamics` without acceleration.

        >>> cy.load("s1_f2").bias_forces([0.3, -0.7], [1.1, -0.4]).round(4)
        array([14.3559,  2.5938])
        """
        return bias_forces_kernel(self)

    @cached_property
    def coriolis_matrix(self) -> Kernel:
        """`coriolis_matrix(q, qd)`: C (..., nv, nv) with Christoffel's coefficients: Mdot - 2 C is skew.

        >>> cy.load("s1_f2").coriolis_matrix([0.3, -0.7], [1.1, -0.4]).round(4)
        array([[-0.0387,  0.0676],
               [-0.1063,  0.    ]])
        """
        return coriolis_matrix_kernel(self)

    @cached_property
    def gravity_forces(self) -> Kernel:
        """`gravity_forces(q)`: the gravity torques G(q) (..., nv), what holds the mechanism at rest: gravity
        compensation.

        >>> cy.load("s1_f2").gravity_forces([0.3, -0.7]).round(4)
        array([14.4255,  2.7107])
        """
        return gravity_forces_kernel(self)

    @cached_property
    def joint_reactions(self) -> Reactions:
        """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), that parents give to children through the
        moving joints.

        At the origins and in the axes of the children; along a joint's directions they are its forces.
        `.with_inputs(...)`.

        >>> cy.load("s1_f2").joint_reactions([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])[:, 5]
        array([15.20009968,  2.87612016])
        """
        return reactions_kernel(self)

    # Energies and momentum: functions of the state, whatever ties the joints together

    @cached_property
    def kinetic_energy(self) -> Kernel:
        """`kinetic_energy(q, qd)` (...) [J], of the links, and of the rotors if they are included.

        >>> cy.load("s1_f2").kinetic_energy([0.3, -0.7], [1.1, -0.4]).round(6)
        np.float64(0.443139)
        """
        return kinetic_energy_kernel(self)

    @cached_property
    def potential_energy(self) -> Kernel:
        """`potential_energy(q)` (...) [J], zero where every centre of mass would be at the root's origin.

        >>> cy.load("s1_f1").potential_energy([0.0]).round(6) + 0.0
        np.float64(0.0)
        """
        return potential_energy_kernel(self)

    @cached_property
    def center_of_mass(self) -> Kernel:
        """`center_of_mass(q)`: of all that moves, (..., 3) in the root's frame [m].

        >>> cy.load("s1_f1").center_of_mass([0.0]).shape
        (3,)
        """
        return center_of_mass_kernel(self)

    @cached_property
    def momentum(self) -> Kernel:
        """`momentum(q, qd)`: linear and angular momentum (..., 6) about the root's origin, in its axes;
        `momentum.jacobian("qd")` is the momentum matrix.

        >>> cy.load("s1_f2").momentum([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        return momentum_kernel(self)

    # Derivatives

    @cached_property
    def linearize(self) -> Linearize:
        """`linearize(q, qd, qdd)`: the derivatives of inverse dynamics D = dtau/dqdd, V = dtau/dqd, P = dtau/dq (...,
        nv, nv). `.using(method)`.

        >>> cy.load("s1_f2").linearize([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).P.round(3)
        array([[-2.478,  1.519],
               [ 1.146,  1.333]])
        """
        return linearize_kernel(self)

    @cached_property
    def forward_derivatives(self) -> KernelWithMethods:
        """`forward_derivatives(q, qd, tau)`: the accelerations `qdd`, and their derivatives `by_q`, `by_qd`, `by_tau`
        (..., nv, nv).

        >>> arm = cy.load("s1_f2")
        >>> np.allclose(arm.forward_derivatives([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).by_tau, arm.inverse_inertia_matrix([0.3, -0.7]))
        True
        """
        return forward_derivatives_kernel(self)

    # Equations and methods

    def equations(self, **options: Any) -> EquationsOfMotion:
        """M, C and G as formulas; prints as text and as LaTeX. `parameters="symbols"` has letters for masses and
        lengths.

        >>> print(cy.load("s1_f1").equations(parameters="symbols"))
        M qdd + V + G = tau, V = C qd
        M_11 = I_1 + m_1*c_1**2
        V_1 = 0
        G_1 = m_1*c_1*g*cos(q_1)
        """
        from cayley.dynamics.equations import equations_of_motion  # SymPy takes its time
        return equations_of_motion(self, **options)

    def linear_model(self, *, joint_terms: Sequence[str] = ()) -> LinearModel:
        """The model that is linear in its inertial parameters: regressor, base parameters, identification.

        >>> cy.load("puma560").linear_model().regressor(*np.ones((3, 6))).shape
        (6, 60)
        """
        from cayley.dynamics.identification import linear_model
        return linear_model(self, joint_terms=joint_terms)

    def compare_inverse_dynamics(self, q: Any, qd: Any, qdd: Any, *, methods: Iterable[str] | None = None,
                                 progress: bool = False) -> Comparison:
        """Every published method on the same states: forces, spread, operations, time. Prints as a table.

        >>> cy.load("s1_f2").compare_inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0], methods=["kane", "waters"]).agrees
        True
        """
        return compare_inverse_dynamics(self.inverse_dynamics, q, qd, qdd, methods=methods, progress=progress)
