"""A mechanism as a page: one self-contained HTML file with the robot in 3-D, its tables, pictures, equations, counts
and a motion, its own or one that is given. `cayley.studio.live` has robots in the browser that are moved."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
