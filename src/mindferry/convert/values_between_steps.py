"""Whether parameters get other values once an optimizer has stepped: MindSpore 2.10's own optimizers are compiled, and go on with the memory they saw.

After `set_data` or `load_state_dict` a parameter has other memory, and the optimizer changes nothing any more, without a word. Functions
are told apart by their last name alone, as in changes_between_steps.py: rather a helper than a network that stands still.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from ..read.source import Source, Unreadable
from ..read.walk import walk_again as walk
from .changes_between_steps import RUN_UNNAMED, Changes, changes_of, changes_of_project, last_name
from .code_words import Text

LOOPS = (ast.For, ast.AsyncFor, ast.While)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
STEPS = "backward"


def gives_values_between_steps(texts: Iterable[Text]) -> bool:
    """A loop that both trains and gives values, or values that are given between two pieces of code that train."""
    files = list(texts)
    project = changes_of_project(files)
    if not any(each.replaced for each in project):
        return False
    training = _leading_to({each.name for each in project if STEPS in each.mentions}, project)
    giving = _leading_to({each.name for each in project if each.replaced}, project)
    for _, parsed in files:
        try:
            source = parsed()
        except (OSError, Unreadable):
            continue
        if any(_gives_between(source, body, training, giving) for body in _bodies(source)):
            return True
    return False


def _leading_to(names: set[str], project: Sequence[Changes]) -> set[str]:
    """Functions that come to one of these, with them."""
    found, grows = set(names), True
    while grows:
        callers = {each.name for each in project if each.mentions & found} - found
        found |= callers
        grows = bool(callers)
    return found


def _bodies(source: Source) -> list[list[ast.stmt]]:
    nodes: list[Any] = [source.tree, *source.of(ast.FunctionDef), *source.of(ast.AsyncFunctionDef), *source.of(ast.If)]
    nodes += (*source.of(ast.With), *source.of(ast.Try), *(each for kind in LOOPS for each in source.of(kind)))
    return [body for node in nodes for body in (node.body, getattr(node, "orelse", [])) if body]


def _gives_between(source: Source, body: Sequence[ast.stmt], training: set[str], giving: set[str]) -> bool:
    has_trained = has_given = False
    for statement in body:
        if isinstance(statement, DEFINITIONS):
            continue
        words = {last_name(node) for node in walk(statement)}
        trains = STEPS in words or bool(words & training)
        gives = bool((words | RUN_UNNAMED) & giving) or bool(changes_of(source, (statement,)).replaced)
        if trains and (has_given or (gives and isinstance(statement, LOOPS))):
            return True
        has_given = has_given or (gives and not trains and has_trained)
        has_trained = has_trained or trains
    return False
