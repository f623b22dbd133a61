"""Text in JavaScript, run in a headless Chromium: numbers go there and back bit by bit."""

from __future__ import annotations

import atexit
import base64
import json
from functools import cache
from pathlib import Path

import numpy as np

from cayley.compiler.backends.javascript import function_name, javascript_text, parameters_of
from cayley.compiler.tracing.program import Program
from studio.browser import Browser, NoBrowser, chromium

BLANK = Path(__file__).with_name("blank.html")
_NUMBERS = """{
    const read = text => new Float64Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const written = list => btoa(Array.from(new Uint8Array(Float64Array.from(list).buffer),
                                            c => String.fromCharCode(c)).join(""));
"""


def is_there() -> bool:
    """Whether there is a browser."""
    try:
        chromium()
    except NoBrowser:
        return False
    return True


@cache
def browser() -> Browser:
    """One for all tests of a process, with an empty page."""
    made = Browser()
    atexit.register(made.__exit__)
    made.open(BLANK, width=800)
    return made


def run(program: Program, arguments) -> list[np.ndarray]:
    """The outputs of a program for all states, each (states, *shape)."""
    name = function_name(program.name)
    count = len(arguments[0]) if len(arguments) else 1
    calls = ", ".join(f"given[{k}].subarray(state*{len(v.nodes)}, (state + 1)*{len(v.nodes)})" if v.shape
                      else f"given[{k}][state]" for k, v in enumerate(program.inputs))
    values = ", ".join(f"...{_field(program, k)}" if v.shape else _field(program, k)
                       for k, v in enumerate(program.outputs))
    text = f"""{_NUMBERS}{javascript_text(program, name)}
    const given = {json.dumps([_sent(a) for a in arguments])}.map(read), found = [];
    for (let state = 0; state < {count}; ++state) {{
        const result = {name}({calls});
        found.push({values});
    }}
    written(found);
}}"""
    flat = np.frombuffer(base64.b64decode(browser().evaluate(text)), dtype=float).reshape(count, -1)
    ends = np.cumsum([len(v.nodes) for v in program.outputs])[:-1]
    parts = np.split(flat, ends, axis=1)
    return [part.reshape(count, *v.shape) for part, v in zip(parts, program.outputs, strict=True)]


def call(text: str, expression: str, *arguments) -> np.ndarray:
    """The flat numbers that an expression of `given`, the arguments as flat arrays, is after a text."""
    body = f"""{_NUMBERS}{text}
    const given = {json.dumps([_sent(a) for a in arguments])}.map(read);
    written({expression});
}}"""
    return np.frombuffer(base64.b64decode(browser().evaluate(body)), dtype=float)


def _field(program: Program, place: int) -> str:
    names = parameters_of(program, function_name(program.name)).outputs
    return "result" if len(names) == 1 else f"result.{names[place]}"


def _sent(array) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=float).tobytes()).decode()
