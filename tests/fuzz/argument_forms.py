"""Calls of kernels in random forms: containers, types, strides, batches, `out`, names. Each gives what NumPy would, or
a typed error, and leaves its arguments as they were. `check(seed)` makes one call."""

from functools import cache

import numpy as np

import cayley as cy
from cayley.errors import CayleyError

SHAPES = {"a": (3,), "b": (3, 3), "c": ()}


@cache
def compiled():
    return cy.kernel("(3),(3,3),()->(3),()", inputs=["a", "b", "c"], outputs=("moved", "length"))(text)


def text(a, b, c):
    moved = b @ a + c * a
    return moved, moved @ moved


def check(seed):
    random = np.random.default_rng(seed)
    batch = tuple(random.integers(0, 4, size=random.integers(0, 3)).tolist())
    plain = {name: _values(random, shape, batch) for name, shape in SHAPES.items()}
    given = {name: _form(random, value) for name, value in plain.items()}
    before = {name: np.array(value, dtype=object, copy=True) for name, value in given.items()}
    faults = _spoiled(random, given)
    try:
        found = _called(random, given)
    except (CayleyError, TypeError, ValueError) as error:
        assert faults, f"{faults or 'a good call'} is refused: {error!r}"
        assert not isinstance(error, (TypeError, ValueError)) or isinstance(
            error, CayleyError) or "cast" in str(error), repr(error)
    else:
        assert not faults, f"{faults} is accepted"
        _compared(found, plain, [np.asarray(value).dtype for value in given.values()])
    for name, value in before.items():
        if name not in faults:
            np.testing.assert_array_equal(np.array(given[name], dtype=object), value)


def _values(random, shape, batch):
    """Numbers that every type holds."""
    own = batch[random.integers(0, len(batch) + 1):] if random.random() < 0.5 else batch
    return random.integers(-3, 4, size=(*own, *shape)).astype(float)


def _form(random, value):
    kind = random.integers(8)
    if kind == 0 and value.size:
        return value.tolist()
    if kind == 1:
        return value.astype(str(random.choice(["float32", "int8", "int64", "float16"])))
    if kind == 2 and value.ndim:
        return np.ascontiguousarray(value[..., ::-1])[..., ::-1]
    if kind == 3 and value.ndim:  # NumPy gives a scalar an axis here
        return np.asfortranarray(value)
    if kind == 4 and value.ndim:
        wide = np.zeros((*value.shape[:-1], 2 * value.shape[-1]))
        wide[..., ::2] = value
        return wide[..., ::2]
    if kind == 5:
        frozen = value.copy()
        frozen.flags.writeable = False
        return frozen
    if kind == 6:
        return value.astype(">f8")
    return value


def _spoiled(random, given):
    """Sometimes one argument is wrong: what was done."""
    if random.random() < 0.7:
        return {}
    name = str(random.choice(list(given)))
    value = np.asarray(given[name], dtype=float)
    kind = random.integers(4)
    if kind == 0 and value.ndim >= 1 and name != "c":
        given[name] = np.concatenate([value, value], axis=-1)
    elif kind == 1:
        given[name] = value + 1j
    elif kind == 2:
        given[name] = "three"
    elif name != "c":
        given[name] = np.float64(1.0)
    else:
        given[name] = None
    return {name: given[name]}


def _called(random, given):
    kernel, way = compiled(), random.integers(4)
    if way == 0:
        return kernel(*given.values())
    if way == 1:
        return kernel(**given)
    if way == 2:
        a, b, c = given.values()
        return kernel(a, c=c, b=b)
    shape = np.broadcast_shapes(
        *[np.shape(given[name])[:np.ndim(given[name]) - len(core)] for name, core in SHAPES.items()])
    out = (np.full((*shape, 3), np.nan), np.full(shape, np.nan))
    found = kernel(*given.values(), out=out)
    assert found[0] is out[0] and found[1] is out[1]
    return found


def _compared(found, plain, types):
    a, b, c = (np.asarray(value) for value in plain.values())
    moved = (b @ a[..., None])[..., 0] + c[..., None] * a
    assert found.moved.shape == moved.shape
    single = all(kind == np.float32 for kind in types)
    np.testing.assert_allclose(found.moved, moved, atol=1e-5 if single else 1e-12)
    np.testing.assert_allclose(found.length, (moved * moved).sum(axis=-1), atol=1e-4 if single else 1e-11)
