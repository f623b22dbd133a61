"""A few ordinary states for every kernel of rotations, chosen by the shapes and names of its inputs: for the parity
harness.
"""

import numpy as np

from cayley.compiler.kernel import Kernel

random = np.random.default_rng(11)
QUATERNIONS = random.normal(size=(4, 4))
QUATERNIONS /= np.linalg.norm(QUATERNIONS, axis=1, keepdims=True)
VECTORS = random.normal(size=(6, 3))
AXES = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)


def kernels_of(*modules) -> list[Kernel]:
    """The public kernels that the modules define."""
    return [k for m in modules for name, k in vars(m).items()
            if isinstance(k, Kernel) and k.__module__ == m.__name__ and not name.startswith("_")]


def sample_arguments(kernel: Kernel, states: int = 2) -> list[np.ndarray]:
    """States for each input; two inputs of one kind are different."""
    inputs = zip(kernel.inputs, kernel.signature.inputs, strict=True)
    return [_sample(name, core, shift, states) for shift, (name, core) in enumerate(inputs)]


def _sample(name: str, core: tuple, shift: int, states: int) -> np.ndarray:
    quaternions, vectors, axes = (np.roll(a, -shift, axis=0) for a in (QUATERNIONS, VECTORS, AXES))
    if name == "B":
        return np.stack([np.cross(np.eye(3), v).T for v in vectors[:states]])
    if name in ("axis", "x", "y", "z", "d", "a", "b") and core == (3,):
        return 0.6 * axes[:states] if name != "axis" else axes[:states]
    if core == (3, 3):
        return np.stack([_matrix(q) for q in quaternions[:states]])
    return {(): np.array([0.4, 2.3])[:states], (3,): vectors[:states], (4,): quaternions[:states],
            ("n", 3): np.stack([vectors[k:k + 3] for k in range(states)]),
            ("n", 4): np.stack([quaternions[k:k + 3] for k in range(states)])}[core]


def _matrix(q):
    w, v = q[0], q[1:]
    cross = np.cross(np.eye(3), v).T
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross
