"""Kinematics: the places and the motion of the bodies of a mechanism, given the coordinates of its joints.

The functions here are texts for one state, of a `Tree` and of arrays of any scalars: they can be traced, differentiated
and counted. A `Mechanism` has the most used as compiled kernels (`arm.pose`, `arm.jacobian`, ...).

>>> import numpy as np, cayley as cy
>>> from cayley.kinematics import frame_pose
>>> arm = cy.load("planar3r")
>>> frame_pose(arm.tree, np.zeros(3), "tool").p.round(3)
array([2.3, 0. , 0. ])
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__, former={"Ellipsoid": "JacobianEllipsoid"})
