"""Functions of a mechanism that several published methods compute: a kernel of the default, and others by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, Self

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Result
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import ConventionError, did_you_mean
from cayley.explained_calls import with_explained_calls
from cayley.kinematics.mechanism_kernel import MechanismKernel
from cayley.model.tree import Tree


class Method(NamedTuple):
    """A method: its module, where it is published, and the links that it works on.

    The text is the module's function `function`."""

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


def methods_of(package: str, table: Mapping[str, Method]) -> dict[str, Method]:
    """A table of methods whose modules are in one package."""
    return {name: method._replace(module=f"{package}.{method.module}") for name, method in table.items()}


def check_method(name: str, method: str, methods: Mapping[str, Method]) -> None:
    """Check that a function has a method of this name."""
    if method not in methods:
        advice = did_you_mean(method, methods, otherwise=".")
        raise ConventionError(f"{name} has no method {method!r}{advice} The methods are {', '.join(methods)}")


@with_explained_calls
class MethodKernel(MechanismKernel[Result]):
    """The kernel of one method of a function of a mechanism."""

    whole: KernelWithMethods[Result]
    method: str

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel[Any]:
        """The kernel of this method with wrenches and the motion of the base as inputs, as that of the function."""
        return self.whole.with_inputs(wrenches=wrenches, axes=axes, base_motion=base_motion, method=self.method)


@with_explained_calls
class KernelWithMethods(MechanismKernel[Result]):
    """`arm.inverse_dynamics(q, qd, qdd)` computes by the default method, `arm.inverse_dynamics.using("kane")(q, qd,
    qdd)` by another."""

    methods: Mapping[str, Method] = {}
    _make: Callable[[str], MethodKernel[Result]]
    _made_by: Callable[[Tree], KernelWithMethods[Result]]

    def using(self, method: str) -> MethodKernel[Result]:
        """The kernel of one of the `methods` by its name, with the `with_inputs` of this one; made once."""
        self.check_method(method)
        made = kept(self, method, lambda: self._make(method))
        made.whole = self
        made.method = method
        return made

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body", base_motion: bool = False,
                    method: str | None = None) -> MechanismKernel[Any]:
        """The kernel of a method, the default if none is named, with wrenches and the motion of the base as inputs."""
        return super().with_inputs(wrenches=wrenches, axes=axes, base_motion=base_motion)

    def __reduce__(self) -> tuple[Callable[[Tree], KernelWithMethods[Result]], tuple[Tree]]:
        """Pickled as the tree and the function that makes it, so that the methods are there where it arrives."""
        return self._made_by, (self.tree,)

    def check_method(self, method: str) -> None:
        """Check that a method of this name exists."""
        check_method(self.__name__, method, self.methods)

    def with_methods(self, tree: Tree, methods: Mapping[str, Method], make: Callable[[str], MethodKernel[Any]], *,
                     made_by: Callable[[Tree], KernelWithMethods[Any]]) -> Self:
        """The kernel with its other methods by name; `made_by` is the function of a module that gives all of it."""
        self.tree = tree
        self.methods = methods
        self._make = make
        self._made_by = made_by
        return self
