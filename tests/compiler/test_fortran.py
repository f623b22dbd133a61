"""Text in Fortran beside the kernels it was written of."""

import re

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import backend_named
from cayley.errors import UnsupportedError
from compiler import fortran


def text_of(kernel, precision="double", **dimensions):
    text, = backend_named("fortran").files(kernel.program(**dimensions), precision).values()
    return text


@cy.kernel("(3),(),(2,3)->(2),(),(2,2)", outputs=("B", "b", "out"))
def mixed(T, t, A):
    """Everything that generated text may have: matrices, choices, roots, and names that differ in capitals alone."""
    root = np.sqrt(1 + T @ T)
    return (A @ T / 3 + np.sin(t) * np.exp(-root), cy.where(t > 0.5, np.arctan2(t, root), np.abs(t) ** 3),
            np.minimum(A @ A.T, 7 * root) ** -2)


@pytest.mark.parametrize("t", [0.3, 0.9, -1.7])
def test_a_text_computes_what_the_kernel_does(t, tmp_path):
    rng = np.random.default_rng(0)
    T, A = rng.normal(size=3), rng.normal(size=(2, 3))
    text = text_of(mixed)
    expected = mixed(T, t, A)
    for found, value in zip(fortran.run(text, T, t, A), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-13)
    if fortran.COMPILER:
        outputs = [np.zeros(2), np.zeros(()), np.zeros((2, 2), order="F")]
        for found, value in zip(fortran.compiled(text, tmp_path, T, t, A, outputs=outputs), expected, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-13)


def test_names_differ_in_more_than_capitals_and_are_no_words_of_the_language():
    @cy.kernel("(),(),()->()", outputs=("SUM",))
    def real(sin, Sin, merge):
        return sin + 2 * Sin * merge

    text = text_of(real)
    assert fortran.run(text, 1.0, 2.0, 3.0) == [13.0]
    assert "subroutine real_(sin_, Sin__, merge_, SUM_)" in text


def test_names_are_no_longer_than_fortran_allows():
    long = "a" * 80
    inputs = [long + end for end in ("", "B", "b")]
    kernels = [cy.kernel("(),(),()->()", name=f"{long}_{k}", inputs=inputs, outputs=(long + "_out",))(
        lambda x, y, z: x + 2 * y * z) for k in range(2)]
    files = [name for k in kernels for name in backend_named("fortran").files(k.program(), "double")]
    assert len(set(files)) == 2
    for text in map(text_of, kernels):
        assert fortran.run(text, 1.0, 2.0, 3.0) == [13.0]
        assert max(map(len, re.findall(r"\w+", text))) <= 63
        assert len({name.lower() for name in re.findall(r":: (a\w+)", text)}) == 4


def test_numbers_have_the_precision_that_is_asked_for():
    @cy.kernel("()->()")
    def third(x):
        return x / 3 + 0.1 * x**2 + 1e-9

    assert "wp = kind(1.0)\n" in text_of(third, "float") and "wp = kind(1.0d0)\n" in text_of(third)
    assert "0.1_wp" in text_of(third) and "1e-09_wp" in text_of(third)
    assert fortran.run(text_of(third), 2.0)[0] == pytest.approx(third(2.0), rel=1e-15)


def test_what_fortran_has_no_function_for_is_refused_by_name():
    @cy.kernel("()->()")
    def rounded(x):
        return np.floor(x) % 3.0

    with pytest.raises(UnsupportedError, match="Fortran has no function for"):
        text_of(rounded)
