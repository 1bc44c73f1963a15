"""A module does one thing: none has more than 500 lines. ruff sees to functions (C901: complexity 15, in pyproject.toml)."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src/mindferry"
LIMIT = 500


def test_no_module_is_longer_than_500_lines() -> None:
    lengths = {
        path.relative_to(SOURCE).as_posix(): len(path.read_text("utf-8").splitlines()) for path in SOURCE.rglob("*.py")
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LIMIT} == {}


def test_every_first_line_says_what_the_module_does() -> None:
    bare = [
        path
        for path in SOURCE.rglob("*.py")
        if path.read_text("utf-8").strip() and not path.read_text("utf-8").lstrip("#! \n").startswith(('"""', "'''"))
    ]
    assert bare == []
