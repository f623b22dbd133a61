"""The functions of a tree that a mechanism and its rooms forward to, and where each is written."""

from cayley.compiler.solving.definite import scaled_condition as scaled_condition
from cayley.drawing import payload_map as payload_map
from cayley.drawing import stick_figure as stick_figure
from cayley.drawing import workspace as workspace
from cayley.drawing.closed_maps import workspace_map_of as workspace_map_of
from cayley.dynamics.approximate import (
    inverse_dynamics_without_velocities_kernel as inverse_dynamics_without_velocities_kernel,
)
from cayley.dynamics.approximate import table_of as table_of
from cayley.dynamics.elastic_drives import motor_motion_kernel as motor_motion_kernel
from cayley.dynamics.elastic_drives import reduction_error as reduction_error
from cayley.dynamics.equations.kinematic_equations import kinematic_equations as kinematic_equations
from cayley.dynamics.force_parts import bias_coefficients_kernel as bias_coefficients_kernel
from cayley.dynamics.force_parts import bias_parts_kernel as bias_parts_kernel
from cayley.dynamics.force_parts import inertia_parts_kernel as inertia_parts_kernel
from cayley.dynamics.forward.constrained import constraint_forces_kernel as constraint_forces_kernel
from cayley.dynamics.forward.decoupled_inertia import decoupled_dynamics as decoupled_dynamics
from cayley.dynamics.forward.dry_friction import needed_friction_kernel as needed_friction_kernel
from cayley.dynamics.forward.kernels import forward_dynamics_kernel as forward_dynamics_kernel
from cayley.dynamics.forward.singular_inertia import inertia_regularity as inertia_regularity
from cayley.dynamics.forward.singular_inertia import inverse_inertia_matrix_kernel as inverse_inertia_matrix_kernel
from cayley.dynamics.generated_model import generate as generate
from cayley.dynamics.identification import linear_model as linear_model
from cayley.dynamics.identification.force_sensitivity import force_sensitivity as force_sensitivity
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel as inertia_matrix_kernel
from cayley.dynamics.inertia_matrix.kinematic_constraints import (
    orthogonal_complement_kernel as orthogonal_complement_kernel,
)
from cayley.dynamics.inertia_matrix.unit_accelerations import composite_bodies_kernel as composite_bodies_kernel
from cayley.dynamics.inertia_matrix.unit_accelerations import generalized_links_kernel as generalized_links_kernel
from cayley.dynamics.inertia_matrix.unit_accelerations import (
    unit_acceleration_wrenches_kernel as unit_acceleration_wrenches_kernel,
)
from cayley.dynamics.inverse.augmented_bodies import augmented_chain as augmented_chain
from cayley.dynamics.inverse.compare import compare_inverse_dynamics as compare_inverse_dynamics
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel as inverse_dynamics_kernel
from cayley.dynamics.inverse.reactions import reactions_kernel as reactions_kernel
from cayley.dynamics.inverse.screws import body_screws_kernel as body_screws_kernel
from cayley.dynamics.kane_equations import euler_lagrange_kernel as euler_lagrange_kernel
from cayley.dynamics.kane_equations import kane_equations as kane_equations
from cayley.dynamics.linearised.identified_discrete_model import fit_coefficients as fit_coefficients
from cayley.dynamics.linearised.kernels import forward_derivatives_kernel as forward_derivatives_kernel
from cayley.dynamics.linearised.kernels import linearize_kernel as linearize_kernel
from cayley.dynamics.linearised.partials import derivative_library as derivative_library
from cayley.dynamics.minimal_dynamics import minimal_dynamics as minimal_dynamics
from cayley.dynamics.nonholonomic.accessibility import accessibility as accessibility
from cayley.dynamics.nonholonomic.integrable_part import level_functions_of as level_functions_of
from cayley.dynamics.payload_capacity import payload_capacity as payload_capacity
from cayley.dynamics.state_kernels import bias_forces_kernel as bias_forces_kernel
from cayley.dynamics.state_kernels import coriolis_matrix_kernel as coriolis_matrix_kernel
from cayley.dynamics.state_kernels import gravity_forces_kernel as gravity_forces_kernel
from cayley.dynamics.state_kernels import state_kernel as state_kernel
from cayley.dynamics.switched_constraints import switched_system as switched_system
from cayley.dynamics.vector_parameter_model import vector_parameter_model as vector_parameter_model
from cayley.kinematics.constraints.actuated_motion import actuated_acceleration_kernel as actuated_acceleration_kernel
from cayley.kinematics.constraints.actuated_motion import actuated_jacobian_kernel as actuated_jacobian_kernel
from cayley.kinematics.constraints.actuated_motion import actuated_motion_kernel as actuated_motion_kernel
from cayley.kinematics.constraints.closure_checks import consistent_velocity as consistent_velocity
from cayley.kinematics.constraints.rows import drift_kernel as drift_kernel
from cayley.kinematics.constraints.rows import jacobian_kernel as jacobian_kernel
from cayley.kinematics.constraints.rows import rates_kernel as rates_kernel
from cayley.kinematics.constraints.rows import residual_kernel as residual_kernel
from cayley.kinematics.constraints.rows import row_names as row_names
from cayley.kinematics.constraints.space import actuation as actuation
from cayley.kinematics.constraints.structure import configuration_singularity as configuration_singularity
from cayley.kinematics.constraints.structure import constraint_structure as constraint_structure
from cayley.kinematics.constraints.structure import mobility as mobility
from cayley.kinematics.frame_kernels import difference_kernel as difference_kernel
from cayley.kinematics.frame_kernels import integrate_kernel as integrate_kernel
from cayley.kinematics.inverse import inverse_kinematics as inverse_kinematics
from cayley.kinematics.jacobians.formed_jacobian import formed_jacobian as formed_jacobian
from cayley.kinematics.link_motion import link_motion_kernel as link_motion_kernel
from cayley.kinematics.link_motion import point_motion_kernel as point_motion_kernel
from cayley.kinematics.link_motion import point_position as point_position
from cayley.kinematics.loops.assembly_modes import assemblies as assemblies
from cayley.kinematics.loops.closing import close as close
from cayley.kinematics.loops.closing import neutral_within_limits as neutral_within_limits
from cayley.kinematics.loops.dead_centres import dead_centres as dead_centres
from cayley.kinematics.loops.following_inputs import follow_inputs as follow_inputs
from cayley.kinematics.singular.actuation_singularity import actuation_singularity as actuation_singularity
from cayley.kinematics.singular.actuation_singularity import input_output as input_output
from cayley.kinematics.singular.indices import indices as indices
from cayley.kinematics.singular.indices import manipulability as manipulability
from cayley.kinematics.singular.indices import uniform_jacobian as uniform_jacobian
from cayley.kinematics.singular.singular_loci import singular_locus as singular_locus
from cayley.kinematics.singular.singularities import singularity_at as singularity_at
from cayley.machines import slip_check as slip_check
from cayley.model.attaching import attached as attached
from cayley.model.changed_parts import with_armature as with_armature
from cayley.model.changed_parts import with_body as with_body
from cayley.model.changed_parts import with_friction as with_friction
from cayley.model.changed_parts import with_joint as with_joint
from cayley.model.changed_parts import without_payload as without_payload
from cayley.model.locking import freed as freed
from cayley.model.locking import locked as locked
from cayley.model.masses import with_missing_masses as with_missing_masses
from cayley.model.named_configurations import with_configuration as with_configuration
from cayley.model.pinocchio_states import q_from_pinocchio as q_from_pinocchio
from cayley.model.pinocchio_states import q_to_pinocchio as q_to_pinocchio
from cayley.model.pinocchio_states import v_from_pinocchio as v_from_pinocchio
from cayley.model.pinocchio_states import v_to_pinocchio as v_to_pinocchio
from cayley.model.reducing import reduced as reduced
from cayley.model.reducing import subtree as subtree
from cayley.model.report import report as report
from cayley.shapes import shapes_of as shapes_of
from cayley.shapes.contacts import with_contacts as with_contacts
