"""Random functions, calls, files and mechanisms: a few seeds here, as many as one likes with `make fuzz`."""

import pytest

from fuzz import (
    abrupt_clients,
    argument_forms,
    bombs,
    folded_linkages,
    pickles,
    random_mechanisms,
    special_arms,
)


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms(seed):
    random_mechanisms.check(seed)


def test_argument_forms():
    for seed in range(1500):
        argument_forms.check(seed)


def test_abrupt_clients():
    for seed in range(10):
        abrupt_clients.check(seed)


@pytest.mark.spec("S2-32", "S2-33")
def test_special_arms():
    """The last seeds are crossings, and joints that turn back."""
    for seed in (*range(40), 232, 634, 748, 853, 4544, 21301, 21482, 22479, 22622, 31249, 32302):
        special_arms.check(seed)


@pytest.mark.parametrize("seed", range(3))
def test_pickles(seed):
    pickles.check(seed)


def test_bombs():
    """One of each kind of small files that stand for much."""
    bombs.check_all(range(len(bombs.BOMBS)))


@pytest.mark.spec("S2-64")
@pytest.mark.spec("S2-65")
@pytest.mark.parametrize("seed", range(4))
def test_folded_linkages(seed):
    folded_linkages.check(seed)
