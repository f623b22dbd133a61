"""Laws that make a mechanism move as it should, its actuators, and what they are worth.

Motors, controllers and observers are systems (`cayley.systems`): `cy.connect` joins them with an arm's."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
