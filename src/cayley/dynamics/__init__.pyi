"""The names of `cayley.dynamics`: what a user imports from it, and where each is written."""

from cayley.dynamics.accounting import operation_tables as operation_tables
from cayley.dynamics.accounting.counted_run import (
    count_operations as count_operations,
)
from cayley.dynamics.accounting.counted_run import (
    operations_by_equation as operations_by_equation,
)
from cayley.dynamics.accounting.linear_tables import linear_tables as linear_tables
from cayley.dynamics.approximate import (
    DynamicsTable as DynamicsTable,
)
from cayley.dynamics.approximate import (
    inverse_dynamics_without_velocities as inverse_dynamics_without_velocities,
)
from cayley.dynamics.approximate import (
    tabulate as tabulate,
)
from cayley.dynamics.cartesian.linearised import CartesianLinearised as CartesianLinearised
from cayley.dynamics.cartesian.model import CartesianCoordinates as CartesianCoordinates
from cayley.dynamics.cartesian.model import (
    CartesianMechanism as CartesianMechanism,
)
from cayley.dynamics.cartesian.model import (
    CartesianModel as CartesianModel,
)
from cayley.dynamics.cartesian.model import (
    operational_space_kernel as operational_space_kernel,
)
from cayley.dynamics.equations import (
    EquationsOfMotion as EquationsOfMotion,
)
from cayley.dynamics.equations import (
    equations_of_motion as equations_of_motion,
)
from cayley.dynamics.force_parts import (
    BiasCoefficients as BiasCoefficients,
)
from cayley.dynamics.force_parts import (
    BiasParts as BiasParts,
)
from cayley.dynamics.force_parts import (
    InertiaParts as InertiaParts,
)
from cayley.dynamics.forward.decoupled_inertia import (
    DecoupledModel as DecoupledModel,
)
from cayley.dynamics.forward.decoupled_inertia import (
    decoupled_dynamics as decoupled_dynamics,
)
from cayley.dynamics.forward.decoupled_inertia import (
    decoupled_model as decoupled_model,
)
from cayley.dynamics.forward.decoupled_inertia import (
    principal_axes_of as principal_axes_of,
)
from cayley.dynamics.forward.kernels import (
    ForwardDynamics as ForwardDynamics,
)
from cayley.dynamics.forward.kernels import (
    forward_dynamics_kernel as forward_dynamics_kernel,
)
from cayley.dynamics.forward.singular_inertia import (
    InertiaRegularity as InertiaRegularity,
)
from cayley.dynamics.forward.singular_inertia import (
    inertia_regularity as inertia_regularity,
)
from cayley.dynamics.forward.singular_inertia import (
    inverse_inertia_matrix_kernel as inverse_inertia_matrix_kernel,
)
from cayley.dynamics.forward.singular_inertia import (
    why_singular as why_singular,
)
from cayley.dynamics.identification import (
    BaseParameters as BaseParameters,
)
from cayley.dynamics.identification import (
    Estimate as Estimate,
)
from cayley.dynamics.identification import (
    Measurements as Measurements,
)
from cayley.dynamics.identification import (
    RegressorModel as RegressorModel,
)
from cayley.dynamics.identification import (
    base_parameters as base_parameters,
)
from cayley.dynamics.identification import (
    exciting_trajectory as exciting_trajectory,
)
from cayley.dynamics.identification import (
    least_squares as least_squares,
)
from cayley.dynamics.identification import (
    linear_model as linear_model,
)
from cayley.dynamics.identification import (
    physical_estimate as physical_estimate,
)
from cayley.dynamics.identification import (
    regressor as regressor,
)
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel as inertia_matrix_kernel
from cayley.dynamics.inverse.compare import (
    Comparison as Comparison,
)
from cayley.dynamics.inverse.compare import (
    compare_inverse_dynamics as compare_inverse_dynamics,
)
from cayley.dynamics.inverse.kernels import (
    InverseDynamics as InverseDynamics,
)
from cayley.dynamics.inverse.kernels import (
    inverse_dynamics_kernel as inverse_dynamics_kernel,
)
from cayley.dynamics.inverse.reactions import Reactions as Reactions
from cayley.dynamics.inverse.reactions import reactions_kernel as reactions_kernel
from cayley.dynamics.inverse.screws import (
    BodyScrews as BodyScrews,
)
from cayley.dynamics.inverse.screws import (
    LinkScrews as LinkScrews,
)
from cayley.dynamics.linearised.identified_discrete_model import (
    FittedModel as FittedModel,
)
from cayley.dynamics.linearised.identified_discrete_model import (
    RecursiveFit as RecursiveFit,
)
from cayley.dynamics.linearised.identified_discrete_model import (
    fit_state_space as fit_state_space,
)
from cayley.dynamics.linearised.kernels import (
    ForwardDerivatives as ForwardDerivatives,
)
from cayley.dynamics.linearised.kernels import (
    Linearize as Linearize,
)
from cayley.dynamics.linearised.kernels import (
    forward_derivatives_kernel as forward_derivatives_kernel,
)
from cayley.dynamics.linearised.kernels import (
    linearize_kernel as linearize_kernel,
)
from cayley.dynamics.linearised.second_derivatives import (
    forward_second_derivatives_kernel as forward_second_derivatives_kernel,
)
from cayley.dynamics.linearised.second_derivatives import (
    inverse_second_derivatives_kernel as inverse_second_derivatives_kernel,
)
from cayley.dynamics.linearised.state_space import (
    LinearisedMechanism as LinearisedMechanism,
)
from cayley.dynamics.linearised.state_space import (
    StateSpace as StateSpace,
)
from cayley.dynamics.mechanics.constrained import (
    ConstrainedMotion as ConstrainedMotion,
)
from cayley.dynamics.mechanics.constrained import (
    constrained_motion as constrained_motion,
)
from cayley.dynamics.mechanics.equilibrium import (
    Equilibrium as Equilibrium,
)
from cayley.dynamics.mechanics.equilibrium import (
    EquilibriumSearch as EquilibriumSearch,
)
from cayley.dynamics.mechanics.equilibrium import (
    Potential as Potential,
)
from cayley.dynamics.mechanics.lagrange import LagrangeSystem as LagrangeSystem
from cayley.dynamics.mechanics.lagrange import (
    gibbs_appell as gibbs_appell,
)
from cayley.dynamics.mechanics.lagrange import lagrange_system as lagrange_system
from cayley.dynamics.mechanics.particle_systems import (
    ParticleSystem as ParticleSystem,
)
from cayley.dynamics.mechanics.particle_systems import (
    constrained_particles as constrained_particles,
)
from cayley.dynamics.nonholonomic import (
    MovingFrame as MovingFrame,
)
from cayley.dynamics.nonholonomic import (
    NonholonomicSystem as NonholonomicSystem,
)
from cayley.dynamics.nonholonomic import (
    nonholonomic_model as nonholonomic_model,
)
from cayley.dynamics.nonholonomic import (
    nonholonomic_system as nonholonomic_system,
)
from cayley.dynamics.rigid_links.energies import (
    center_of_mass as center_of_mass,
)
from cayley.dynamics.rigid_links.energies import (
    centroidal_momentum as centroidal_momentum,
)
from cayley.dynamics.rigid_links.energies import (
    generalized_momentum as generalized_momentum,
)
from cayley.dynamics.rigid_links.energies import (
    kinetic_energy as kinetic_energy,
)
from cayley.dynamics.rigid_links.energies import (
    lagrangian as lagrangian,
)
from cayley.dynamics.rigid_links.energies import (
    momentum as momentum,
)
from cayley.dynamics.rigid_links.energies import (
    potential_energy as potential_energy,
)
from cayley.dynamics.rigid_links.energies import (
    total_energy as total_energy,
)
from cayley.dynamics.rigid_links.links import (
    Link as Link,
)
from cayley.dynamics.rigid_links.links import (
    Links as Links,
)
from cayley.dynamics.rigid_links.links import (
    links_of as links_of,
)
from cayley.dynamics.rigid_links.links import (
    serial_chain as serial_chain,
)
from cayley.dynamics.rigid_links.methods import KernelWithMethods as KernelWithMethods
from cayley.dynamics.rigid_links.methods import Method as Method
from cayley.dynamics.rigid_links.minimal_links import minimal_links as minimal_links
from cayley.dynamics.rigid_links.moments import LinkMoments as LinkMoments
from cayley.dynamics.state_kernels import Bias as Bias
from cayley.dynamics.state_kernels import bias_parts as bias_parts
from cayley.dynamics.vector_parameter_model import (
    VectorParameterModel as VectorParameterModel,
)
