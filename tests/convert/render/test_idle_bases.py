"""Bases of helpers that do nothing for their heirs go; others stay."""

from __future__ import annotations

import pytest

from mindferry.convert.render.idle_bases import without_idle_bases

BASE = 'class Base:\n    """What others derive from."""\n\n    def read(self):\n        raise NotImplementedError("a Base reads")\n'
HEIR = "class Heir(Base):\n    def read(self):\n        return 1\n"


def test_a_base_whose_methods_every_heir_has_goes() -> None:
    mixed = HEIR.replace("class Heir(Base)", "class Mixed(Base, nn.GRU)")
    found = without_idle_bases({"Base": BASE, "Heir": HEIR, "Mixed": mixed}, kept=("Heir", "Mixed"))
    assert found == {"Heir": HEIR.replace("(Base)", ""), "Mixed": mixed.replace("Base, ", "")}


def test_a_start_that_does_nothing_is_the_objects_own() -> None:
    base = 'class Base:\n    """What others derive from."""\n\n    def __init__(self):\n        pass\n'
    heir = "class Heir(Base):\n    def __init__(self, x):\n        super().__init__()\n        self.x = x\n"
    found = without_idle_bases({"Base": base, "Heir": heir}, kept=("Heir",))
    assert found == {"Heir": heir.replace("(Base)", "")}
    space: dict[str, type] = {}
    exec(found["Heir"], space)
    assert vars(space["Heir"](3)) == {"x": 3}


def test_what_only_some_heirs_have_stays_and_what_all_have_goes() -> None:
    base = BASE + "\n    def name(self):\n        return 2\n"
    found = without_idle_bases({"Base": base, "Heir": HEIR}, kept=("Heir",))
    assert found["Heir"] == HEIR
    assert "def name" in found["Base"] and "def read" not in found["Base"]


@pytest.mark.parametrize(
    ("heir", "kept"),
    [
        (HEIR, ("Heir", "Base")),  # the project names it
        (HEIR + "\n    def is_one(self, x):\n        return isinstance(x, Base)\n", ("Heir",)),
        (HEIR.replace("return 1", "return super().read()"), ("Heir",)),
        (HEIR.replace("return 1", "return globals()['Base']"), ("Heir",)),
    ],
)
def test_a_base_that_is_asked_for_stays(heir: str, kept: tuple[str, ...]) -> None:
    assert without_idle_bases({"Base": BASE, "Heir": heir}, kept) == {"Base": BASE, "Heir": heir}


SETTING = 'class Base:\n    """What others derive from."""\n\n    def __init__(self, x=None, y=2):\n        self.x = x or 1\n        self.y = y\n'
SET = "class Heir(Base):\n    def __init__(self, y, x=None):\n        super().__init__(x, y=y)\n        self.z = 3\n"


def test_a_base_that_only_sets_what_its_one_heir_gives_is_written_into_it() -> None:
    found = without_idle_bases({"Base": SETTING, "Heir": SET}, kept=("Heir",))
    assert found == {
        "Heir": "class Heir:\n    def __init__(self, y, x=None):\n        self.x = x or 1\n        self.y = y\n        self.z = 3\n"
    }


@pytest.mark.parametrize(
    ("base", "heir"),
    [
        (SETTING, SET.replace("super().__init__(x, y=y)", "super().__init__(x)")),  # a default of the base's
        (SETTING, SET.replace("super().__init__(x, y=y)", "super().__init__(y, y=x)")),  # other names
        (SETTING.replace("self.x = x or 1", "x = x or 1\n        super().__init__()"), SET),
        (SETTING + "\n    def read(self):\n        return self.x\n", SET),
    ],
)
def test_a_base_that_does_more_than_that_stays(base: str, heir: str) -> None:
    assert without_idle_bases({"Base": base, "Heir": heir}, ("Heir",)) == {"Base": base, "Heir": heir}


def test_a_start_that_only_calls_the_bases_goes() -> None:
    layer = 'class Layer(nn.Cell):\n    """A layer."""\n\n    def __init__(self):\n        super().__init__()\n\n    def construct(self, x):\n        return x\n'
    found = without_idle_bases({"Layer": layer}, ("Layer",))
    assert found == {
        "Layer": 'class Layer(nn.Cell):\n    """A layer."""\n\n    def construct(self, x):\n        return x\n'
    }
