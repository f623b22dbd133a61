"""Arrays on disk: one .npz file with the arrays, and a JSON text that says what they are. No pickles: a file is data.

What a file would take is read from its directory and the headers of its arrays, before anything is unpacked."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from cayley.compiler.typing import Array
from cayley.errors import ModelError, UnsupportedError
from cayley.model.formats.files import read_bytes

MOST_UNPACKED = 2**29  # bytes of all arrays
MOST_LETTERS = 2**24  # of the text
MOST_ARRAYS = 10_000
_ENTRY = b"PK\x01\x02"  # with which each line of a zip file's directory begins
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # NumPy's; others unpack without a bound
_KINDS = "biufcU"  # of numbers and texts


def write_arrays(path: str | Path, about: Mapping[str, object], arrays: Mapping[str, Array]) -> Path:
    """Write the file, whole or not at all; the suffix .npz is added if it is missing."""
    target = Path(path)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    text = np.array(json.dumps(about, default=_plain))
    total = sum(array.nbytes for array in arrays.values())
    if len(arrays) >= MOST_ARRAYS or text.nbytes > 4 * MOST_LETTERS or total + text.nbytes > MOST_UNPACKED:
        raise UnsupportedError(f"{target} would have more than {MOST_UNPACKED // 2**20} MiB, or {MOST_ARRAYS} arrays, "
                               "and would not be read again: save it in parts, or its arrays with np.save")
    temporary = target.with_name(target.name + ".part")
    try:
        with temporary.open("wb") as stream:
            np.savez_compressed(stream, about=text, **arrays)  # type: ignore[arg-type]
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def read_arrays(path: str | Path) -> tuple[Any, dict[str, Array]]:
    """The text of a file, read as JSON, and its arrays by their names. A file that is damaged raises what NumPy,
    zipfile and its decompressors do; one that would fill the memory, a `ModelError`."""
    data = read_bytes(path, most=MOST_UNPACKED)
    if data.count(_ENTRY) > MOST_ARRAYS:
        raise ModelError(f"{path} has more than {MOST_ARRAYS} arrays, the most that can be read")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_size(path, archive)
        arrays = {entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in archive.infolist()}
    return json.loads(str(arrays.pop("about"))), arrays


def _check_size(path: str | Path, archive: zipfile.ZipFile) -> None:
    """Check the sizes in the directory of the file before anything is unpacked."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED:
        raise ModelError(f"{path} would be larger than {MOST_UNPACKED // 2**20} MiB when unpacked, which is more than "
                         "is read")
    if sizes.get("about.npy", 0) > 5 * MOST_LETTERS:
        raise ModelError(f"{path} has a text of more than {MOST_LETTERS} letters, the most that can be read")
    unusual = next((entry for entry in archive.infolist() if entry.compress_type not in _PACKED), None)
    if unusual is not None:
        raise ModelError(f"{path}: {unusual.filename} is packed in a way that NumPy does not use")


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    with archive.open(entry) as stream:
        version = npy.read_magic(stream)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, kind = read_header(stream)
        size = entry.file_size - stream.tell()
        if kind.kind not in _KINDS or min(shape, default=1) < 0 or prod(shape) * kind.itemsize != size:
            raise ValueError(f"{entry.filename} says that it is {kind} of the shape {shape}, and has {size} bytes")
        values = bytearray(size)
        place = 0
        while part := stream.read(2**20):
            values[place:place + len(part)] = part
            place += len(part)
    if place != size:
        raise EOFError(f"{entry.filename} ends after {place} of {size} bytes")
    return np.frombuffer(values, kind).reshape(shape, order="F" if by_columns else "C")


def _plain(value: object) -> object:
    """NumPy's numbers and arrays as JSON's."""
    return np.asarray(value).tolist()
