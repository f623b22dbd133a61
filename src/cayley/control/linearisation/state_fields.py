"""A system as x' = f(x) + g1(x) u1 + ...: the vector fields of its drift and of its inputs, to ask what brackets know.

    linearisability(*affine_fields(arm.system()), at)
The g are derivatives of the system's text by its inputs, which must not depend on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.errors import SignatureError, UnsupportedError, did_you_mean
from cayley.systems import HasSystem, System

_AFFINE = 1e-9  # of the largest entry
_SPREAD = 0.5  # of states and inputs at which it is tried


class AffineFields(NamedTuple):
    """f(x) and the g(x), kernels of the state (n) with all its blocks one after the other."""

    drift: Kernel
    inputs: tuple[Kernel, ...]


def affine_fields(plant: System | HasSystem, inputs: Mapping[str, Sequence[int]] | None = None) -> AffineFields:
    """The vector fields f and g of a system x' = f(x) + g(x) u. `inputs`: the driven entries of each input, by default
    all. Inputs that are not driven are zero. `UnsupportedError`: the system depends on time, has modes, unit
    quaternions, or inputs that act in another way than by a factor.

    >>> import cayley as cy
    >>> from cayley.geometry.vector_fields import linearisability
    >>> arm = cy.load("planar2r").with_gravity([0.0, 0.0, 0.0])
    >>> print(linearisability(*affine_fields(arm), 0.3 * np.ones(4)))
    linear by feedback: chains of 2, 2 integrators
    >>> print(linearisability(*affine_fields(arm, {"tau": [0]}), 0.3 * np.ones(4)))
    not linear by feedback: ...
    """
    system = plant if isinstance(plant, System) else plant.system()
    _check(system)
    driven = _driven(system, inputs)
    n = system.layout.size
    sizes = [port.size for port in system.ports.values()]
    m = sum(sizes)

    def rate(x: Array, u: Array) -> Array:
        state = system.layout.state(x)
        parts = np.split(u, np.cumsum(sizes)[:-1])
        given = {name: np.reshape(part, port.shape) if port.shape else part[0]
                 for (name, port), part in zip(system.ports.items(), parts, strict=True)}
        found = system.tangents(0.0, state, system.input_record(given), system.parameter_record({}))
        return joined([as_vector(found[name]) for name in system.blocks])

    rates = kernel(f"({n}),({m})->({n})", name="rate")(rate)
    if m:
        _check_affine(system, rates, n, m, driven)
    none = np.zeros(m)
    return AffineFields(
        _named(lambda x: rates(x, none), n, "drift"),
        tuple(_named(lambda x, k=k: rates.jacobian("u")(x, none)[:, k], n, "input") for k in driven))


def _named(text: object, n: int, name: str) -> Kernel:
    return kernel(f"({n})->({n})", inputs=("x",), name=name)(text)  # type: ignore[arg-type]


def _check(system: System) -> None:
    curved = [name for name, block in system.blocks.items() if not block.is_flat]
    for is_so, words in ((system.is_timed, "depends on the time itself"), (bool(system.layout.modes), "has modes"),
                         (bool(curved), f"has {', '.join(curved)} on a curved manifold"),
                         (bool(system.constraints), "has constraints")):
        if is_so:
            raise UnsupportedError(f"{system.name} is not x' = f(x) + g(x) u of a vector x: it {words}")


def _driven(system: System, inputs: Mapping[str, Sequence[int]] | None) -> list[int]:
    """The places of driven entries among those of all inputs."""
    for name in inputs or {}:
        if name not in system.inputs:
            raise SignatureError(f"{system.name} has no input {name!r}{did_you_mean(name, system.inputs)}")
    found: list[int] = []
    start = 0
    for name, port in system.ports.items():
        chosen = range(port.size) if inputs is None else inputs.get(name, ())
        if any(not 0 <= k < port.size for k in chosen):
            raise SignatureError(f"the input {name!r} of {system.name} has {port.size} entries; asked for were "
                                 f"{list(chosen)}")
        found += [start + k for k in chosen]
        start += port.size
    return found


def _check_affine(system: System, rates: Kernel, n: int, m: int, driven: Sequence[int]) -> None:
    rng = np.random.default_rng(0)
    x = _SPREAD * rng.normal(size=(3, n))
    slopes = [rates.jacobian("u")(x, _SPREAD * rng.normal(size=(3, m)))[..., list(driven)] for _ in range(2)]
    if not (np.abs(slopes[0] - slopes[1]) <= _AFFINE * np.abs(slopes[0]).max(initial=1.0)).all():
        raise UnsupportedError(f"{system.name} is not x' = f(x) + g(x) u: the effect of an input depends on the inputs")
