"""Two ordinary states for every kernel of rates and motions, chosen by the names and shapes of its inputs: for the
parity harness.
"""

from zlib import crc32

import numpy as np

from cayley.compiler.kernel import Kernel
from geometry.rotation_samples import kernels_of
from geometry.strategies import matrix_of

__all__ = ["has_small_jacobians", "kernels_of", "sample_arguments"]

random = np.random.default_rng(23)
VECTORS = random.normal(size=(12, 3))
UNITS = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
FORMS = random.normal(size=(12, 4))
QUATERNIONS = FORMS / np.linalg.norm(FORMS, axis=1, keepdims=True)
MATRICES = np.stack([matrix_of(q) for q in QUATERNIONS])
POSES = np.tile(np.eye(4), (12, 1, 1))
POSES[:, :3, :3], POSES[:, :3, 3] = MATRICES, VECTORS[::-1]
LINES = np.concatenate([UNITS, np.cross(VECTORS[::-1], UNITS)], axis=1)
BY_NAME = {
    "axis": UNITS, "direction": UNITS, "n": UNITS, "line": LINES, "line_b": LINES, "line_1": LINES, "line_2": LINES,
    "bend": np.linspace(0.2, 1.1, 12), "bend_in": np.linspace(0.2, 1.1, 12), "bend_out": np.linspace(0.9, 0.3, 12),
    "cosine_sign": np.ones(12), "a": 0.7 * VECTORS / np.max(np.abs(VECTORS)),
}


def sample_arguments(kernel: Kernel) -> list[np.ndarray]:
    """Two states for each input; inputs of one kind are different. The same for a kernel whichever tests ran before."""
    random = np.random.default_rng(crc32(kernel.__name__.encode()))
    if kernel.__name__ in ("matrix_from_tangent_pair", "homogeneous_from_tangent_pair",
                           "vector_parameter_from_tangent_pair", "compose_tangent_pairs"):
        return [MATRICES[k:k + 2, :, column] for k in (0, 2) for column in (0, 1)][:len(kernel.inputs)]
    if kernel.__name__ == "between_lines":
        return [LINES[:2], LINES[5:7]]
    # not good ones, whose defects are mere rounding
    if kernel.__name__.endswith("_defect") and "velocity" not in kernel.__name__:
        return [random.normal(size=(2, *core)) for core in kernel.signature.inputs]
    inputs = zip(kernel.inputs, kernel.signature.inputs, strict=True)
    return [_sample(random, name, core, 2 * shift) for shift, (name, core) in enumerate(inputs)]


def has_small_jacobians(kernel: Kernel) -> bool:
    """Whether its Jacobians have at most 100 elements each and are at most 20: more take long to compile and show
    nothing new.
    """
    sizes = [[int(np.prod([3 if d == "n" else d for d in core])) for core in cores]
             for cores in (kernel.signature.inputs, kernel.signature.outputs)]
    return max(sizes[0]) * max(sizes[1]) <= 100 and len(sizes[0]) * len(sizes[1]) <= 20


def _sample(random: np.random.Generator, name: str, core: tuple, start: int) -> np.ndarray:
    if name == "points" and core == (3, 3):
        return np.eye(3) + 0.3 * random.normal(size=(2, 3, 3))  # far from a line, from tr(P) = 0 and from c2(P) = 0
    chosen = BY_NAME.get(name)
    if chosen is not None and np.shape(chosen)[1:] == core:
        return chosen[start % 10:][:2]
    if core == (3, 3):
        return (MATRICES if name in ("R", "R_ab") else random.normal(size=(12, 3, 3)))[start % 10:][:2]
    if core == (4, 4):
        return (POSES if name != "dT" else random.normal(size=(12, 4, 4)))[start % 10:][:2]
    if core == (4,):
        return (QUATERNIONS if name in ("h", "q", "h1", "h2") else FORMS)[start % 10:][:2]
    if core == (2, 4):
        return np.stack([[QUATERNIONS[k], _dual_part(k)] for k in (start, start + 1)])
    if core == (2, 3, 3):
        return np.stack([[MATRICES[k], np.cross(VECTORS[k], MATRICES[k].T).T] for k in (start, start + 1)])
    if core == (3,):
        return VECTORS[start % 10:][:2]
    sizes = {"n": 3}
    return np.random.default_rng(start + 5).normal(size=(2, *[sizes.get(d, d) for d in core]))


def _dual_part(k: int) -> np.ndarray:
    d = FORMS[k - 1]
    return d - QUATERNIONS[k] * (QUATERNIONS[k] @ d)
