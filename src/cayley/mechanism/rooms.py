"""Groups of the less common functions of a mechanism, and the names they had before."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cayley.compiler.made_once import kept
from cayley.mechanism.data import Data

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.mechanism.centroidal import Centroidal
    from cayley.mechanism.collision import Collision
    from cayley.mechanism.configurations import Configurations
    from cayley.mechanism.dexterity import Dexterity
    from cayley.mechanism.formulations import Formulations
    from cayley.mechanism.identification import Identification
    from cayley.mechanism.loops import Loops
    from cayley.mechanism.pictures import Pictures
    from cayley.mechanism.variants import Variants

_MOVED = {
    "tree": "included mimic_joints motors parents q_slices v_slices notes source constraints body_names body_number "
            "joint_number frame path",
    "loops": "close follow_inputs consistent_velocity assemblies dead_centres mobility actuation actuation_singularity "
             "actuated_jacobian actuated_motion actuated_acceleration input_output minimal_dynamics needed_friction "
             "slip_check switched",
    "configurations": "neutral_within_limits normalized with_mimic_joints",
    "dexterity": "manipulability task_jacobian indices singularity singular_locus greatest_payload "
                 "joint_forces_that_exert joint_forces_that_resist analytic_jacobian",
    "centroidal": "center_of_mass_jacobian",
    "identification": "linear_model kinetic_energy_regressor potential_energy_regressor force_sensitivity "
                      "fit_linear_model",
    "formulations": "compare_inverse_dynamics bias_parts bias_coefficients inertia_parts inertia_condition "
                    "inertia_regularity inverse_dynamics_without_velocities dynamics_table link_motion point_motion "
                    "augmented_links generalized_links composite_bodies unit_acceleration_wrenches body_screws "
                    "euler_lagrange kane_equations decoupled_dynamics orthogonal_complement generated_model "
                    "vector_parameter_model partial_derivatives kinematic_equations formed_jacobian motor_motion "
                    "reduction_error accessibility level_functions",
    "pictures": "workspace workspace_map payload_map",
    "variants": "with_body with_joints with_armature with_missing_masses without_payload with_actuated "
                "with_configuration with_constraints without_constraints spanning_tree freed reduced subtree"}

FORMER = {name: f"{room}.{name}" for room, names in _MOVED.items() for name in names.split()} | {
    "constraint_residual": "loops.residual", "constraint_rates": "loops.rates", "constraint_drift": "loops.drift",
    "constraint_jacobian": "loops.jacobian", "constraint_forces": "loops.forces", "constraint_rows": "loops.rows",
    "constraint_structure": "loops.structure", "configuration_singularity": "loops.singularity",
    "check_configuration": "configurations.check", "centroidal_momentum": "centroidal.momentum",
    "centroidal_momentum_matrix": "centroidal.momentum_matrix", "centroidal_bias": "centroidal.bias"}


class Rooms(Data):
    """Groups of functions of a mechanism; `arm.control` is one more."""

    @property
    def loops(self) -> Loops:
        """Loops and other constraints: closing, mobility, assemblies, dead centres, actuation, constraint forces.

        >>> len(cy.load("four_bar").loops), cy.load("four_bar").loops.mobility
        (1, 1)
        """
        from cayley.mechanism.loops import Loops
        return kept(self, Loops, lambda: Loops(cast("Mechanism", self)))

    @property
    def configurations(self) -> Configurations:
        """Named configurations ("ready", "home"), and checks of configurations.

        >>> cy.load("panda").configurations["ready"].round(4)
        array([ 0.    , -0.7854,  0.    , -2.3562,  0.    ,  1.5708,  0.7854])
        """
        from cayley.mechanism.configurations import Configurations
        return kept(self, Configurations, lambda: Configurations(cast("Mechanism", self)))

    @property
    def dexterity(self) -> Dexterity:
        """Manipulability, singularities, loads and payload: how well a frame moves and carries in a configuration."""
        from cayley.mechanism.dexterity import Dexterity
        return kept(self, Dexterity, lambda: Dexterity(cast("Mechanism", self)))

    @property
    def centroidal(self) -> Centroidal:
        """Momentum about the centre of mass, its matrix and its rate, as legged robots need them."""
        from cayley.mechanism.centroidal import Centroidal
        return kept(self, Centroidal, lambda: Centroidal(cast("Mechanism", self)))

    @property
    def collision(self) -> Collision:
        """Collisions and clearance among the obstacles of a `Scene`, and the spheres that contain the links."""
        from cayley.mechanism.collision import Collision
        return kept(self, Collision, lambda: Collision(cast("Mechanism", self)))

    @property
    def identification(self) -> Identification:
        """Identification: regressors, base parameters, fits to measurements, sensitivities."""
        from cayley.mechanism.identification import Identification
        return kept(self, Identification, lambda: Identification(cast("Mechanism", self)))

    @property
    def formulations(self) -> Formulations:
        """Published formulations of kinematics and dynamics, the parts of the equations, and operation counts."""
        from cayley.mechanism.formulations import Formulations
        return kept(self, Formulations, lambda: Formulations(cast("Mechanism", self)))

    @property
    def pictures(self) -> Pictures:
        """Workspaces, payload charts and maps, each with a `draw` method."""
        from cayley.mechanism.pictures import Pictures
        return kept(self, Pictures, lambda: Pictures(cast("Mechanism", self)))

    @property
    def variants(self) -> Variants:
        """Variants of a mechanism: reduced, a subtree, or with other bodies, joints, drives or constraints."""
        from cayley.mechanism.variants import Variants
        return kept(self, Variants, lambda: Variants(cast("Mechanism", self)))
