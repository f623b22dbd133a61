"""A full block of states between NumPy's memory, state by state, and a buffer, element by element: a transposition in
registers.

The elements of a row are taken in chunks of a power of two. With chunks of c elements, a vector of `width` lanes holds
the chunks of width / c states, c states apart, and the c by c squares in c such vectors are transposed together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cayley.compiler.native.control_flow import AssemblyText
from cayley.compiler.native.llvm import element_size


def move_side_by_side(text: AssemblyText, direction: str, memory: str, buffer: str, element: str, width: int) -> None:
    """One element a state, neighbours in memory too: a plain vector."""
    vector = f"<{width} x {element}>"
    size = element_size(element)
    there = f"ptr {memory}, align {size}"
    here = f"ptr {buffer}, align {size * width}"
    source, target = (there, here) if direction == "gather" else (here, there)
    value = text.let(f"load {vector}, {source}")
    text.do(f"store {vector} {value}, {target}")


def move_block(text: AssemblyText, direction: str, elements: int, memory: str, outer: str, buffer: str, element: str,
               width: int) -> None:
    """`width` states of a few contiguous elements each."""
    rows = [memory]
    for _ in range(1, width):
        rows.append(text.let(f"getelementptr i8, ptr {rows[-1]}, i64 {outer}"))
    first = 0
    move = _gather if direction == "gather" else _scatter
    while first < elements:
        chunk = min(width, 1 << ((elements - first).bit_length() - 1))
        columns = [text.let(f"getelementptr {element}, ptr {buffer}, i64 {(first + k) * width}") for k in range(chunk)]
        states = [text.let(f"getelementptr {element}, ptr {row}, i64 {first}") for row in rows]
        move(text, states, columns, element, width)
        first += chunk


def _gather(text: AssemblyText, states: Sequence[str], columns: Sequence[str], element: str, width: int) -> None:
    chunk = len(columns)
    size = element_size(element)
    loaded = [text.let(f"load <{chunk} x {element}>, ptr {state}, align {size}") for state in states]
    joined = [_joined(text, loaded[k::chunk], chunk, element) for k in range(chunk)]
    for value, column in zip(transposed(text, joined, chunk, width, element), columns, strict=True):
        text.do(f"store <{width} x {element}> {value}, ptr {column}, align {size * width}")


def _scatter(text: AssemblyText, states: Sequence[str], columns: Sequence[str], element: str, width: int) -> None:
    chunk = len(columns)
    size = element_size(element)
    loaded = [text.let(f"load <{width} x {element}>, ptr {column}, align {size * width}") for column in columns]
    for k, value in enumerate(transposed(text, loaded, chunk, width, element)):
        for group, state in enumerate(states[k::chunk]):
            part = value if chunk == width else _shuffled(text, value, "poison", width, element,
                                                          range(group * chunk, (group + 1) * chunk))
            text.do(f"store <{chunk} x {element}> {part}, ptr {state}, align {size}")


def transposed(text: AssemblyText, vectors: list[str], chunk: int, width: int, element: str) -> list[str]:
    """Every chunk by chunk square in `chunk` vectors of `width` lanes, by exchanges at growing distance."""
    distance = 1
    while distance < chunk:
        low = [lane if not lane & distance else width + lane - distance for lane in range(width)]
        high = [lane + distance if not lane & distance else width + lane for lane in range(width)]
        new = list(vectors)
        for i in (i for i in range(chunk) if not i & distance):
            a = vectors[i]
            b = vectors[i + distance]
            new[i] = _shuffled(text, a, b, width, element, low)
            new[i + distance] = _shuffled(text, a, b, width, element, high)
        vectors = new
        distance = 2 * distance
    return vectors


def _joined(text: AssemblyText, parts: list[str], lanes: int, element: str) -> str:
    """Short vectors one after the other in a long one."""
    while len(parts) > 1:
        parts = [
            _shuffled(text, a, b, lanes, element, range(2 * lanes))
            for a, b in zip(parts[::2], parts[1::2], strict=True)]
        lanes *= 2
    return parts[0]


def _shuffled(text: AssemblyText, a: str, b: str, lanes: int, element: str, picks: Iterable[int]) -> str:
    mask = [f"i32 {p}" for p in picks]
    vector = f"<{lanes} x {element}>"
    return text.let(f"shufflevector {vector} {a}, {vector} {b}, <{len(mask)} x i32> <{', '.join(mask)}>")
