"""Files of arrays that would fill the memory, wait for ever or run something are refused before they are unpacked."""

import io
import json
import os
import resource
import tracemalloc
import zipfile

import numpy as np
import pytest

from cayley.errors import CayleyError, ModelError, UnsupportedError
from cayley.model.formats.array_file import MOST_ARRAYS, MOST_UNPACKED, read_arrays, write_arrays
from cayley.planning import load_motion, point_to_point
from cayley.simulation import Trajectory

ABOUT = np.array(json.dumps({"format": "cayley motion 1", "motion": {"array": "x"}}))


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def header(shape, kind="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": kind})
    return stream.getvalue()


def zipped(path, members, packed=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def bomb(path, bytes_inside, packed=zipfile.ZIP_DEFLATED, members=1):
    """An array of zeros, written a piece at a time."""
    with zipfile.ZipFile(path, "w", packed, compresslevel=1) as archive:
        archive.writestr("about.npy", npy(ABOUT))
        for k in range(members):
            with archive.open(f"x{k}.npy", "w") as stream:
                stream.write(header((bytes_inside // 8,)))
                for _ in range(bytes_inside // 2**20):
                    stream.write(bytes(2**20))
    return path


def lying(path, place, claimed):
    """A file whose directory says less than what there is to unpack."""
    bomb(path, 2**26)
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + place:entry + place + 4] = claimed.to_bytes(4, "little")
    path.write_bytes(data)
    return path


HOSTILE = {
    "a bomb": lambda path: bomb(path, MOST_UNPACKED),
    "many small bombs": lambda path: bomb(path, MOST_UNPACKED // 16, members=17),
    "a bomb that bzip2 packs": lambda path: bomb(path, 2**22, zipfile.ZIP_BZIP2),
    "a bomb that lzma packs": lambda path: bomb(path, 2**22, zipfile.ZIP_LZMA),
    "a directory that lies": lambda path: lying(path, 24, 1000),
    "a header that lies": lambda path: zipped(path, [("about.npy", npy(ABOUT)), ("x.npy", header((10**15,)))]),
    "a shape beyond integers": lambda path: zipped(path, [("about.npy", npy(ABOUT)), ("x.npy", header((2**80, 0)))]),
    "negative sizes": lambda path: zipped(path, [("about.npy", npy(ABOUT)), ("x.npy", header((-1, -1)) + bytes(8))]),
    "elements of a gigabyte": lambda path: zipped(
        path, [("about.npy", npy(ABOUT)), ("x.npy", header((1,), "|V1000000000"))]),
    "a long text": lambda path: zipped(path, [("about.npy", header((), "<U21000000") + bytes(84 * 10**6))]),
    "a deep text": lambda path: zipped(path, [("about.npy", npy("[" * 10**5))]),
    "many arrays": lambda path: zipped(path, [(f"x{k}.npy", b"") for k in range(MOST_ARRAYS + 1)]),
    "pickles": lambda path: zipped(path, [("about.npy", npy(ABOUT)), ("x.npy", npy(np.array([print], dtype=object)))]),
    "no file": lambda path: path,
    "a folder": lambda path: path.mkdir() or path,
    "a pipe": lambda path: os.mkfifo(path) or path,
    "a device": lambda path: path.symlink_to("/dev/zero") or path,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_at_once(tmp_path, name):
    path = HOSTILE[name](tmp_path / "x.npz")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    tracemalloc.start()
    try:
        for load in (load_motion, Trajectory.load):
            with pytest.raises(CayleyError, match=r"x\.npz"):
                load(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1.2e8
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5.0


def test_what_is_written_is_read_again_and_what_would_not_be_is_not_written(tmp_path):
    rng = np.random.default_rng(3)
    arrays = {"columns": np.asfortranarray(rng.normal(size=(4, 3))), "none": np.zeros((0, 2)), "one": np.array(2.5),
              "words": np.array(["a", "Ωb"]), "whole": rng.integers(9, size=(2, 1, 3)), "single": np.float32([1, 2])}
    about, found = read_arrays(write_arrays(tmp_path / "x", {"a": np.float64(0.1), "b": [None, "é"]}, arrays))
    assert about == {"a": 0.1, "b": [None, "é"]} and found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].flags.writeable
        np.testing.assert_array_equal(found[name], array)
    huge = np.broadcast_to(0.0, (MOST_UNPACKED // 8,))
    with pytest.raises(UnsupportedError, match="in parts"):
        write_arrays(tmp_path / "y", {}, {"huge": huge})
    assert not (tmp_path / "y.npz").exists()


def test_files_of_numpy_itself_are_read(tmp_path):
    move = point_to_point([0.0, 0.0], [1.0, 0.5], duration=1.0)
    with np.load(move.save(tmp_path / "move")) as archive:
        np.savez(tmp_path / "again.npz", **archive)  # not packed
    assert (load_motion(tmp_path / "again.npz")(0.3).q == move(0.3).q).all()
    with pytest.raises(ModelError, match="format 'cayley motion 1'"):
        Trajectory.load(tmp_path / "again.npz")
