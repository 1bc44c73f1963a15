"""Every helper can be the only one that a project uses: what it needs when it is defined stands before it."""

from __future__ import annotations

from mindferry.convert.render.helpers_module import library, render


def test_each_helper_is_defined_by_itself() -> None:
    failed = {}
    for name in library("tensorflow")[0]:
        try:
            exec(
                compile(render({name}, source="tensorflow"), f"ms_keras.py for {name}", "exec"),
                {"__name__": "ms_keras"},
            )
        except NameError as error:
            failed[name] = str(error)
    assert failed == {}
