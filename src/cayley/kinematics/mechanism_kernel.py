"""Kernels of a mechanism, which can be made with numbers of the mechanism as inputs: parameters.

    torques = arm.inverse_dynamics.with_parameters("mass", "center")
    torques(q, qd, qdd, torques.parameters.with_values({"link2.mass": 3.0}))
The text of the kernel is traced for a mechanism whose numbers are symbols. Which of them are zero, which axes are
parallel and which angles are right is decided by the model, as for constants (`cayley.compiler.samples`); what depends
on the parameters alone, the grouped inertias of links among it, is computed once for each set of them
(`cayley.compiler.prepared_kernel`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.prepared_kernel import PreparedKernel
from cayley.compiler.program import Program
from cayley.compiler.samples import is_symbolic, suppose
from cayley.compiler.signature import Signature
from cayley.compiler.trace import trace
from cayley.compiler.typing import Array, Result
from cayley.errors import UnsupportedError
from cayley.kinematics.kernel_words import units_of
from cayley.model.parameters import Parameters, chosen_parameters
from cayley.model.tree import Tree

Choices = ParamSpec("Choices")
Made = TypeVar("Made", bound="MechanismKernel")


class KernelWithParameters(PreparedKernel[Result]):
    """A kernel of a mechanism whose last input are numbers of it, `parameters` (..., p): names, nominal values and
    units are its `parameters`. They broadcast with the state, so that one call serves many mechanisms of one structure.
    """

    parameters: Parameters


class MechanismKernel(Kernel[Result]):
    """A kernel of a mechanism that knows how it would be made for another one of the same structure."""

    tree: Tree
    remake: Callable[[Tree], Kernel]

    def with_parameters(self, *words: str) -> KernelWithParameters[Result]:
        """The kernel with one more input, the array (..., p) of the parameters that the words choose; see
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
        chosen = chosen_parameters(self.tree, words)
        inputs = (*self.inputs, "parameters")
        signature = Signature((*self.signature.inputs, (len(chosen),)), self.signature.outputs)
        units = units_of(self.tree)

        def text(*arguments: Any) -> Array:
            *state, values = arguments
            if is_symbolic(values):
                suppose(values, chosen.samples())
            made = self.remake(chosen.tree_with(values)).__wrapped__
            assert made is not None
            return made(*state)

        def make_program(bound: Mapping[str, int]) -> Program:
            return trace(text, signature, bound, name=self.__name__, inputs=inputs, outputs=self.outputs, units=units,
                         description=doc)

        def explain(*arguments: Any) -> None:
            *state, values = arguments
            reason = self.remake(chosen.tree_with(np.asarray(values, dtype=float)))._explain
            if reason is not None:
                reason(*state)

        doc = f"{self.__doc__}\nParameters, in their order, and their values in the model:\n{chosen}"
        made: KernelWithParameters[Result] = KernelWithParameters(
            signature, make_program, name=self.__name__, inputs=inputs, results=self.outputs, function=text, doc=doc,
            module=self.__module__, explain=explain,
            rebuild=(operator.methodcaller("with_parameters", *words), (self,)))
        made.parameters = chosen
        return made


def of_a_mechanism(
        make: Callable[Concatenate[Tree, Choices], Made]) -> Callable[Concatenate[Tree, Choices], Made]:
    """Let the kernel that a function makes for a mechanism remember how it was made."""
    @wraps(make)
    def remembered(tree: Tree, *choices: Choices.args, **named: Choices.kwargs) -> Made:
        made = make(tree, *choices, **named)
        made.tree = tree
        made.remake = lambda other: make(other, *choices, **named)
        return made

    return remembered
