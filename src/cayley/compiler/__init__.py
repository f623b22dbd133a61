import sys

import numpy

from cayley.compiler.versions import require, require_package

require("Python", sys.version.split()[0])
require_package(numpy)
