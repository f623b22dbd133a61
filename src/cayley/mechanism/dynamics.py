"""Forces, accelerations, inertia, energies of a mechanism: functions of the state (q, qd)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import one_kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.mechanism.data import Data

if TYPE_CHECKING:
    from cayley.dynamics.approximate import DynamicsTable
    from cayley.dynamics.elastic_drives import MotorMotion
    from cayley.dynamics.force_parts import BiasCoefficients, BiasParts, InertiaParts
    from cayley.dynamics.forward.decoupled_inertia import DecoupledModel
    from cayley.dynamics.forward.kernels import ForwardDynamics
    from cayley.dynamics.forward.singular_inertia import InertiaRegularity
    from cayley.dynamics.inertia_matrix.kinematic_constraints import OrthogonalComplement
    from cayley.dynamics.inertia_matrix.unit_accelerations import CompositeBodies, GeneralizedLinks
    from cayley.dynamics.inverse.augmented_chain import AugmentedChain
    from cayley.dynamics.inverse.kernels import InverseDynamics
    from cayley.dynamics.inverse.reactions import Reactions
    from cayley.dynamics.inverse.screws import BodyScrews
    from cayley.dynamics.minimal_dynamics import MinimalDynamics
    from cayley.dynamics.rigid_links.methods import KernelWithMethods
    from cayley.dynamics.state_kernels import BiasForces


class Dynamics(Data):
    """Forces, accelerations, inertia, energies of a mechanism: functions of the state (q, qd)."""

    # Dynamics: functions of the state (q, qd). The drives' rotors and friction take part if `including` says so

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
        from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
        return inverse_dynamics_kernel(self.tree)

    @one_kernel("q", "qd", "qdd", "jerk", "snap")
    def motor_motion(self) -> Kernel[MotorMotion]:
        """`motor_motion(q, qd, qdd, jerk, snap)`: of an arm with elastic drives, `q`, `qd`, `qdd` with its motors, and
        the forces `tau` of its drives, along a motion (..., n) of its joints that is known up to its fourth derivative;
        by derivatives of the reduced model, in which rotors only spin.

        >>> arm = cy.load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3)
        >>> needed = arm.including("elastic drives").motor_motion([0.3, -0.7], *np.zeros((4, 2)))
        >>> needed.q.round(4), needed.tau.round(4)
        (array([ 0.3   , -0.7   , 15.7213]), array([0.    , 2.7107, 0.2885]))
        """
        from cayley.dynamics.elastic_drives import motor_motion_kernel
        return motor_motion_kernel(self.tree)

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
        from cayley.dynamics.forward.kernels import forward_dynamics_kernel
        return forward_dynamics_kernel(self.tree)

    @one_kernel("q")
    def inertia_matrix(self) -> KernelWithMethods:
        """`inertia_matrix(q)`: the mass matrix M(q) (..., nv, nv); composite bodies (CRBA). `.using(method)`. Of a
        mechanism with constraints that of all coordinates of its tree, M qdd + bias = tau + A^T forces; so are the
        parts of tau below. `minimal_dynamics` has those of independent coordinates.

        >>> cy.load("s1_f2").inertia_matrix([0.3, -0.7]).round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
        return inertia_matrix_kernel(self.tree)

    @one_kernel("q")
    def inverse_inertia_matrix(self) -> Kernel:
        """`inverse_inertia_matrix(q)`: the inverse of the mass matrix, M^-1 (..., nv, nv). Under constraints what takes
        its place: the accelerations that unit forces add, N (N^T M N)^-1 N^T, of the rank of the mobility.

        >>> cy.load("s1_f2").inverse_inertia_matrix([0.3, -0.7]).round(3)
        array([[ 2.477, -5.634],
               [-5.634, 23.927]])
        """
        from cayley.dynamics.forward.singular_inertia import inverse_inertia_matrix_kernel
        return inverse_inertia_matrix_kernel(self.tree)

    def inertia_condition(self, q: ArrayLike) -> Array:
        """The condition number (...) of M, with the scale of each velocity taken out: 1e10 costs ten digits in forward
        dynamics; infinite where a joint moves no mass.

        >>> cy.load("s1_f2").inertia_condition([0.3, -0.7]).round(3)
        np.float64(6.459)
        """
        from cayley.compiler.solving.definite import scaled_condition
        return scaled_condition(self.inertia_matrix(q))

    def inertia_regularity(self, q: ArrayLike) -> InertiaRegularity:
        """Where accelerations follow from forces (...), and why not elsewhere: joints that move no mass, inertias that
        no body has.

        There `forward_dynamics`, by every method, `inverse_inertia_matrix` and `forward_derivatives` of a batch are NaN
        for all joints; for one state they raise `SingularityError` with the reason, unless they are `unchecked`.

        >>> cy.load("s1_f2").inertia_regularity([[0.3, -0.7], [0.0, 0.0]]).regular
        array([ True,  True])
        """
        from cayley.dynamics.forward.singular_inertia import inertia_regularity
        return inertia_regularity(self.tree, q)

    # The parts of tau = M qdd + C qd + G

    @one_kernel("q", "qd")
    def bias_forces(self) -> BiasForces:
        """`bias_forces(q, qd)`: the nonlinear effects C(q, qd) qd + G(q) (..., nv), and friction if it is included:
        what is left of `inverse_dynamics` without acceleration. `.with_inputs(base_motion=True)` for a moving base.

        >>> cy.load("s1_f2").bias_forces([0.3, -0.7], [1.1, -0.4]).round(4)
        array([14.3559,  2.5938])
        """
        from cayley.dynamics.state_kernels import bias_forces_kernel
        return bias_forces_kernel(self.tree)

    @one_kernel("q", "qd")
    def coriolis_matrix(self) -> Kernel:
        """`coriolis_matrix(q, qd)`: C (..., nv, nv) with Christoffel's coefficients: Mdot - 2 C is skew.

        >>> cy.load("s1_f2").coriolis_matrix([0.3, -0.7], [1.1, -0.4]).round(4)
        array([[-0.0387,  0.0676],
               [-0.1063,  0.    ]])
        """
        from cayley.dynamics.state_kernels import coriolis_matrix_kernel
        return coriolis_matrix_kernel(self.tree)

    @one_kernel("q")
    def gravity_forces(self) -> Kernel:
        """`gravity_forces(q)`: the gravity torques G(q) (..., nv), what holds the mechanism at rest: gravity
        compensation, without springs, which `bias_forces(q, 0)` has. By its actuated joints alone,
        `inverse_dynamics(q, 0, 0)` holds a mechanism with constraints.

        >>> cy.load("s1_f2").gravity_forces([0.3, -0.7]).round(4)
        array([14.4255,  2.7107])
        """
        from cayley.dynamics.state_kernels import gravity_forces_kernel
        return gravity_forces_kernel(self.tree)

    @one_kernel("q", "qd")
    def bias_parts(self) -> Kernel[BiasParts]:
        """`bias_parts(q, qd)`: the forces `centrifugal` (of squares of velocities), `coriolis` (of products of two) and
        `gravity` (..., nv), each by itself. Together they are `bias_forces` without friction and springs, of a
        mechanism with constraints those of all coordinates of its tree.

        >>> parts = cy.load("s2_we19").bias_parts([0.3, 0.7], [0.5, -1.2])
        >>> parts.centrifugal.round(6), parts.coriolis.round(6) + 0.0
        (array([-0.556604,  0.096633]), array([0.463837, 0.      ]))
        """
        from cayley.dynamics.force_parts import bias_parts_kernel
        return bias_parts_kernel(self.tree)

    @one_kernel("q")
    def bias_coefficients(self) -> Kernel[BiasCoefficients]:
        """`bias_coefficients(q)`: the matrices of these parts: `centrifugal` (..., nv, nv) times qd^2, `coriolis` (...,
        nv, pairs) times the products qd_j qd_k, j < k, row by row, `gravity` (..., nv, 3) times the free fall.

        >>> cy.load("s2_we19").bias_coefficients([0.3, 0.7]).coriolis.round(6) + 0.0
        array([[-0.773061],
               [ 0.      ]])
        """
        from cayley.dynamics.force_parts import bias_coefficients_kernel
        return bias_coefficients_kernel(self.tree)

    @one_kernel("q", "qdd")
    def inertia_parts(self) -> Kernel[InertiaParts]:
        """`inertia_parts(q, qdd)`: the inertia forces (..., nv) of each joint by its `own` acceleration, and by
        those of the others, the acceleration `coupling` of the off-diagonal elements of the mass matrix.

        >>> cy.load("s2_we19").inertia_parts([0.3, 0.7], [1.0, 2.0]).coupling.round(6)
        array([1.557811, 0.778905])
        """
        from cayley.dynamics.force_parts import inertia_parts_kernel
        return inertia_parts_kernel(self.tree)

    @property
    def augmented_links(self) -> AugmentedChain:
        """The augmented links of an open chain of revolute and prismatic joints, what Algorithm 5.7 computes off-line:
        `constants`, and the same with a load `attached` or `detached` by increments; see
        `cayley.dynamics.inverse.augmented_chain`.

        >>> cy.load("s1_f2").augmented_links.attached("tool", 2.0).mass
        array([5.5, 3.5])
        """
        from cayley.dynamics.inverse.augmented_chain import augmented_chain
        return kept(self, "augmented links", lambda: augmented_chain(self.tree))

    @one_kernel("q")
    def generalized_links(self) -> Kernel[GeneralizedLinks]:
        """`generalized_links(q)`: `mass`, `first` moment and `inertia` tensor of all that each moving joint carries,
        frozen together (composite bodies): (..., joints), (..., joints, 3), (..., joints, 3, 3), about the origins and
        in the axes of the children.

        >>> cy.load("s1_f2").generalized_links([0.3, -0.7]).mass
        array([3.5, 1.5])
        """
        from cayley.dynamics.inertia_matrix.unit_accelerations import generalized_links_kernel
        return generalized_links_kernel(self.tree)

    @one_kernel("q")
    def composite_bodies(self) -> Kernel[CompositeBodies]:
        """`composite_bodies(q)`: the same bodies about their centres of mass: `mass`, `center` from the origins of the
        children, and central `inertia`.

        >>> cy.load("s1_f2").composite_bodies([0.3, -0.7]).center.round(6)
        array([[ 0.422701, -0.055219,  0.      ],
               [ 0.2     ,  0.      ,  0.      ]])
        """
        from cayley.dynamics.inertia_matrix.unit_accelerations import composite_bodies_kernel
        return composite_bodies_kernel(self.tree)

    @one_kernel("q", "qdd")
    def inverse_dynamics_without_velocities(self) -> Kernel:
        """`inverse_dynamics_without_velocities(q, qdd)`: M qdd + G (..., nv), the historical approximation for slow
        motion: its error falls with the square of the velocity.

        >>> cy.load("s2_we19").inverse_dynamics_without_velocities([0.3, 0.7], [0.0, 0.0]).round(6)
        array([26.609847,  3.180219])
        """
        from cayley.dynamics.approximate import inverse_dynamics_without_velocities_kernel
        return inverse_dynamics_without_velocities_kernel(self.tree)

    def dynamics_table(self, axes: Sequence[ArrayLike], *,
                       configuration: Callable[[Array], ArrayLike] | None = None) -> DynamicsTable:
        """The inertia matrix, velocity coefficients and gravity forces at the points of a grid, for inverse dynamics by
        look-up; `axes` are lists of coordinates, or of what `configuration` makes configurations of (the parameter of a
        path). See `cayley.dynamics.approximate`.

        >>> table = cy.load("s2_we19").dynamics_table([np.linspace(-1, 1, 21)] * 2)
        >>> table.inverse_dynamics([0.3, 0.7], [0.5, -1.2], [1.0, 2.0]).round(6)
        array([31.479367,  4.695757])
        """
        from cayley.dynamics.approximate import table_of
        return table_of(self.tree, axes, configuration=configuration)

    @one_kernel("q")
    def unit_acceleration_wrenches(self) -> Kernel:
        """`unit_acceleration_wrenches(q)`: for each velocity the wrenches (..., nv, joints, 6), (f; m), in the joints
        that its unit acceleration asks for, from rest and without gravity; at the origins and in the axes of the
        children. Along the joints' directions they are the mass matrix, without the armature of drives; of a mechanism
        with constraints, as that, of all coordinates of its tree.

        >>> cy.load("s1_f2").unit_acceleration_wrenches([0.3, -0.7])[:, :, 5].round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        from cayley.dynamics.inertia_matrix.unit_accelerations import unit_acceleration_wrenches_kernel
        return unit_acceleration_wrenches_kernel(self.tree)

    @one_kernel("q")
    def orthogonal_complement(self) -> Kernel[OrthogonalComplement]:
        """`orthogonal_complement(q)`: `K` (..., 6 N, 6 N), the kinematic constraints K t = 0 of the twists of all N
        links, and `T` (..., 6 N, nv), their natural orthogonal complement, t = T qd; `residual` of K T, and `rank` of
        K. See `cayley.dynamics.inertia_matrix.kinematic_constraints`.

        >>> found = cy.load("puma560").orthogonal_complement(np.zeros(6))
        >>> found.K.shape, found.T.shape, int(found.rank)
        ((36, 36), (36, 6), 30)
        """
        from cayley.dynamics.inertia_matrix.kinematic_constraints import orthogonal_complement_kernel
        return orthogonal_complement_kernel(self.tree)

    def decoupled_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                           near: Array | None = None) -> DecoupledModel:
        """The equations at one state in the principal axes of the mass matrix, where it is diagonal: quasi-velocities
        and their rates, each with an inertia of its own; axes that follow those of `near` (nv, nv). See
        `cayley.dynamics.forward.decoupled_inertia`; a law in these axes is `control.decoupled`.

        >>> model = cy.load("s1_f2").decoupled_dynamics([0.3, -0.7], [1.1, -0.4], [15.2000996773, 2.87612015916])
        >>> model.principal.inertias.round(6), model.qdd.round(6)
        (array([0.919953, 0.0395  ]), array([0.5, 2. ]))
        """
        from cayley.dynamics.forward.decoupled_inertia import decoupled_dynamics
        return decoupled_dynamics(self.tree, q, qd, tau, near=near)

    def minimal_dynamics(self, *independent: str) -> MinimalDynamics:
        """The equations in the coordinates of independent joints, which all others follow: mass matrix and bias (...,
        m), and the `motion` of all joints; see `cayley.dynamics.minimal_dynamics`. The actuated joints, if none are
        named and they are as many as it takes.

        >>> bar = cy.load("four_bar").minimal_dynamics("crank")
        >>> bar.motion([0.0, 0.0, 0.0], [1.6], [0.0]).qd.round(6)
        array([ 1.6, -1.6,  1. ])
        """
        from cayley.dynamics.minimal_dynamics import minimal_dynamics
        return kept(self, ("minimal dynamics", independent), lambda: minimal_dynamics(self.tree, independent))

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
        from cayley.dynamics.inverse.reactions import reactions_kernel
        return reactions_kernel(self.tree)

    @one_kernel("q", "qd", "qdd", returns="Screws")
    def body_screws(self) -> BodyScrews:
        """`body_screws(q, qd, qdd)`: of every body of an open chain its `velocity` (v; w), its `momentum` (p; L) and
        the `force` (f; n) that its joint gives it, (..., joints, 6), at its origin, in its axes; and `tau` (..., nv).
        `.with_inputs(wrenches=["tool"])` has wrenches that act on it.

        >>> screws = cy.load("s1_f2").body_screws([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        >>> screws.velocity[1].round(6), screws.tau.round(6)
        (array([-0.35432 ,  0.420663,  0. , 0. , 0. , 0.7 ]), array([15.2001 ,  2.87612]))
        """
        from cayley.dynamics.inverse.screws import body_screws_kernel
        return body_screws_kernel(self.tree)

    # Energies and momentum: functions of the state, whatever ties the joints together

    @one_kernel("q", "qd")
    def kinetic_energy(self) -> Kernel:
        """`kinetic_energy(q, qd)` (...) [J], of the links, and of the rotors if they are included.

        >>> cy.load("s1_f2").kinetic_energy([0.3, -0.7], [1.1, -0.4]).round(6)
        np.float64(0.443139)
        """
        from cayley.dynamics.state_kernels import kinetic_energy_kernel
        return kinetic_energy_kernel(self.tree)

    @one_kernel("q")
    def potential_energy(self) -> Kernel:
        """`potential_energy(q)` (...) [J], zero where every centre of mass would be at the root's origin; with that of
        springs, if they are included.

        >>> cy.load("s1_f1").potential_energy([0.0]).round(6) + 0.0
        np.float64(0.0)
        """
        from cayley.dynamics.state_kernels import potential_energy_kernel
        return potential_energy_kernel(self.tree)

    @one_kernel("q")
    def center_of_mass(self) -> Kernel:
        """`center_of_mass(q)`: of all that moves, (..., 3) in the root's frame [m].

        >>> cy.load("s1_f1").center_of_mass([0.0]).shape
        (3,)
        """
        from cayley.dynamics.state_kernels import center_of_mass_kernel
        return center_of_mass_kernel(self.tree)

    @one_kernel("q", "qd")
    def momentum(self) -> Kernel:
        """`momentum(q, qd)`: linear and angular momentum (..., 6) about the root's origin, in its axes;
        about the centre of mass it is `centroidal_momentum`.

        >>> cy.load("s1_f2").momentum([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        from cayley.dynamics.state_kernels import momentum_kernel
        return momentum_kernel(self.tree)

    @one_kernel("q", "qd")
    def centroidal_momentum(self) -> Kernel:
        """`centroidal_momentum(q, qd)`: linear and angular momentum (..., 6) about the centre of mass, in the root's
        axes.

        >>> cy.load("s1_f2").centroidal_momentum([0.3, -0.7], [1.1, -0.4])[5].round(6)
        np.float64(0.217931)
        """
        from cayley.dynamics.centroidal import centroidal_momentum_kernel
        return centroidal_momentum_kernel(self.tree)

    @one_kernel("q")
    def centroidal_momentum_matrix(self) -> Kernel:
        """`centroidal_momentum_matrix(q)`: A (..., 6, nv), the centroidal momentum by the velocities, rows (linear;
        angular); of a mechanism with constraints by those of all coordinates of its tree. See
        `cayley.dynamics.centroidal`.

        >>> arm = cy.load("s1_f2")
        >>> np.allclose(arm.centroidal_momentum_matrix([0.3, -0.7]) @ [1.1, -0.4],
        ...             arm.centroidal_momentum([0.3, -0.7], [1.1, -0.4]))
        True
        """
        from cayley.dynamics.centroidal import centroidal_momentum_matrix_kernel
        return centroidal_momentum_matrix_kernel(self.tree)

    @one_kernel("q", "qd")
    def centroidal_bias(self) -> Kernel:
        """`centroidal_bias(q, qd)`: the rate of the centroidal momentum without accelerations, Adot qd (..., 6): the
        rate with them is A qdd + bias, and all that acts from outside, gravity among it, is equal to it.

        >>> cy.load("s1_f2").centroidal_bias([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        from cayley.dynamics.centroidal import centroidal_bias_kernel
        return centroidal_bias_kernel(self.tree)

    @one_kernel("q")
    def center_of_mass_jacobian(self) -> Kernel:
        """`center_of_mass_jacobian(q)`: the velocity of `center_of_mass` by the velocities, (..., 3, nv).

        >>> cy.load("s1_f2").center_of_mass_jacobian([0.0, 0.0])[1].round(6)
        array([0.442857, 0.085714])
        """
        from cayley.dynamics.centroidal import center_of_mass_jacobian_kernel
        return center_of_mass_jacobian_kernel(self.tree)
