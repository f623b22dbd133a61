"""Kernels that differ by something other than numbers: the frame of a pose, the axes of a Jacobian.

`@family("q")` turns a method that makes a kernel for one choice into a function that takes the arrays first, then the
choice:

    @family("q")
    def jacobian(self, frame, *, axes): ...              makes the kernel of one frame and one kind of axes
    arm.jacobian(q, "tool", axes="world")                computes
    arm.jacobian.of("tool", axes="world")                is the kernel that does it; it is made once
    arm.jacobian.c_source(frame="tool", axes="world")    is that of the kernel, as all that kernels have

`@one_kernel("q", "qd")` is the same for a method that makes one kernel alone, without a choice. The function of a
family is written from the method's signature, as dataclasses write theirs: keywords that it knows by name cost a
call nothing."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, cast, overload

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import Made, Owner, made_once, memo_of
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Result, Scalar
from cayley.errors import SignatureError
from cayley.explained_calls import meant, needs

if TYPE_CHECKING:
    from cayley.compiler.algebras.counts import Operations
    from cayley.compiler.algebras.equations import Equations
    from cayley.compiler.c.c_source import CSource

_FOR_THE_CALL = frozenset({"out", "dtype", "casting", "order"})
_EXPLAINED = frozenset({"axes"})  # choices that must be made, of which the kernel itself says what there is
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_OF_KERNELS = ("signature", "inputs", "outputs", *[name for name in vars(Kernel) if not name.startswith("_")])
_CALL = """
def bind(kernels, general):
    def {name}(self, {parameters}, **options):
        if not options and not _more and {last} is not MISSING:
            try:
                kernel = kernels[{choice}]
            except (KeyError, TypeError):  # not made yet, or a choice that is an array
                pass
            else:
                return kernel({arrays})
        return general([{arrays}], [{choice}], _more, options)
    return {name}
"""


class Given:
    """A choice that is not made beforehand: the kernel takes it as one more array."""

    def __repr__(self) -> str:
        return "GIVEN"


GIVEN = Given()


class Missing:
    """Stands for a choice that the call has left out, until the error says so."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class OfOneChoice:
    """An attribute of kernels on their family, `arm.pose.c_source`. With the choice as keywords,
    `arm.pose.c_source(frame="tool")`, it is the kernel's; without them, the error names the kernel to use."""

    def __init__(self, family: str, asked: str, required: str, of: Callable[..., Kernel],
                 choices: Collection[str]) -> None:
        self.__asked = asked
        self.__message = (f"{family}.{asked} is of one kernel, and the choice says of which: "
                          f"{family}.{asked}({required}), or that of {family}.of({required})")
        self.__of = of
        self.__choices = choices

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 (handed on)
        choice = {name: named.pop(name) for name in self.__choices if name in named}
        if not choice:
            raise AttributeError(self.__message)
        found = getattr(self.__of(**choice), self.__asked)
        return found(*arguments, **named) if inspect.ismethod(found) else found

    def __getattr__(self, name: str) -> None:
        raise AttributeError(name if name.startswith("_") else self.__message)

    def __repr__(self) -> str:
        return f"<{self.__message}>"


Choice = ParamSpec("Choice")


class KernelFamily(Protocol[Choice, Result]):
    """`family(q, "tool", axes="world")` computes; `family.of("tool", axes="world")` is the kernel."""

    __name__: str

    @overload
    def __call__(self, first: ArrayLike, /, *choice: Choice.args, **named: Choice.kwargs) -> Result: ...

    @overload
    def __call__(self, first: ArrayLike, second: ArrayLike, /, *choice: Choice.args,
                 **named: Choice.kwargs) -> Result: ...

    @overload
    def __call__(self, first: ArrayLike, second: ArrayLike, third: ArrayLike, /, *choice: Choice.args,
                 **named: Choice.kwargs) -> Result: ...

    @overload
    def __call__(self, *arguments: Any, out: Array, **named: Any) -> Result: ...  # noqa: ANN401 (as those before)

    @overload
    def __call__(self, *arguments: Any, dtype: DTypeLike, **named: Any) -> Result: ...  # noqa: ANN401 (as those before)

    def of(self, *choice: Choice.args, **named: Choice.kwargs) -> Kernel[Result]: ...

    # What the kernel has, for the choice by name

    def c_source(self, name: str | None = None, *, dtype: DTypeLike = ..., batch: bool = ...,
                 **choice: Any) -> CSource: ...  # noqa: ANN401 (as the family takes it)

    def operations(self, **choice: Any) -> Operations: ...  # noqa: ANN401 (as the family takes it)

    def equations(self, *, shared: bool | None = ..., **choice: Any) -> Equations: ...  # noqa: ANN401 (as before)

    def jacobian(self, variable: str, of: str | int | None = ...,
                 **choice: Any) -> Kernel[Any]: ...  # noqa: ANN401 (as the family takes it)

    def for_casadi(self, name: str | None = ..., **choice: Any) -> Any: ...  # noqa: ANN401 (a function of CasADi)

    def for_jax(self, **choice: Any) -> Callable[..., Any]: ...  # noqa: ANN401 (as the family takes it)

    def for_torch(self, **choice: Any) -> Callable[..., Any]: ...  # noqa: ANN401 (as the family takes it)


