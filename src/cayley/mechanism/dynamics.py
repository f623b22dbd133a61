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

    Rotors and friction of the drives take part if `including` says so.
    """

    @one_kernel("q", "qd", "qdd")
    def inverse_dynamics(self) -> InverseDynamics:
        """`inverse_dynamics(q, qd, qdd)`: the joint torques and forces (..., nv) that give the accelerations `qdd`;
        RNEA, by default on base parameters. `.using(method)` is another method, `.with_inputs(...)` has external
        wrenches and a moving base.

        Of an open tree they are those of all joints, whichever are actuated.
        Of a mechanism with constraints they are those of the actuated joints, zero in the others: unique if it is
        fully actuated, of least norm (or `.with_weights(...)`) if redundantly, and if it is under-actuated those of
        motions that it can make. Other states are NaN, and so are dead centres of the drives; a call for one state
        raises `SingularityError` that says why. Accelerations that the constraints do not allow become the nearest
        that they do; see `cayley.dynamics.inverse.constrained`.

        >>> cy.load("s1_f2").inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        array([15.20009968,  2.87612016])
        """
        return functions.inverse_dynamics_kernel(self.tree)

    @one_kernel("q", "qd", "tau")
    def forward_dynamics(self) -> ForwardDynamics:
        """`forward_dynamics(q, qd, tau)`: the accelerations (..., nv) that the joint torques and forces `tau` give; by
        way of the mass matrix or articulated bodies (ABA), whichever is cheaper. `.using(method)`, `.with_inputs(...)`.

        A state whose inertia matrix is singular, or not positive definite, has none: by every method they are NaN for
        all joints, and a call for one state raises `SingularityError` that says why. `inertia_regularity` says it of a
        batch.

        >>> cy.load("s1_f2").forward_dynamics([0.3, -0.7], [1.1, -0.4], [15.2000996773, 2.87612015916]).round(9)
        array([0.5, 2. ])
        """
        return functions.forward_dynamics_kernel(self.tree)

    # The parts of tau = M qdd + C qd + G

    @one_kernel("q")
    def inertia_matrix(self) -> KernelWithMethods:
        """`inertia_matrix(q)`: the mass matrix M(q) (..., nv, nv); composite bodies (CRBA). `.using(method)`. Of a
        mechanism with constraints that of all coordinates of its tree, M qdd + bias = tau + A^T forces; so are the
        parts of tau below. `minimal_dynamics` has those of independent coordinates.

        >>> cy.load("s1_f2").inertia_matrix([0.3, -0.7]).round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        return functions.inertia_matrix_kernel(self.tree)

    @one_kernel("q")
    def inverse_inertia_matrix(self) -> Kernel:
        """`inverse_inertia_matrix(q)`: the inverse of the mass matrix, M^-1 (..., nv, nv). Under constraints what takes
        its place: the accelerations that unit forces add, N (N^T M N)^-1 N^T, of the rank of the mobility.

        >>> cy.load("s1_f2").inverse_inertia_matrix([0.3, -0.7]).round(3)
        array([[ 2.477, -5.634],
               [-5.634, 23.927]])
        """
        return functions.inverse_inertia_matrix_kernel(self.tree)

    @one_kernel("q", "qd")
    def bias_forces(self) -> BiasForces:
        """`bias_forces(q, qd)`: the nonlinear effects C(q, qd) qd + G(q) (..., nv), and friction if it is included:
        what is left of `inverse_dynamics` without acceleration. `.with_inputs(base_motion=True)` for a moving base.

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
        """`gravity_forces(q)`: the gravity torques G(q) (..., nv), what holds the mechanism at rest: gravity
        compensation, without springs, which `bias_forces(q, 0)` has. By its actuated joints alone,
        `inverse_dynamics(q, 0, 0)` holds a mechanism with constraints.

        >>> cy.load("s1_f2").gravity_forces([0.3, -0.7]).round(4)
        array([14.4255,  2.7107])
        """
        return functions.gravity_forces_kernel(self.tree)

    # Reactions, energies and momentum

    @one_kernel("q", "qd", "qdd")
    def joint_reactions(self) -> Reactions:
        """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), that parents give to children through the
        moving joints.

        At the origins and in the axes of the children; along a joint's directions they are its forces, less what
        friction, springs and rotors take. `.parts()` are those of the drives and those that the joints hold by their
        shape; `.with_inputs(...)` has external wrenches, a moving base, and the root's axes; `.using(method)`. Of
        a mechanism with constraints, those of loops and rods upon their second frames follow; what does not follow from
        the motion is NaN. `.rows` are the names, `.determined` says which components follow.

        >>> cy.load("s1_f2").joint_reactions([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])[:, 5]
        array([15.20009968,  2.87612016])
        """
        return functions.reactions_kernel(self.tree)

    @one_kernel("q", "qd")
    def kinetic_energy(self) -> Kernel:
        """`kinetic_energy(q, qd)` (...) [J], of the links, and of the rotors if they are included.

        >>> cy.load("s1_f2").kinetic_energy([0.3, -0.7], [1.1, -0.4]).round(6)
        np.float64(0.443139)
        """
        return functions.state_kernel(self.tree, "kinetic_energy")

    @one_kernel("q")
    def potential_energy(self) -> Kernel:
        """`potential_energy(q)` (...) [J], zero where every centre of mass would be at the root's origin; with that of
        springs, if they are included.

        >>> cy.load("s1_f1").potential_energy([0.0]).round(6) + 0.0
        np.float64(0.0)
        """
        return functions.state_kernel(self.tree, "potential_energy")

    @one_kernel("q")
    def center_of_mass(self) -> Kernel:
        """`center_of_mass(q)`: of all that moves, (..., 3) in the root's frame [m].

        >>> cy.load("s1_f1").center_of_mass([0.0]).shape
        (3,)
        """
        return functions.state_kernel(self.tree, "center_of_mass")

    @one_kernel("q", "qd")
    def momentum(self) -> Kernel:
        """`momentum(q, qd)`: linear and angular momentum (..., 6) about the root's origin, in its axes;
        about the centre of mass it is `centroidal_momentum`.

        >>> cy.load("s1_f2").momentum([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        return functions.state_kernel(self.tree, "momentum")

    # Derivatives and equations

    @one_kernel("q", "qd", "qdd", returns="Sensitivities")
    def linearize(self) -> Linearize:
        """`linearize(q, qd, qdd)`: the derivatives of inverse dynamics D = dtau/dqdd, V = dtau/dqd, P = dtau/dq (...,
        nv, nv). `.using(method)`.

        Of a mechanism with constraints they are (..., m, m), in the velocities of its independent joints
        (`constraint_structure`), for forces at these joints.

        >>> cy.load("s1_f2").linearize([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).P.round(3)
        array([[-2.478,  1.519],
               [ 1.146,  1.333]])
        """
        return functions.linearize_kernel(self.tree)

    @one_kernel("q", "qd", "tau")
    def forward_derivatives(self) -> KernelWithMethods[ForwardDerivatives]:
        """`forward_derivatives(q, qd, tau)`: the accelerations `qdd`, and their derivatives `by_q`, `by_qd`, `by_tau`
        (..., nv, nv). Of a mechanism with constraints also those of its `forces`: `forces_by_q`, `forces_by_qd`,
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
        """M, C and G as formulas; prints as text and as LaTeX. `parameters="symbols"` has letters for masses and
        lengths; `simplify` and `shared` as in `cayley.dynamics.equations.equations_of_motion`. Of a mechanism with
        constraints in the `formulation` "augmented" (with multipliers), "projection" or "minimal" (in the coordinates
        of `independent` joints).

        >>> print(cy.load("s1_f1").equations(parameters="symbols"))
        M qdd + V + G = tau, V = C qd
        M_11 = I_1 + m_1*r_1**2
        V_1 = 0
        G_1 = m_1*r_1*g*cos(q_1)
        """
        from cayley.dynamics.equations import equations_of_motion  # SymPy takes its time
        return equations_of_motion(self.tree, parameters=parameters, simplify=simplify, shared=shared,
                                   formulation=formulation, independent=independent)
