"""Kernels and laws as folders of C: a library for CMake or the Arduino tools, with test vectors and what checks them.

    arm.export("generated", "inverse-dynamics", "pose:tool", layout="cmake")        functions of one robot, by name
    export_folder("generated", {"hold": hold, "law": law}, layout="arduino")        any kernels and systems"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
