"""Things made once for an object, which die with it: the kernels of a mechanism, the structure of a tree.

It is kept in the object's own dictionary: nothing outlives the object, and an attribute that has been made is looked up
as any other. Threads that ask at once get the same thing, which one of them makes. What is kept here is not pickled: it
is made anew where the object arrives. An object says in `__getstate__` what its data are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from functools import update_wrapper, wraps
from threading import RLock
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

Owner = TypeVar("Owner")
Made = TypeVar("Made")
Choice = ParamSpec("Choice")

MEMO = "_made_once"


class Memo:
    """The things made for one object, by key. The lock lets the thread that makes one thing make another on the way."""

    def __init__(self) -> None:
        self.made: dict[Hashable, Any] = {}
        self._lock = RLock()

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()  # empty where it arrives: what was made is made anew

    def once(self, place: MutableMapping[Any, Any], key: Hashable, make: Callable[[], Made]) -> Made:
        """The value of a dictionary at a key. `make` makes it if there is none."""
        if key not in place:
            with self._lock:
                if key not in place:
                    place[key] = make()
        return place[key]


def memo_of(owner: object) -> Memo:
    """The memo of an object, which must have a dictionary."""
    return vars(owner).get(MEMO) or vars(owner).setdefault(MEMO, Memo())


def kept(owner: object, key: Hashable, make: Callable[[], Made]) -> Made:
    """The result of `make`, kept with the owner under a key for the next time.

    >>> class Arm: pass
    >>> arm = Arm()
    >>> kept(arm, "sizes", lambda: [1, 2]) is kept(arm, "sizes", lambda: [3])
    True
    """
    memo = memo_of(owner)
    return memo.once(memo.made, key, make)


def kept_with_owner(
        make: Callable[Concatenate[Owner, Choice], Made]) -> Callable[Concatenate[Owner, Choice], Made]:
    """A decorator: a function of an object and of choices that can be keys, which makes each thing once.

    >>> class Arm: pass
    >>> @kept_with_owner
    ... def sizes(arm, unit): return [1, 2]
    >>> arm = Arm()
    >>> sizes(arm, "m") is sizes(arm, "m"), sizes(arm, "m") is sizes(arm, "cm"), sizes(arm, "m") is sizes(Arm(), "m")
    (True, False, False)
    """
    @wraps(make)
    def made(owner: Owner, *choice: Choice.args, **named: Choice.kwargs) -> Made:
        return kept(owner, (make, *choice, *sorted(named.items())), lambda: make(owner, *choice, **named))

    return made


class made_once(Generic[Owner, Made]):
    """A decorator: the attribute that a method without arguments makes at first use.

    >>> class Arm:
    ...     @made_once
    ...     def reach(self) -> float:
    ...         print("measured")
    ...         return 0.9
    >>> arm = Arm()
    >>> arm.reach + arm.reach
    measured
    1.8
    """

    def __init__(self, make: Callable[[Owner], Made]) -> None:
        self._make = make
        self._name = make.__name__
        update_wrapper(cast(Any, self), make)

    @overload
    def __get__(self, instance: None, owner: type[Owner]) -> made_once[Owner, Made]: ...
    @overload
    def __get__(self, instance: Owner, owner: type[Owner] | None = None) -> Made: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return memo_of(instance).once(vars(instance), self._name, lambda: self._make(instance))
