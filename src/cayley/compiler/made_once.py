"""What is made once for an object, and dies with it: the kernels of a mechanism, what is known of a tree.

It is kept in the object's own dictionary: nothing outlives the object, and an attribute that has been made is looked up
as any other. Threads that ask at once get the same thing, which one of them makes. An object that is pickled says in
`__getstate__` what its data are; what is kept here is made anew where it arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import RLock
from typing import Any, Generic, TypeVar, cast, overload

Owner = TypeVar("Owner")
Made = TypeVar("Made")

_PLACE = "_made_once"


class Memo:
    """What was made for one object, by key. The lock lets the thread that makes one thing make another on the way."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.made: dict[Hashable, Any] = {}


def memo_of(owner: object) -> Memo:
    """The memo of an object, which has a dictionary."""
    return vars(owner).get(_PLACE) or vars(owner).setdefault(_PLACE, Memo())


def kept(owner: object, key: Hashable, make: Callable[[], Made]) -> Made:
    """What `make` gives, kept with the owner under a key for the next time.

    >>> class Arm: pass
    >>> arm = Arm()
    >>> kept(arm, "sizes", lambda: [1, 2]) is kept(arm, "sizes", lambda: [3])
    True
    """
    memo = memo_of(owner)
    if key not in memo.made:
        with memo.lock:
            if key not in memo.made:
                memo.made[key] = make()
    return memo.made[key]


class made_once(Generic[Owner, Made]):
    """Of a method without arguments, the attribute that it makes at first use.

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

    def __init__(self, make: Callable[[Owner], Made]):
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
        made = vars(instance)
        with memo_of(instance).lock:
            if self._name not in made:
                made[self._name] = self._make(instance)
        return made[self._name]
