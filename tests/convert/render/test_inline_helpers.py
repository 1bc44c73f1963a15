"""One-line helpers stand where they are called, if that means the same."""

from __future__ import annotations

import pytest

from mindferry.convert.render.inline_helpers import with_inlined

LINE = 'def half(x, by):\n    """Half of it."""\n    return x / by\n'


def inlined(caller: str, line: str = LINE, kept: tuple[str, ...] = ("outer",)) -> dict[str, str]:
    return with_inlined({"outer": caller, "half": line}, kept)


def test_a_line_takes_the_place_of_its_only_call() -> None:
    assert inlined("def outer(a):\n    return half(a, by=2)\n") == {"outer": "def outer(a):\n    return a / 2\n"}
    assert inlined("def outer(a):\n    return half(a.b, 2) ** 3\n") == {
        "outer": "def outer(a):\n    return (a.b / 2) ** 3\n"
    }


@pytest.mark.parametrize(
    "caller",
    [
        "def outer(a):\n    return half(a, 2) + half(a, 3)\n",  # called twice
        "def outer(a):\n    return map(half, a)\n",  # passed on
        "def outer(a):\n    return half(a + 1, 2)\n",  # might be computed twice, or in another order
        'def outer(a):\n    return f"{half(a, 2)}"\n',  # positions in f-strings are wrong before Python 3.12
        "def outer(a):\n    return half(*a)\n",
        'def outer(a):\n    return half(a, 2), globals()["half"]\n',  # asked for by name
    ],
)
def test_anything_else_is_left_alone(caller: str) -> None:
    assert inlined(caller) == {"outer": caller, "half": LINE}


def test_a_name_that_means_something_else_in_the_caller_is_not_moved_there() -> None:
    line, caller = "def half(x):\n    return ops.sqrt(x)\n", "def outer(ops):\n    return half(ops)\n"
    assert inlined(caller, line) == {"outer": caller, "half": line}


def test_a_helper_that_the_project_calls_stays() -> None:
    caller = "def outer(a):\n    return half(a, 2)\n"
    assert inlined(caller, kept=("outer", "half")) == {"outer": caller, "half": LINE}


def test_longer_functions_defaults_and_comments_stay() -> None:
    caller = "def outer(a):\n    return half(a)\n"
    for line in (
        "def half(x):\n    y = x / 2\n    return y\n",
        "def half(x, by=2):\n    return x / by\n",
        "def half(x):\n    return x / 2  # exact\n",
        "def half(x):\n    return [each / 2 for each in x]\n",
    ):
        assert inlined(caller, line) == {"outer": caller, "half": line}


def test_a_helper_that_only_says_a_name_goes_from_all_that_call_it() -> None:
    texts = {"half": "def half():\n    return np.random\n"}
    texts |= {
        "outer": "def outer():\n    return half().rand() + half().rand()\n",
        "other": "def other():\n    half().seed(1)\n",
    }
    assert with_inlined(texts, ("outer", "other")) == {
        "outer": "def outer():\n    return np.random.rand() + np.random.rand()\n",
        "other": "def other():\n    np.random.seed(1)\n",
    }


def test_what_the_line_only_hands_on_may_be_computed_there() -> None:
    line = "def half(x):\n    return ops.cast(x, ms.int32)\n"
    assert inlined("def outer(a):\n    return half(a + 1)\n", line) == {
        "outer": "def outer(a):\n    return ops.cast(a + 1, ms.int32)\n"
    }
