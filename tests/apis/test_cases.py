"""Every case of every rule: the text it converts to, and the numbers that both frameworks compute."""

from __future__ import annotations

import pytest

from mindferry.apis import Case, Rule, table
from mindferry.apis.checks.cases import check_case, converted_text

CASES = [
    pytest.param(rule, case, id=f"{rule.title}-{index}") for rule in table() for index, case in enumerate(rule.cases)
]
RUNNING = [param for param in CASES if param.values[1].runs and not param.values[0].missing]


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_a_case_converts_to_the_text_that_its_rule_promises(rule: Rule, case: Case) -> None:
    assert converted_text(rule, case) == case.after


@pytest.mark.parametrize(("rule", "case"), RUNNING)
def test_a_case_computes_the_same_on_both_frameworks(rule: Rule, case: Case) -> None:
    check_case(rule, case)


def test_every_rule_has_a_case_or_a_reason() -> None:
    bare = [f"{rule.file}:{rule.line} {rule.api}" for rule in table() if not rule.cases and not rule.missing]
    assert not bare


def test_a_case_that_does_not_run_says_why_its_text_is_enough() -> None:
    silent = [
        f"{rule.file}:{rule.line} {case.before}"
        for rule in table()
        for case in rule.cases
        if not case.runs and not case.why
    ]
    assert not silent
