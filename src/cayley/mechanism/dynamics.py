"""Forces, accelerations, inertia, energies and equations of a mechanism: functions of the state (q, qd)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import one_kernel
from cayley.mechanism import functions
from cayley.mechanism.data import Data

if TYPE_CHECKING:
    from cayley.dynamics.equations import EquationsOfMotion
    from cayley.dynamics.equations.closed_mechanisms import Formulation
    from cayley.dynamics.forward.kernels import ForwardDynamics
    from cayley.dynamics.inverse.kernels import InverseDynamics
    from cayley.dynamics.inverse.reactions import Reactions
    from cayley.dynamics.linearised.kernels import ForwardDerivatives, Linearize
    from cayley.dynamics.rigid_links.methods import KernelWithMethods
    from cayley.dynamics.state_kernels import BiasForces


class Dynamics(Data):
    """Forces, accelerations, inertia, energies and equations of a mechanism: functions of the state (q, qd).

    Rotors and friction of the drives are left out unless `including` names them."""

    @one_kernel("q", "qd", "qdd")
    def inverse_dynamics(self) -> InverseDynamics:
        """`inverse_dynamics(q, qd, qdd)`: the joint torques and forces (..., nv) that give the accelerations `qdd`;
        RNEA, by default on base parameters. `.using(method)` selects another method, `.with_inputs(...)` adds external
        wrenches and a moving base.

        An open tree has forces at all joints, whichever are actuated. A mechanism with constraints has forces at its
        actuated joints and zero at the others: unique if it is fully actuated, of least norm (or `.with_weights(...)`)
        if redundantly actuated, and if under-actuated only for motions that it can make. Other states and dead centres
        of the drives give NaN; a call for one state raises a `SingularityError` that says why. Accelerations that
        violate the constraints are replaced by the nearest that satisfy them; see
        `cayley.dynamics.inverse.constrained`.

        >>> cy.load("s1_f2").inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        array([15.20009968,  2.87612016])
        """
        return functions.inverse_dynamics_kernel(self.tree)

    @one_kernel("q", "qd", "tau")
    def forward_dynamics(self) -> ForwardDynamics:
        """`forward_dynamics(q, qd, tau)`: the accelerations (..., nv) that the joint torques and forces `tau` cause, by
        the mass matrix or articulated bodies (ABA), whichever is cheaper. `.using(method)`, `.with_inputs(...)`.

        Where the inertia matrix is singular or not positive definite, every method returns NaN for all joints, and a
        call for one state raises a `SingularityError` that says why. `inertia_regularity` tells it for a batch.

        >>> cy.load("s1_f2").forward_dynamics([0.3, -0.7], [1.1, -0.4], [15.2000996773, 2.87612015916]).round(9)
        array([0.5, 2. ])
        """
        return functions.forward_dynamics_kernel(self.tree)

    # The parts of tau = M qdd + C qd + G

    @one_kernel("q")
    def inertia_matrix(self) -> KernelWithMethods:
        """`inertia_matrix(q)`: the mass matrix M(q) (..., nv, nv); composite bodies (CRBA). `.using(method)`. With
        constraints it has all coordinates of the tree, M qdd + bias = tau + A^T forces, as the other terms of tau do;
        `minimal_dynamics` has the independent coordinates.

        >>> cy.load("s1_f2").inertia_matrix([0.3, -0.7]).round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        return functions.inertia_matrix_kernel(self.tree)

    @one_kernel("q")
    def inverse_inertia_matrix(self) -> Kernel:
        """`inverse_inertia_matrix(q)`: the inverse of the mass matrix, M^-1 (..., nv, nv). With constraints, the
        accelerations caused by unit forces, N (N^T M N)^-1 N^T, whose rank is the mobility.

        >>> cy.load("s1_f2").inverse_inertia_matrix([0.3, -0.7]).round(3)
        array([[ 2.477, -5.634],
               [-5.634, 23.927]])
        """
        return functions.inverse_inertia_matrix_kernel(self.tree)

    @one_kernel("q", "qd")
    def bias_forces(self) -> BiasForces:
        """`bias_forces(q, qd)`: the nonlinear effects C(q, qd) qd + G(q) (..., nv), and friction if it is included:
        `inverse_dynamics` at zero acceleration. `.with_inputs(base_motion=True)` for a moving base.

        >>> cy.load("s1_f2").bias_forces([0.3, -0.7], [1.1, -0.4]).round(4)
        array([14.3559,  2.5938])
        """
        return functions.bias_forces_kernel(self.tree)

    @one_kernel("q", "qd")
    def coriolis_matrix(self) -> Kernel:
        """`coriolis_matrix(q, qd)`: C (..., nv, nv) with Christoffel's coefficients: Mdot - 2 C is skew.

        >>> cy.load("s1_f2").coriolis_matrix([0.3, -0.7], [1.1, -0.4]).round(4)
        array([[-0.0387,  0.0676],
               [-0.1063,  0.    ]])
        """
        return functions.coriolis_matrix_kernel(self.tree)

    @one_kernel("q")
    def gravity_forces(self) -> Kernel:
        """`gravity_forces(q)`: the gravity torques G(q) (..., nv) that hold the mechanism at rest (gravity
        compensation), without springs, which are in `bias_forces(q, 0)`. For a mechanism with constraints
        `inverse_dynamics(q, 0, 0)` has the torques of the actuated joints alone.

        >>> cy.load("s1_f2").gravity_forces([0.3, -0.7]).round(4)
        array([14.4255,  2.7107])
        """
        return functions.gravity_forces_kernel(self.tree)

    # Reactions, energies and momentum

    @one_kernel("q", "qd", "qdd")
    def joint_reactions(self) -> Reactions:
        """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), of the parents on the children through the
        moving joints.

        They act at the origins and are in the axes of the children. Along a joint's directions they equal its forces,
        less those of friction, springs and rotors. `.parts()` separates the wrenches of the drives from those of the
        bearings. `.with_inputs(...)` adds external wrenches, a moving base, and the root's axes. With constraints, the
        wrenches of loops and rods on their second frames come last, and statically indeterminate components are NaN:
        `.rows` has the names, and `.determined` tells which components are determinate. `.using(method)` selects a
        method.

        >>> cy.load("s1_f2").joint_reactions([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])[:, 5]
        array([15.20009968,  2.87612016])
        """
        return functions.reactions_kernel(self.tree)

    @one_kernel("q", "qd")
    def kinetic_energy(self) -> Kernel:
        """`kinetic_energy(q, qd)` (...) [J] of the links, and of the rotors if included.

        >>> cy.load("s1_f2").kinetic_energy([0.3, -0.7], [1.1, -0.4]).round(6)
        np.float64(0.443139)
        """
        return functions.state_kernel(self.tree, "kinetic_energy")

    @one_kernel("q")
    def potential_energy(self) -> Kernel:
        """`potential_energy(q)` (...) [J], zero with every centre of mass at the root's origin; includes springs if
        they are included in the mechanism.

        >>> cy.load("s1_f1").potential_energy([0.0]).round(6) + 0.0
        np.float64(0.0)
        """
        return functions.state_kernel(self.tree, "potential_energy")

    @one_kernel("q")
    def center_of_mass(self) -> Kernel:
        """`center_of_mass(q)`: centre of mass (..., 3) of all moving bodies, in the root's frame [m].

        >>> cy.load("s1_f1").center_of_mass([0.0]).shape
        (3,)
        """
        return functions.state_kernel(self.tree, "center_of_mass")

    @one_kernel("q", "qd")
    def momentum(self) -> Kernel:
        """`momentum(q, qd)`: linear and angular momentum (..., 6) about the root's origin, in its axes.
        `centroidal.momentum` is about the centre of mass.

        >>> cy.load("s1_f2").momentum([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        return functions.state_kernel(self.tree, "momentum")

    # Derivatives and equations

    @one_kernel("q", "qd", "qdd", returns="Sensitivities")
    def linearize(self) -> Linearize:
        """`linearize(q, qd, qdd)`: the derivatives of inverse dynamics D = dtau/dqdd, V = dtau/dqd, P = dtau/dq (...,
        nv, nv). `.using(method)`.

        With constraints they are (..., m, m), in the velocities of the independent joints (`loops.structure`), for
        forces at these joints.

        >>> cy.load("s1_f2").linearize([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).P.round(3)
        array([[-2.478,  1.519],
               [ 1.146,  1.333]])
        """
        return functions.linearize_kernel(self.tree)

    @one_kernel("q", "qd", "tau")
    def forward_derivatives(self) -> KernelWithMethods[ForwardDerivatives]:
        """`forward_derivatives(q, qd, tau)`: the accelerations `qdd`, and their derivatives `by_q`, `by_qd`, `by_tau`
        (..., nv, nv). With constraints also the derivatives of their `forces`: `forces_by_q`, `forces_by_qd`,
        `forces_by_tau`; see `cayley.dynamics.linearised.constrained`.

        >>> arm = cy.load("s1_f2")
        >>> np.allclose(arm.forward_derivatives([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).by_tau,
        ...             arm.inverse_inertia_matrix([0.3, -0.7]))
        True
        """
        return functions.forward_derivatives_kernel(self.tree)

    def equations(self, *, parameters: Literal["numbers", "symbols"] = "numbers",
                  simplify: Callable[[Any], Any] | None = None, shared: bool | None = None,
                  formulation: Formulation | None = None, independent: Sequence[str] | None = None
                  ) -> EquationsOfMotion:
        """The equations of motion, M, C and G, as formulas that print as text and as LaTeX. `parameters="symbols"` uses
        letters for masses and lengths; for `simplify` and `shared` see `cayley.dynamics.equations.equations_of_motion`.
        With constraints the `formulation` is "augmented" (with multipliers), "projection" or "minimal" (in the
        coordinates of `independent` joints).

        >>> print(cy.load("s1_f1").equations(parameters="symbols"))
        M qdd + V + G = tau, V = C qd
        M_11 = I_1 + m_1*r_1**2
        V_1 = 0
        G_1 = m_1*r_1*g*cos(q_1)
        """
        from cayley.dynamics.equations import equations_of_motion  # SymPy takes its time
        return equations_of_motion(self.tree, parameters=parameters, simplify=simplify, shared=shared,
                                   formulation=formulation, independent=independent)
