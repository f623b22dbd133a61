"""A few hundred damaged files of the kind that `make fuzz` makes without end."""

from fuzz.damaged_files import READERS, check, read, sound_files


def test_damaged_files_are_mechanisms_or_errors_of_models():
    accepted = [check(seed) for seed in range(600)]
    assert 60 < sum(accepted) < 540  # the damage is neither too large nor too small to find anything


def test_what_is_damaged_was_sound():
    for kind in READERS:
        assert all(read(kind, text) for text in sound_files()[kind])
