"""Functions of a mechanism that several published methods compute: the kernel of the default, and the others by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, Self

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Result
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import ConventionError
from cayley.kinematics.mechanism_kernel import MechanismKernel
from cayley.model.tree import Tree
from cayley.wording import did_you_mean


class Method(NamedTuple):
    """A method: its module, where it is published, and the links that it works on.

    The text is the module's function `function`.
    """

    module: str
    source: str
    links: Callable[[Tree], Any] = serial_chain  # `Links`, or what else the function takes in their place

    def text(self, tree: Tree, function: str) -> Callable[..., Any]:
        """The function of this method for a mechanism."""
        compute = getattr(import_module(self.module), function)
        links = self.links(tree)
        return lambda *state, **options: compute(links, *state, **options)

    def takes(self, option: str, function: str) -> bool:
        return option in signature(getattr(import_module(self.module), function)).parameters


class KernelWithMethods(MechanismKernel[Result]):
    """`arm.inverse_dynamics(q, qd, qdd)` computes by the default method, `arm.inverse_dynamics.using("kane")(q, qd,
    qdd)` by another.
    """

    methods: Mapping[str, Method] = {}
    _make: Callable[[str], Kernel[Result]]
    _made_by: Callable[[Tree], KernelWithMethods[Result]]

    def using(self, method: str) -> Kernel[Result]:
        """The kernel of a method by its name; made once. The names are `methods`."""
        self.check_method(method)
        return kept(self, method, lambda: self._make(method))

    def __reduce__(self) -> tuple[Callable[[Tree], KernelWithMethods[Result]], tuple[Tree]]:
        """Pickled as the tree and the function that makes it, so that the methods are there where it arrives."""
        return self._made_by, (self.tree,)

    def check_method(self, method: str) -> None:
        """That a method of this name exists."""
        if method not in self.methods:
            advice = did_you_mean(method, self.methods, otherwise=".")
            raise ConventionError(
                f"{self.__name__} has no method {method!r}{advice} The methods are {', '.join(self.methods)}")

    def with_methods(self, tree: Tree, methods: Mapping[str, Method], make: Callable[[str], Kernel[Any]], *,
                     made_by: Callable[[Tree], KernelWithMethods[Any]]) -> Self:
        """This kernel, with its other methods by name; `made_by` is the function of a module that gives all of it."""
        self.tree = tree
        self.methods = methods
        self._make = make
        self._made_by = made_by
        return self
