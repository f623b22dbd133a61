"""The rules by which operations are built: folded, and rewritten into one canonical form, so that equal expressions
meet.

Signs travel outwards (a product of negatives is the negative of a product, `b - a` is `-(a - b)` where that exists),
constants travel to the front and gather there. A sign change is free in every published operation count, and nearly so
in machine code. Rewriting follows real algebra: a product by an exact zero is zero whatever the other factor will be.
What would only round in another way than as written waits until `simplify` knows that it is not seen. In a strict graph
nothing changes any bit."""

from cayley.compiler.rules import choices, functions, products, sums  # each fills its part of the table of rules

__all__ = ["choices", "functions", "products", "sums"]
