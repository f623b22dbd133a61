"""What a direct position problem gives: all poses of the platform for given actuators, the assembly modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array


@dataclass(frozen=True, eq=False)
class Assemblies:
    """Poses (..., m, k) of the platform, those that exist first, NaN for the others; `count` (...) of them exist.

    `residual` (..., m) is how far the rods are from their lengths [m], computed anew from the poses.
    """

    poses: Array
    residual: Array

    @property
    def count(self) -> Array:
        """How many ways there are to put the machine together (...)."""
        return np.isfinite(self.poses).all(axis=-1).sum(axis=-1)

    @property
    def status(self) -> str:
        """"assembled", or "cannot be assembled" if that is so for one of the given actuator positions."""
        return "assembled" if (self.count > 0).all() else "cannot be assembled"

    def __repr__(self) -> str:
        if not self.count.size:
            return "<assemblies of no machine>"
        if self.poses.ndim > 2:
            return (f"<assemblies of {self.count.size} machines: {self.status}, {self.count.min()} to "
                    f"{self.count.max()} each>")
        rows = "".join(f"\n  {np.array2string(pose, precision=9)}" for pose in self.poses[:self.count])
        return f"<{self.status}: {self.count} assembly modes>{rows}"


def arranged(poses: Array, residual: Array, *, tolerance: float, apart: float) -> Assemblies:
    """Assemblies of candidates (..., m, k): those that close, without those that another has `apart` from it, sorted.
    """
    closes = np.isfinite(poses).all(axis=-1) & (residual <= tolerance)
    gaps = np.abs(poses[..., :, None, :] - poses[..., None, :, :]).max(axis=-1)
    earlier = np.tril(np.ones((poses.shape[-2],) * 2, dtype=bool), -1)
    again = ((gaps <= apart) & earlier & closes[..., None, :]).any(axis=-1)
    kept = closes & ~again
    order = np.argsort(np.where(kept, poses[..., -1], np.inf), axis=-1, kind="stable")
    shown = np.where(kept[..., None], poses, np.nan)
    sizes = np.where(kept, residual, np.nan)
    return Assemblies(np.take_along_axis(shown, order[..., None], -2), np.take_along_axis(sizes, order, -1))
