"""Names of methods that are put together when the code runs."""

from __future__ import annotations

import ast

import pytest

from mindferry.library.names import pattern_of_built


@pytest.mark.parametrize(
    "text",
    [
        'f"assert_sizes_{kind}"',
        '"assert_sizes_{}".format(kind)',
        '"assert_sizes_{kind}".format(kind=1)',
        '"assert_sizes_%s" % kind',
    ],
)
def test_a_text_that_is_put_together_means_the_names_that_fit(text: str) -> None:
    pattern = pattern_of_built(ast.parse(text, mode="eval").body)

    assert pattern is not None and pattern.fullmatch("assert_sizes_triplet") and not pattern.fullmatch("assert_size")


@pytest.mark.parametrize(
    "text", ['"{}".format(kind)', '"%s" % kind', '"no name: {}".format(kind)', "kind % 3", '"assert_sizes"']
)
def test_a_text_that_says_too_little_means_none(text: str) -> None:
    assert pattern_of_built(ast.parse(text, mode="eval").body) is None
