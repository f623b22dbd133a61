"""Derivatives of the dynamics of a mechanism, its equations, and the methods that write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import one_kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.mechanism.dynamics import Dynamics

if TYPE_CHECKING:
    from cayley.dynamics.elastic_drives import ReductionError
    from cayley.dynamics.equations import EquationsOfMotion
    from cayley.dynamics.equations.closed_mechanisms import Formulation
    from cayley.dynamics.equations.kinematic_equations import KinematicEquations
    from cayley.dynamics.euler_lagrange import EulerLagrange
    from cayley.dynamics.generated_model import GeneratedModel
    from cayley.dynamics.identification import LinearModel
    from cayley.dynamics.identification.force_sensitivity import ForceSensitivity
    from cayley.dynamics.inverse.compare import Comparison
    from cayley.dynamics.kane_equations import KaneEquations
    from cayley.dynamics.linearised.identified_discrete_model import IdentifiedCoefficients
    from cayley.dynamics.linearised.kernels import ForwardDerivatives, Linearize
    from cayley.dynamics.linearised.partials import PartialDerivatives
    from cayley.dynamics.rigid_links.methods import KernelWithMethods
    from cayley.dynamics.vector_parameter_model import VectorParameterModel


class Equations(Dynamics):
    """Derivatives of the dynamics of a mechanism, its equations, and the methods that write them."""

    # Derivatives

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
        from cayley.dynamics.linearised.kernels import linearize_kernel
        return linearize_kernel(self.tree)

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
        from cayley.dynamics.linearised.kernels import forward_derivatives_kernel
        return forward_derivatives_kernel(self.tree)

    def partial_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> PartialDerivatives:
        """The derivatives by the coordinate, velocity and acceleration of any joint of what the equations of an open
        chain consist of, rotations, accelerations, first moments, forces and moments of any link; see
        `cayley.dynamics.linearised.partials`.

        >>> cy.load("s1_g1").partial_derivatives([0.3, -0.7], [0.5, 1.2], [-0.4, 0.8]).force(0, 1).by_qdd.round(3)
        array([0.387, 0.459, 0.   ])
        """
        from cayley.dynamics.linearised.partials import derivative_library
        return derivative_library(self.tree, q, qd, qdd)

    def fit_linear_model(self, states: ArrayLike, forces: ArrayLike, next_states: ArrayLike,
                         dt: float) -> IdentifiedCoefficients:
        """D, V and P from samples of perturbations near a nominal motion, `dt` [s] apart: (k, 2 nv) of the state (q,
        qd), (k, nv) of the forces held from then on, (k, 2 nv) of the next state.

        >>> from cayley.dynamics.linearised.state_space import LinearisedMechanism
        >>> arm = cy.load("planar2r")
        >>> step = LinearisedMechanism(arm.tree).at([0.3, 0.4]).discretised(0.01)
        >>> x, u = np.split(np.random.default_rng(0).normal(size=(20, 6)), [4], axis=1)
        >>> found = arm.fit_linear_model(x, u, x @ step.A.T + u @ step.B.T, 0.01)
        >>> bool(np.allclose(found.D, arm.inertia_matrix([0.3, 0.4])))
        True
        """
        from cayley.dynamics.linearised.identified_discrete_model import fit_coefficients
        return fit_coefficients(self.tree, states, forces, next_states, dt)

    # Equations and methods

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

    def kinematic_equations(self, frame: str, *,
                            parameters: Literal["numbers", "symbols"] = "symbols") -> KinematicEquations:
        """Forward kinematics written out as in a textbook: `position`, `rotation`, `pose` and `jacobian` of a frame as
        SymPy matrices in q_i and lengths l_i (or the model's "numbers"); printed, with c12 for cos(q_1 + q_2).

        >>> found = cy.load("planar2r").kinematic_equations("tool")
        >>> print(found.position[0])
        l_1*cos(q_1) + l_2*cos(q_1 + q_2)
        """
        from cayley.dynamics.equations.kinematic_equations import kinematic_equations
        return kinematic_equations(self.tree, frame, parameters=parameters)

    @one_kernel("q", "qd", "qdd")
    def euler_lagrange(self) -> Kernel[EulerLagrange]:
        """`euler_lagrange(q, qd, qdd)`: the operator of Euler and Lagrange on the Lagrangian of the mechanism, term by
        term (..., nv): `momentum_rate`, `kinetic_slope`, `potential_slope`, `dissipation`; `kinetic` is d/dt dK/dqd -
        dK/dq, and `tau` all of it. See `cayley.dynamics.euler_lagrange`.

        >>> cy.load("s1_f2").euler_lagrange([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).tau
        array([15.20009968,  2.87612016])
        """
        from cayley.dynamics.euler_lagrange import euler_lagrange_kernel
        return euler_lagrange_kernel(self.tree)

    def kane_equations(self, speeds: Callable[[Array], Any] | ArrayLike | None = None) -> KaneEquations:
        """Kane's equations in the generalised speeds u = Y(q) qd: partial velocities, active and inertia forces, and
        what follows from F + F* = 0; see `cayley.dynamics.kane_equations`.

        >>> kane = cy.load("s1_f2").kane_equations([[1.0, 0.0], [1.0, 1.0]])  # the angular velocities of the links
        >>> kane.joint_forces([0.3, -0.7], [1.1, 0.7], [0.5, 2.5])
        array([15.20009968,  2.87612016])
        """
        from cayley.dynamics.kane_equations import kane_equations
        return kane_equations(self.tree, speeds)

    def generated_model(self, *, form: Literal["recursion", "traces"] = "recursion",
                        coordinates: Literal["angles", "half-angle tangents"] = "angles",
                        parameters: Literal["numbers", "symbols"] = "numbers") -> GeneratedModel:
        """The terms of B qdd + C + G + E = U of an arm with elastic or rigid joints, its inverse and forward dynamics,
        as kernels, and as text in C, Fortran or Python; see `cayley.dynamics.generated_model.generate`.

        >>> model = cy.load("planar2r").generated_model(parameters="symbols")
        >>> print(model.equations().outputs["B"][1, 1].expand())
        I_2yy + m_2*r_2x**2
        >>> list(model.texts("fortran", ["inverse_dynamics"]))
        ['planar2r_inverse_dynamics.f90']
        """
        from cayley.dynamics.generated_model import generate
        return generate(self.tree, form=form, coordinates=coordinates, parameters=parameters)

    def vector_parameter_model(self) -> VectorParameterModel:
        """An open chain in the pairs (c, t) of its joints: pose, Jacobian, inertia matrix, inverse and forward dynamics
        as rational functions of vectors; see `cayley.dynamics.vector_parameter_model`.

        >>> model = cy.load("s3_w08").vector_parameter_model()   # R-T-R-R
        >>> model.inertia_matrix(model.coordinates([0.4, 0.15, -0.7, 1.1])).shape
        (12, 12)
        """
        from cayley.dynamics.vector_parameter_model import vector_parameter_model
        return kept(self, "vector-parameter model", lambda: vector_parameter_model(self.tree))

    def linear_model(self, *, joint_terms: Sequence[str] = ()) -> LinearModel:
        """The model that is linear in its inertial parameters: regressor, base parameters, identification. Of a
        mechanism with constraints that of the forces of its actuated joints.

        >>> cy.load("puma560").linear_model().regressor(*np.ones((3, 6))).shape
        (6, 60)
        """
        from cayley.dynamics.identification import linear_model
        return linear_model(self.tree, joint_terms=joint_terms)

    @one_kernel("q", "qd")
    def kinetic_energy_regressor(self) -> Kernel:
        """`kinetic_energy_regressor(q, qd)`: the kinetic energy by each inertial parameter (..., p), in the order of
        `linear_model()`; if armature is included, of `linear_model(joint_terms=["rotor"])`.

        >>> arm = cy.load("s1_f2")
        >>> energy = arm.kinetic_energy_regressor([0.3, -0.7], [1.1, -0.4]) @ arm.linear_model().values
        >>> np.isclose(energy, arm.kinetic_energy([0.3, -0.7], [1.1, -0.4]))
        np.True_
        """
        return self._energy_model().kinetic_energy_regressor

    @one_kernel("q")
    def potential_energy_regressor(self) -> Kernel:
        """`potential_energy_regressor(q)`: the potential energy by each inertial parameter (..., p), in the same order.

        >>> arm = cy.load("s1_f2")
        >>> energy = arm.potential_energy_regressor([0.3, -0.7]) @ arm.linear_model().values
        >>> np.isclose(energy, arm.potential_energy([0.3, -0.7]))
        np.True_
        """
        return self._energy_model().potential_energy_regressor

    def _energy_model(self) -> LinearModel:
        """The linear model whose parameters have the energies that the mechanism has."""
        return self.linear_model(joint_terms=["rotor"] if "armature" in self.included else [])

    def force_sensitivity(self, *parameters: str, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                          changes: ArrayLike | None = None, scale: ArrayLike | None = None) -> ForceSensitivity:
        """How much the forces of a motion depend on each number that is meant by words, as in `with_parameters`,
        ranked; see `cayley.dynamics.identification.force_sensitivity`.

        >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 100, 2))
        >>> print(cy.load("planar2r").force_sensitivity("mass", "length", q=q, qd=qd, qdd=qdd))
        Forces by parameters
                           change  of the forces
          link2.mass       0.015   1.2 %
          joint2.length.x  0.005   0.533 %
          link1.mass       0.02    0.344 %
          tool.length.x    0.004   0 %
        """
        from cayley.dynamics.identification.force_sensitivity import force_sensitivity
        return force_sensitivity(self.tree, parameters, q, qd, qdd, changes=changes, scale=scale)

    def reduction_error(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ReductionError:
        """What the reduced model of elastic drives drops at states of joints and motors: coupling of inertias,
        gyroscopic moments, and the weight of unbalanced rotors. Prints as a table; see
        `cayley.dynamics.elastic_drives.reduction_error`.

        >>> arm = cy.load("planar2r").with_drive("joint2", stiffness=1e3, gear=50.0, mass=0.4,
        ...                                   tensor=np.diag([1e-4, 1e-4, 2e-4]))
        >>> arm.reduction_error([0.1, 0.2, 10.0], [1.0, 0.5, 25.0], [2.0, 1.0, 50.0]).dropped.round(6) + 0.0
        array([0.01  , 0.    , 0.0004])
        """
        from cayley.dynamics.elastic_drives import reduction_error
        return reduction_error(self.tree, q, qd, qdd)

    def compare_inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                                 methods: Iterable[str] | None = None, progress: bool = False) -> Comparison:
        """Every published method on the same states: forces, spread, operations, time. Prints as a table.

        >>> cy.load("s1_f2").compare_inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0],
        ...                                        methods=["kane", "waters"]).agrees
        True
        """
        from cayley.dynamics.inverse.compare import compare_inverse_dynamics
        return compare_inverse_dynamics(self.inverse_dynamics, q, qd, qdd, methods=methods, progress=progress)
