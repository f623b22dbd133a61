"""Dynamics of trees of rigid bodies: inverse and forward dynamics, linearised models, energies, identification.

The functions here take a `Tree`, or its links (`links_of`, `minimal_links`), and arrays of any scalars, or make
kernels. A `Mechanism` has the most used as compiled kernels (`arm.inverse_dynamics`, `arm.linearize`, ...). Mechanics
without robots are here as well: Lagrange's equations of any system, particles, equilibria of potentials.

>>> import numpy as np, cayley as cy
>>> from cayley.dynamics import kinetic_energy, links_of
>>> links = links_of(cy.load("s1_f2").tree)
>>> float(kinetic_energy(links, np.array([0.3, -0.7]), np.array([1.1, -0.4])).round(6))
0.443139
"""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__, former={
    "LinearModel": "RegressorModel", "Moments": "LinkMoments", "Screws": "LinkScrews"})
