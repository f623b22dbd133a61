"""Bodies as multiports: across variables (v; w) and through variables (f; m) at terminals, joined as in circuit theory.

Source: Tokad, Network Model Approach to the Analysis of Multirigid-Body Systems (1992), corrected as in
`docs/developers/errata.md`."""

from cayley.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
