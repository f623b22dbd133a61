import platform

import numpy

from cayley.compiler.versions import require, require_package

require("Python", platform.python_version())
require_package(numpy)
