"""Packages that the plain installation does without, and the extras of `pip install 'cayley[...]'` that bring them.

Modules import them on first use, within `optional_imports`, so that where one is missing the error says what to
install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cayley.errors import MissingPackageError

EXTRAS = {  # by the name that is imported
    "PIL": "plots",
    "casadi": "bridges",
    "cloudpickle": "scale",
    "collada": "meshes",
    "contourpy": "plots",
    "control": "bridges",
    "cupy": "gpu",
    "dask": "scale",
    "distributed": "scale",
    "fast_simplification": "meshes",
    "gymnasium": "learning",
    "jax": "bridges",
    "matplotlib": "plots",
    "mpl_toolkits": "plots",
    "mpmath": "equations",
    "mujoco": "mjcf",
    "pandas": "tables",
    "rich": "cli",
    "sympy": "equations",
    "torch": "torch",
    "trimesh": "meshes",
    "typer": "cli",
    "viser": "studio",
    "websockets": "studio",
    "xacro": "xacro",
    "yaml": "xacro",
    "zarr": "scale",
}


@contextmanager
def optional_imports() -> Iterator[None]:
    """Context for imports of packages that may be missing: the error names the extra that brings them.

    >>> with optional_imports():
    ...     import sympy
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS or isinstance(error, MissingPackageError):
            raise
        missing = MissingPackageError(f"this needs the package {package}, which is not installed: "
                                      f"pip install 'cayley[{EXTRAS[package]}]'")
        missing.name = package  # as any ImportError has it
        raise missing from error
