"""A name that is taken gives way to one near it, in steps that do not depend on how many came before."""

from mindferry.convert.free_names import FreeNames


def test_a_taken_name_is_followed_by_the_nearest_free_one() -> None:
    names = FreeNames(["grads", "grads_2"])
    assert [names.take("grads") for _ in range(3)] == ["grads_", "grads_3", "grads_4"]
    assert names.take("loss") == "loss"


def test_what_is_only_found_stays_free() -> None:
    names = FreeNames([])
    assert [names.find("update"), names.find("update")] == ["update", "update"]
