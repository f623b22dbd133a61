"""Momentum of a mechanism about its centre of mass: `arm.centroidal`."""

from __future__ import annotations

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import one_kernel
from cayley.mechanism import functions
from cayley.mechanism.room import Room


class Centroidal(Room):
    """Momentum about the centre of mass, its matrix and its rate, as legged robots need them."""

    @one_kernel("q", "qd")
    def momentum(self) -> Kernel:
        """`momentum(q, qd)`: linear and angular momentum (..., 6) about the centre of mass, in the root's axes.

        >>> cy.load("s1_f2").centroidal.momentum([0.3, -0.7], [1.1, -0.4])[5].round(6)
        np.float64(0.217931)
        """
        return functions.state_kernel(self.tree, "centroidal_momentum")

    @one_kernel("q")
    def momentum_matrix(self) -> Kernel:
        """`momentum_matrix(q)`: A (..., 6, nv), the centroidal momentum by the velocities, rows (linear; angular). With
        constraints the columns belong to all coordinates of the tree. See `cayley.dynamics.centroidal`.

        >>> arm = cy.load("s1_f2")
        >>> np.allclose(arm.centroidal.momentum_matrix([0.3, -0.7]) @ [1.1, -0.4],
        ...             arm.centroidal.momentum([0.3, -0.7], [1.1, -0.4]))
        True
        """
        return functions.state_kernel(self.tree, "centroidal_momentum_matrix")

    @one_kernel("q", "qd")
    def bias(self) -> Kernel:
        """`bias(q, qd)`: the rate of the centroidal momentum without accelerations, Adot qd (..., 6): the
        rate with them is A qdd + bias, and all that acts from outside, gravity among it, is equal to it.

        >>> cy.load("s1_f2").centroidal.bias([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        return functions.state_kernel(self.tree, "centroidal_bias")

    @one_kernel("q")
    def center_of_mass_jacobian(self) -> Kernel:
        """`center_of_mass_jacobian(q)`: the velocity of `center_of_mass` by the velocities, (..., 3, nv).

        >>> cy.load("s1_f2").centroidal.center_of_mass_jacobian([0.0, 0.0])[1].round(6)
        array([0.442857, 0.085714])
        """
        return functions.state_kernel(self.tree, "center_of_mass_jacobian")