class FamilyOfMethod(Protocol[Choice, Result]):
    """The type of a method with `@family(...)`: an attribute that is a family."""

    def __get__(self, instance: object, owner: type | None = None) -> KernelFamily[Choice, Result]: ...


class family:
    """A decorator: the attribute that is called, made of a method that makes a kernel. `arrays` are the names of the
    arrays that come first; `given`, of choices that may be arrays too: the method then gets `GIVEN`, and its kernel one
    more input for each, in this order."""

    def __init__(self, *arrays: str, given: Sequence[str] = ()) -> None:
        self._arrays = arrays
        self._given = given

    def __call__(self, make: Callable[Concatenate[Any, Choice], Kernel[Result]]) -> FamilyOfMethod[Choice, Result]:
        self._make: Callable[..., Kernel[Any]] = make
        self._name = make.__name__
        typed = list(inspect.signature(make).parameters.values())[1:]
        parameters = [p.replace(annotation=p.empty, default=None if p.name in _EXPLAINED and p.default is p.empty
                                else p.default) for p in typed]
        self._signature = inspect.Signature(parameters)
        self._bind = self._written(parameters)
        update_wrapper(cast(Callable[..., Any], self), make)
        arrays = [inspect.Parameter(name, _POSITIONAL) for name in self._arrays]
        self._called = inspect.Signature([*arrays, *parameters])
        self.__signature__ = _as_called(self._arrays, typed, _result(make))
        return cast("FamilyOfMethod[Choice, Result]", self)

    def _written(self, parameters: Iterable[inspect.Parameter]) -> Callable[..., Any]:
        """The function, in which all may be left out and more be given, so that the error can say how it is called."""
        space: dict[str, Any] = {"MISSING": MISSING}
        optional = [p.replace(default=MISSING) if p.default is p.empty else p for p in parameters]
        spelled = inspect.Signature([
            *[inspect.Parameter(name, _POSITIONAL, default=MISSING) for name in self._arrays],
            *[p for p in optional if p.kind is _POSITIONAL],
            inspect.Parameter("_more", inspect.Parameter.VAR_POSITIONAL),
            *[p for p in optional if p.kind is not _POSITIONAL]])
        exec(_CALL.format(name=self._name, arrays=", ".join(self._arrays), parameters=str(spelled)[1:-1],
                          last=self._arrays[-1], choice="".join(f"{p.name}, " for p in parameters)), space)
        return space["bind"]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:  # noqa: ANN401 (any class may have a family)
        if instance is None:
            return self
        return memo_of(instance).once(vars(instance), self._name, lambda: self._made(instance))

    def _made(self, instance: Any) -> KernelFamily[..., Any]:  # noqa: ANN401 (any class may have a family)
        kernels: dict[tuple[Any, ...], Kernel] = {}

        def chosen(choice: Sequence[Any]) -> Kernel:
            named = dict(zip(self._signature.parameters, choice, strict=True))
            return memo_of(instance).once(kernels, tuple(choice), lambda: self._make(instance, **named))

        def of(*choice: str, **named: Any) -> Kernel:  # noqa: ANN401 (handed on)
            """The kernel of one choice; made once. `GIVEN` stands for a choice that is an array."""
            try:
                bound = self._signature.bind(*choice, **named)
            except TypeError as error:
                self._check_options({key: given for key, given in named.items()
                                     if key not in self._signature.parameters})
                raise SignatureError(
                    f"{self._name}.of: {error}; it is called {self._name}.of{self._signature}") from None
            bound.apply_defaults()
            words, arrays = self._split(list(bound.arguments.values()))
            if arrays:
                raise SignatureError(
                    f"{self._name}.of takes no arrays: say GIVEN, and give the array to the kernel after its others")
            return chosen(words)

        def general(arrays: list[Any], choice: list[Any], more: tuple[Any, ...], options: dict[str, Any]) -> Scalar:
            self._check_options(options)
            self._check_complete([*arrays, *choice], more)
            words, chosen_arrays = self._split(choice)
            return chosen(words)(*arrays, *chosen_arrays, **options)

        call = self._bind(kernels, general)  # a method, which is pickled as the name of an attribute of its instance
        call.of = of
        call.__doc__ = self.__doc__
        call.__module__ = self._make.__module__
        call.__signature__ = self.__signature__
        call.__qualname__ = self._name  # errors of a call do not name the class that the method is written in
        required = ", ".join(f"{p.name}=..."
                             for p in self._signature.parameters.values() if p.default is p.empty or p.name == "axes")
        for name in _OF_KERNELS:
            setattr(call, name, OfOneChoice(self._name, name, required, of, self._signature.parameters.keys()))
        return cast("KernelFamily[..., Any]", MethodType(call, instance))

    def _check_options(self, options: Mapping[str, Any]) -> None:
        known = dict.fromkeys([*self._signature.parameters, *sorted(_FOR_THE_CALL)])
        unknown = next((name for name in options if name not in _FOR_THE_CALL), "")
        if unknown:
            advice = meant(unknown, known).removesuffix(".")
            raise SignatureError(f"{self._name} has no option {unknown!r}; it has {', '.join(known)}{advice}")

    def _check_complete(self, given: Sequence[Any], more: Sequence[Any]) -> None:
        missing = [name for name, each in zip(self._called.parameters, given, strict=True) if each is MISSING]
        if missing:
            raise SignatureError(f"{needs(self._name, missing)}: it is called {self._name}{self._called}")
        if more:
            count = sum(p.kind is _POSITIONAL for p in self._called.parameters.values())
            raise SignatureError(f"{self._name} takes {count} positional arguments, not {count + len(more)}: it is "
                                 f"called {self._name}{self._called}")

    def _split(self, choice: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The choice with `GIVEN` for the arrays in it, and these arrays; other choices that are sequences become
        tuples."""
        words = list(choice)
        arrays = []
        for k, name in enumerate(self._signature.parameters):
            if name in self._given and not (words[k] is None or isinstance(words[k], (str, Given))):
                arrays.append(words[k])
                words[k] = GIVEN
            elif isinstance(words[k], list) or hasattr(words[k], "tolist"):
                words[k] = _plain(words[k])
        return words, arrays


class KernelOfMethod(made_once[Owner, Made]):
    """The type of a method with `@one_kernel(...)`: an attribute that is a kernel. Called on the class, as methods are,
    it takes the object first."""

    def __init__(self, make: Callable[[Owner], Made], arrays: Iterable[str], result: type | str) -> None:
        super().__init__(make)
        self.__signature__ = _as_called(arrays, [], result)

    def __call__(self, instance: Owner, *arrays: ArrayLike, **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        return cast(Kernel, self.__get__(instance))(*arrays, **options)


class one_kernel:
    """A decorator: the kernel that a method makes, as an attribute; `arrays` are the names of its arguments, so that
    `help` and the reference show the call, and not how the kernel is made.

    >>> class Arm:
    ...     @one_kernel("q")
    ...     def gravity_forces(self) -> Kernel:
    ...         ...
    >>> print(inspect.signature(Arm.gravity_forces))
    (self, q: 'ArrayLike') -> numpy.ndarray
    """

    def __init__(self, *arrays: str, returns: str = "") -> None:
        self._arrays = arrays
        self._returns = returns

    def __call__(self, make: Callable[[Owner], Made]) -> KernelOfMethod[Owner, Made]:
        return KernelOfMethod(make, self._arrays, self._returns or _result(make))


def _as_called(arrays: Iterable[str], choices: Iterable[inspect.Parameter], result: type | str) -> inspect.Signature:
    """The signature of a call on the arrays, with choices after them."""
    named = [inspect.Parameter(name, _POSITIONAL, annotation="ArrayLike") for name in arrays]
    return inspect.Signature([inspect.Parameter("self", _POSITIONAL), *named, *choices], return_annotation=result)


def _result(make: Callable[..., Any]) -> type | str:
    """The type of a kernel's result, from the annotation of the method that makes it: `LinkMotion` of
    `Kernel[LinkMotion]`."""
    found = re.search(r"\[(\w+)\]$", str(make.__annotations__.get("return", "")))
    return found[1] if found else np.ndarray


def _plain(choice: Any) -> Scalar:  # noqa: ANN401 (a word, or an array)
    """A list or array as a tuple, which can be the key of a kernel."""
    listed = choice.tolist() if hasattr(choice, "tolist") else choice
    return tuple(map(_plain, listed)) if isinstance(listed, (list, tuple)) else listed
