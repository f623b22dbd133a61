"""Kernels of a mechanism, which can be made with numbers of the mechanism as inputs: parameters.

    torques = arm.inverse_dynamics.with_parameters("mass", "center")
    torques(q, qd, qdd, torques.parameters.with_values({"link2.mass": 3.0}))
The text of the kernel is traced for a mechanism whose numbers are symbols. Which of them are zero, which axes are
parallel and which angles are right is decided by the model, as for constants (`tracing.nominal_values`); what depends
on the parameters alone, the grouped inertias of links among it, is computed once for each set of them
(`cayley.compiler.prepared_kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from cayley.compiler.kernel import ExplanationBeside, Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.prepared_kernel import PreparedKernel
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.nominal_values import is_symbolic, suppose
from cayley.compiler.tracing.program import Program
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Result
from cayley.errors import UnsupportedError
from cayley.kinematics.kernel_words import units_of
from cayley.model.parameters import Parameters, chosen_parameters
from cayley.model.tree import Tree

Choices = ParamSpec("Choices")
Made = TypeVar("Made", bound="MechanismKernel[Any]")


class Remake(NamedTuple):
    """A function that makes a kernel for a mechanism, and the choices it is called with."""

    make: Callable[..., MechanismKernel]
    choices: tuple[Any, ...]
    named: dict[str, Any]

    def __call__(self, tree: Tree) -> MechanismKernel:
        return self.make(tree, *self.choices, **self.named)


class KernelWithParameters(PreparedKernel[Result]):
    """A kernel of a mechanism whose last input are numbers of it, `parameters` (..., p): names, nominal values and
    units are its `parameters`. They broadcast with the state, so that one call serves many mechanisms of one structure.
    """

    parameters: Parameters


class MechanismKernel(Kernel[Result]):
    """A kernel of a mechanism that knows how it would be made for another one of the same structure."""

    tree: Tree
    remake: Remake

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel[Any]:
        """The kernel with external wrenches and the motion of the base as inputs, of those functions that have it.

        >>> cy.load("planar2r").inertia_matrix.with_inputs(base_motion=True)
        Traceback (most recent call last):
        cayley.errors.UnsupportedError: inertia_matrix takes no wrenches and no motion of the base: inverse_dynamics...
        """
        raise UnsupportedError(
            f"{self.__name__} takes no wrenches and no motion of the base: inverse_dynamics, forward_dynamics, "
            "bias_forces and joint_reactions do, by with_inputs(wrenches=..., base_motion=..., method=...)")

    def with_parameters(self, *words: str) -> KernelWithParameters[Result]:
        """The kernel with one more input, the array (..., p) of the parameters that the words choose; made once. See
        `cayley.model.parameters`. Values that the model has as zero stay zero, unless they are named in full.

        Arguments are not checked, as those of `unchecked` kernels are not.

        >>> torques = cy.load("s1_f2").inverse_dynamics.with_parameters("mass", "gravity")
        >>> torques.parameters
          0  link1.mass                                  2  kg
          1  link2.mass                                1.5  kg
          2  gravity.y                               -9.81  m/s^2
        >>> torques([0.3, -0.7], [1.1, -0.4], [0.5, 2.0], [2.0, 1.5, -9.81]).round(6)
        array([15.2001 ,  2.87612])
        """
        if not hasattr(self, "remake"):
            raise UnsupportedError(f"{self.__name__} takes no parameters: it depends on the kinds of the joints alone")
        return kept(self, ("with_parameters", words), lambda: _with_parameters(self, words))


def _with_parameters(kernel: MechanismKernel[Result], words: tuple[str, ...]) -> KernelWithParameters[Result]:
    chosen = chosen_parameters(kernel.tree, words)
    name = kernel.__name__
    inputs = (*kernel.inputs, "parameters")
    signature = Signature((*kernel.signature.inputs, (len(chosen),)), kernel.signature.outputs)
    doc = f"{kernel.__doc__}\nParameters, in their order, and their values in the model:\n{chosen}"

    def text(*arguments: Any) -> Array:  # noqa: ANN401 (as many as the kernel has)
        *state, values = arguments
        if is_symbolic(values):
            suppose(values, chosen.samples())
        made = kernel.remake(chosen.tree_with(values)).__wrapped__
        assert made is not None
        return made(*state)

    def make_program(bound: Mapping[str, int]) -> Program:
        return trace(text, signature, bound, name=name, inputs=inputs, outputs=kernel.outputs,
                     units=units_of(kernel.tree), description=doc)

    def explain(*arguments: Any) -> None:  # noqa: ANN401 (as many as the kernel has)
        *state, values = arguments
        reason = kernel.remake(chosen.tree_with(np.asarray(values, dtype=float)))._explain
        if reason is not None:
            reason(*state)

    beside = kernel._explain
    explained = ExplanationBeside(explain, beside.unknown) if isinstance(beside, ExplanationBeside) else explain
    made: KernelWithParameters[Result] = KernelWithParameters(
        signature, make_program, name=name, inputs=inputs, results=kernel.outputs, function=text, doc=doc,
        module=kernel.__module__, explain=explained, rebuild=(_again, (kernel.remake, kernel.tree, words)))
    made.parameters = chosen
    return made


def _again(remake: Remake, tree: Tree, words: tuple[str, ...]) -> KernelWithParameters:
    return remake(tree).with_parameters(*words)


def of_a_mechanism(
        make: Callable[Concatenate[Tree, Choices], Made]) -> Callable[Concatenate[Tree, Choices], Made]:
    """Let the kernel that a function makes for a mechanism remember how it was made."""
    @wraps(make)
    def remembered(tree: Tree, *choices: Choices.args, **named: Choices.kwargs) -> Made:
        made = make(tree, *choices, **named)
        made.tree = tree
        made.remake = Remake(remembered, choices, named)
        return made

    return remembered
