"""Published formulations of kinematics and dynamics, by their names: `arm.formulations`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family, one_kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.kinematics.frame_kernels import frame_kernel
from cayley.mechanism import functions
from cayley.mechanism.room import Room, forwarded

if TYPE_CHECKING:
    from cayley.dynamics.approximate import DynamicsTable
    from cayley.dynamics.elastic_drives import MotorMotion
    from cayley.dynamics.force_parts import BiasCoefficients, BiasParts, InertiaParts
    from cayley.dynamics.inertia_matrix.kinematic_constraints import OrthogonalComplement
    from cayley.dynamics.inertia_matrix.unit_accelerations import CompositeBodies, GeneralizedLinks
    from cayley.dynamics.inverse.augmented_bodies import AugmentedChain
    from cayley.dynamics.inverse.compare import Comparison
    from cayley.dynamics.inverse.screws import BodyScrews
    from cayley.dynamics.kane_equations import EulerLagrange
    from cayley.dynamics.linearised.partials import PartialDerivatives
    from cayley.dynamics.nonholonomic.accessibility import Accessibility
    from cayley.dynamics.vector_parameter_model import VectorParameterModel
    from cayley.kinematics.jacobians.formed_jacobian import By
    from cayley.kinematics.link_motion import LinkMotion


class Formulations(Room):
    """Published formulations of the kinematics and dynamics of a mechanism, the parts of its equations, and counts."""

    def compare_inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                                 methods: Iterable[str] | None = None, progress: bool = True) -> Comparison:
        """Every published method on the same states: forces, spread, operations, time. Prints as a table.

        >>> cy.load("s1_f2").formulations.compare_inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0],
        ...                                        methods=["kane", "waters"]).agrees
        True
        """
        return functions.compare_inverse_dynamics(self.arm.inverse_dynamics, q, qd, qdd, methods=methods,
                                                  progress=progress)

    # The parts of tau = M qdd + C qd + G

    @one_kernel("q", "qd")
    def bias_parts(self) -> Kernel[BiasParts]:
        """`bias_parts(q, qd)`: the forces `centrifugal` (of squares of velocities), `coriolis` (of products of two) and
        `gravity` (..., nv), each by itself. Together they are `bias_forces` without friction and springs, of a
        mechanism with constraints those of all coordinates of its tree.

        >>> parts = cy.load("s2_we19").formulations.bias_parts([0.3, 0.7], [0.5, -1.2])
        >>> parts.centrifugal.round(6), parts.coriolis.round(6) + 0.0
        (array([-0.556604,  0.096633]), array([0.463837, 0.      ]))
        """
        return functions.bias_parts_kernel(self.tree)

    @one_kernel("q")
    def bias_coefficients(self) -> Kernel[BiasCoefficients]:
        """`bias_coefficients(q)`: the matrices of these parts: `centrifugal` (..., nv, nv) times qd^2, `coriolis` (...,
        nv, pairs) times the products qd_j qd_k, j < k, row by row, `gravity` (..., nv, 3) times the free fall.

        >>> cy.load("s2_we19").formulations.bias_coefficients([0.3, 0.7]).coriolis.round(6) + 0.0
        array([[-0.773061],
               [ 0.      ]])
        """
        return functions.bias_coefficients_kernel(self.tree)

    @one_kernel("q", "qdd")
    def inertia_parts(self) -> Kernel[InertiaParts]:
        """`inertia_parts(q, qdd)`: the inertia forces (..., nv) of each joint by its `own` acceleration, and by
        those of the others, the acceleration `coupling` of the off-diagonal elements of the mass matrix.

        >>> cy.load("s2_we19").formulations.inertia_parts([0.3, 0.7], [1.0, 2.0]).coupling.round(6)
        array([1.557811, 0.778905])
        """
        return functions.inertia_parts_kernel(self.tree)

    @one_kernel("q", "qdd")
    def inverse_dynamics_without_velocities(self) -> Kernel:
        """`inverse_dynamics_without_velocities(q, qdd)`: M qdd + G (..., nv), the historical approximation for slow
        motion: its error falls with the square of the velocity.

        >>> cy.load("s2_we19").formulations.inverse_dynamics_without_velocities([0.3, 0.7], [0.0, 0.0]).round(6)
        array([26.609847,  3.180219])
        """
        return functions.inverse_dynamics_without_velocities_kernel(self.tree)

    def dynamics_table(self, axes: Sequence[ArrayLike], *,
                       configuration: Callable[[Array], ArrayLike] | None = None) -> DynamicsTable:
        """The inertia matrix, velocity coefficients and gravity forces at the points of a grid, for inverse dynamics by
        look-up; `axes` are lists of coordinates, or of what `configuration` makes configurations of (the parameter of a
        path). See `cayley.dynamics.approximate`.

        >>> table = cy.load("s2_we19").formulations.dynamics_table([np.linspace(-1, 1, 21)] * 2)
        >>> table.inverse_dynamics([0.3, 0.7], [0.5, -1.2], [1.0, 2.0]).round(6)
        array([31.479367,  4.695757])
        """
        return functions.table_of(self.tree, axes, configuration=configuration)

    def inertia_condition(self, q: ArrayLike) -> Array:
        """The condition number (...) of M, with the scale of each velocity taken out: 1e10 costs ten digits in forward
        dynamics; infinite where a joint moves no mass.

        >>> cy.load("s1_f2").formulations.inertia_condition([0.3, -0.7]).round(3)
        np.float64(6.459)
        """
        return functions.scaled_condition(self.arm.inertia_matrix(q))

    inertia_regularity = forwarded(lambda: functions.inertia_regularity)

    # Links of a chain and what they carry

    @family("q", "qd", "qdd")
    def link_motion(self, *, axes: str = "world", relative_to: str = "world") -> Kernel[LinkMotion]:
        """`link_motion(q, qd, qdd, axes="world", relative_to="world")`: of every body, in the order of `bodies`,
        `angular_velocity`, `angular_acceleration` (..., bodies, 3), their `tensor` (..., bodies, 3, 3), and `velocity`
        and `acceleration` (..., bodies, 3) of its origin; no gravity. `relative_to`: the "world", each one's "parent"
        or a frame, as an observer there sees it; see `cayley.kinematics.link_motion`.

        >>> cy.load("planar2r").formulations.link_motion([0.0, 0.0], [1.0, 0.5], [0.0, 0.0]).acceleration[:, 0] + 0.0
        array([ 0. ,  0. , -0.5])
        """
        return functions.link_motion_kernel(self.tree, axes, relative_to)

    @family("q", "qd", "qdd", given=["at"])
    def point_motion(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None,
                     relative_to: str = "world") -> Kernel[LinkMotion]:
        """`point_motion(q, qd, qdd, frame, axes=..., at=None, relative_to="world")`: the same of one frame's body and
        any point of it, (..., 3).

        >>> arm = cy.load("planar2r")
        >>> arm.formulations.point_motion([0.0, 0.0], [1.0, 0.5], [0.0, 0.0], "tool", axes="world",
        ...                               relative_to="link1").velocity
        array([0. , 0.2, 0. ])
        """
        return functions.point_motion_kernel(self.tree, frame, axes, at, relative_to)

    @property
    def augmented_links(self) -> AugmentedChain:
        """The augmented links of an open chain of revolute and prismatic joints, what Algorithm 5.7 computes off-line:
        `constants`, and the same with a load `attached` or `detached` by increments; see
        `cayley.dynamics.inverse.augmented_bodies`.

        >>> cy.load("s1_f2").formulations.augmented_links.attached("tool", 2.0).mass
        array([5.5, 3.5])
        """
        return kept(self, "augmented links", lambda: functions.augmented_chain(self.tree))

    @one_kernel("q")
    def generalized_links(self) -> Kernel[GeneralizedLinks]:
        """`generalized_links(q)`: `mass`, `first` moment and `inertia` tensor of all that each moving joint carries,
        frozen together (composite bodies): (..., joints), (..., joints, 3), (..., joints, 3, 3), about the origins and
        in the axes of the children.

        >>> cy.load("s1_f2").formulations.generalized_links([0.3, -0.7]).mass
        array([3.5, 1.5])
        """
        return functions.generalized_links_kernel(self.tree)

    @one_kernel("q")
    def composite_bodies(self) -> Kernel[CompositeBodies]:
        """`composite_bodies(q)`: the same bodies about their centres of mass: `mass`, `center` from the origins of the
        children, and central `inertia`.

        >>> cy.load("s1_f2").formulations.composite_bodies([0.3, -0.7]).center.round(6)
        array([[ 0.422701, -0.055219,  0.      ],
               [ 0.2     ,  0.      ,  0.      ]])
        """
        return functions.composite_bodies_kernel(self.tree)

    @one_kernel("q")
    def unit_acceleration_wrenches(self) -> Kernel:
        """`unit_acceleration_wrenches(q)`: for each velocity the wrenches (..., nv, joints, 6), (f; m), in the joints
        that its unit acceleration asks for, from rest and without gravity; at the origins and in the axes of the
        children. Along the joints' directions they are the mass matrix, without the armature of drives; of a mechanism
        with constraints, as that, of all coordinates of its tree.

        >>> cy.load("s1_f2").formulations.unit_acceleration_wrenches([0.3, -0.7])[:, :, 5].round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        return functions.unit_acceleration_wrenches_kernel(self.tree)

    @one_kernel("q", "qd", "qdd", returns="Screws")
    def body_screws(self) -> BodyScrews:
        """`body_screws(q, qd, qdd)`: the `velocity` (v; w), the `momentum` (p; L) and the `force` (f; n) of its
        joint, for every body of an open chain, (..., joints, 6), at its origin and in its axes, and `tau` (..., nv).
        `.with_inputs(wrenches=["tool"])` adds external wrenches.

        >>> screws = cy.load("s1_f2").formulations.body_screws([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        >>> screws.velocity[1].round(6), screws.tau.round(6)
        (array([-0.35432 ,  0.420663,  0. , 0. , 0. , 0.7 ]), array([15.2001 ,  2.87612]))
        """
        return functions.body_screws_kernel(self.tree)

    # Equations of motion in other forms

    @one_kernel("q", "qd", "qdd")
    def euler_lagrange(self) -> Kernel[EulerLagrange]:
        """`euler_lagrange(q, qd, qdd)`: the operator of Euler and Lagrange on the Lagrangian of the mechanism, term by
        term (..., nv): `momentum_rate`, `kinetic_slope`, `potential_slope`, `dissipation`; `kinetic` is d/dt dK/dqd -
        dK/dq, and `tau` all of it. See `cayley.dynamics.kane_equations`.

        >>> cy.load("s1_f2").formulations.euler_lagrange([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).tau
        array([15.20009968,  2.87612016])
        """
        return functions.euler_lagrange_kernel(self.tree)

    kane_equations = forwarded(lambda: functions.kane_equations)
    decoupled_dynamics = forwarded(lambda: functions.decoupled_dynamics)

    @one_kernel("q")
    def orthogonal_complement(self) -> Kernel[OrthogonalComplement]:
        """`orthogonal_complement(q)`: `K` (..., 6 N, 6 N), the kinematic constraints K t = 0 of the twists of all N
        links, and `T` (..., 6 N, nv), their natural orthogonal complement, t = T qd; `residual` of K T, and `rank` of
        K. See `cayley.dynamics.inertia_matrix.kinematic_constraints`.

        >>> found = cy.load("puma560").formulations.orthogonal_complement(np.zeros(6))
        >>> found.K.shape, found.T.shape, int(found.rank)
        ((36, 36), (36, 6), 30)
        """
        return functions.orthogonal_complement_kernel(self.tree)

    generated_model = forwarded(lambda: functions.generate)

    def vector_parameter_model(self) -> VectorParameterModel:
        """An open chain in the pairs (c, t) of its joints: pose, Jacobian, inertia matrix, inverse and forward dynamics
        as rational functions of vectors; see `cayley.dynamics.vector_parameter_model`.

        >>> model = cy.load("s3_w08").formulations.vector_parameter_model()   # R-T-R-R
        >>> model.inertia_matrix(model.coordinates([0.4, 0.15, -0.7, 1.1])).shape
        (12, 12)
        """
        return kept(self, "vector-parameter model", lambda: functions.vector_parameter_model(self.tree))

    def partial_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> PartialDerivatives:
        """The derivatives by the coordinate, velocity and acceleration of any joint of what the equations of an open
        chain consist of, rotations, accelerations, first moments, forces and moments of any link; see
        `cayley.dynamics.linearised.partials`.

        >>> found = cy.load("s1_g1").formulations.partial_derivatives([0.3, -0.7], [0.5, 1.2], [-0.4, 0.8])
        >>> found.force(0, 1).by_qdd.round(3)
        array([0.387, 0.459, 0.   ])
        """
        return functions.derivative_library(self.tree, q, qd, qdd)

    kinematic_equations = forwarded(lambda: functions.kinematic_equations)

    @family("q")
    def formed_jacobian(self, frame: str, *, formed_in: str, referred_to: str, by: By = "matrices") -> Kernel:
        """`formed_jacobian(q, frame, formed_in=..., referred_to=..., by="matrices")`: the Jacobian (..., 6, nv) formed
        at the origin of one frame and referred to the axes of another, "world", "body" (the frame itself) or a name;
        by rotation matrices, or by "vector-parameters". See `cayley.kinematics.jacobians.formed_jacobian`.

        >>> arm = cy.load("planar2r")
        >>> middle = arm.formulations.formed_jacobian([0.3, 0.7], "tool", formed_in="link2", referred_to="link2")
        >>> np.allclose(middle, arm.jacobian([0.3, 0.7], "tool", axes="link2", at="link2"))
        True
        """
        return frame_kernel(self.tree, functions.formed_jacobian, "(q)->(6,v)", frame, formed_in=formed_in,
                            referred_to=referred_to, by=by)

    # Elastic drives

    @one_kernel("q", "qd", "qdd", "jerk", "snap")
    def motor_motion(self) -> Kernel[MotorMotion]:
        """`motor_motion(q, qd, qdd, jerk, snap)`: of an arm with elastic drives, `q`, `qd`, `qdd` with its motors, and
        the forces `tau` of its drives, along a motion (..., n) of its joints that is known up to its fourth derivative;
        by derivatives of the reduced model, in which rotors only spin.

        >>> arm = cy.load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3)
        >>> needed = arm.including("elastic drives").formulations.motor_motion([0.3, -0.7], *np.zeros((4, 2)))
        >>> needed.q.round(4), needed.tau.round(4)
        (array([ 0.3   , -0.7   , 15.7213]), array([0.    , 2.7107, 0.2885]))
        """
        return functions.motor_motion_kernel(self.tree)

    reduction_error = forwarded(lambda: functions.reduction_error)

    # Constraints on velocities

    @property
    def accessibility(self) -> Accessibility:
        """The states to which brackets of the motions that the constraints allow lead: everywhere that constraints on
        positions leave, or how many constraints on velocities are integrable; see
        `cayley.dynamics.nonholonomic.accessibility`.

        >>> cy.load("four_bar").formulations.accessibility.growth
        (1,)
        """
        return functions.accessibility(self.tree)

    level_functions = forwarded(lambda: functions.level_functions_of)
