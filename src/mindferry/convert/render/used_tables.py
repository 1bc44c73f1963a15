"""Helpers that are found by a name (`optimizer="adam"`): of such a table, only what a text of the project or of a helper names.

A project that takes names from outside, by a file or an option of its command line, keeps the tables whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ...read.walk import walk
from .helper_use import ProjectUse
from .specialise_helpers import reachable, without_methods

TABLE = re.compile(r"[A-Z][A-Z_]+ = ")
WIDTH = 120
ROUNDS = 6
READERS = frozenset(
    "json yaml toml tomllib configparser omegaconf hydra absl click fire typer ml_collections gin dotenv".split()
)
OPTION = re.compile(r"-*\w*(?:optim|activation|loss|init|metric|config)\w*")
# What mindferry's own runs ask of networks, tapes and optimizers, and what MindSpore calls.
ASKED = frozenset(
    "add_weight gradient apply apply_gradients fit train_step test_step evaluate predict weights trainable_weights variables "
    "trainable_variables non_trainable_weights get_weights set_weights sublayers layers own_weights losses call build construct "
    "count_params parameters_and_names get_parameters trainable_params compute_mask get_layer save_weights load_weights".split()
)


def words_of(trees: Iterable[ast.AST]) -> frozenset[str] | None:
    """Every text of the project, as tables are asked for it; None where names may come from outside."""
    words: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(plain(node.value))
            elif _is_from_outside(node):
                return None
    return frozenset(words)


def _is_from_outside(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(each.name.partition(".")[0] in READERS for each in names)
        case ast.ImportFrom(module=str(module)):
            return module.partition(".")[0] in READERS
        case ast.Attribute(attr="environ") | ast.Call(func=ast.Name(id="input")):
            return True
        case ast.Call(func=ast.Attribute(attr="add_argument"), args=args):
            texts = (each.value for each in args if isinstance(each, ast.Constant))
            return any(isinstance(text, str) and OPTION.fullmatch(text) for text in texts)
    return False


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def with_used_entries(
    texts: Mapping[str, str], wanted: Collection[str], words: frozenset[str], use: ProjectUse
) -> dict[str, str]:
    """Helpers by name, with smaller tables and without methods that nothing calls; what only these needed goes."""
    use.mentioned |= ASKED
    current = dict(texts)
    for _ in range(ROUNDS):
        before = current
        named = words | {plain(each) for text in before.values() if not TABLE.match(text) for each in _strings(text)}
        current = {name: _cut(text, named) if TABLE.match(text) else text for name, text in before.items()}
        current = reachable(without_methods(dict(current), use), wanted)
        if current == before:
            break
    return current


def _strings(text: str) -> Iterator[str]:
    return (
        each.value for each in walk(ast.parse(text)) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def _cut(text: str, words: frozenset[str] | set[str]) -> str:
    """A table that gives classes or functions by name."""
    tree = ast.parse(text)
    for node in walk(tree):
        kept: list[str] = []
        if isinstance(node, ast.Dict) and any(isinstance(each, ast.Name) for each in node.values):
            for key, value in zip(node.keys, node.values, strict=True):
                if not isinstance(key, ast.Constant):
                    kept.append(f"**{ast.get_source_segment(text, value)}")
                elif plain(str(key.value)) in words or not isinstance(value, ast.Name):
                    kept.append(f"{ast.get_source_segment(text, key)}: {ast.get_source_segment(text, value)}")
            if len(kept) < len(node.keys):
                return _cut(_replaced(text, node, "{", kept, "}"), words)
        elif isinstance(node, ast.Tuple) and node.elts and all(isinstance(each, ast.Name) for each in node.elts):
            kept = [each.id for each in node.elts if isinstance(each, ast.Name) and _is_named(each.id, words)]
            if len(kept) < len(node.elts):
                return _cut(_replaced(text, node, "(", [*kept, ""] if len(kept) == 1 else kept, ")"), words)
    return text


def _is_named(helper: str, words: frozenset[str] | set[str]) -> bool:
    return plain(helper) in words or plain(helper.removesuffix("Metric")) in words


def _replaced(text: str, node: ast.expr, opening: str, parts: list[str], closing: str) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    start, end = (
        starts[node.lineno - 1] + node.col_offset,
        starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
    )
    joined = opening + ", ".join(parts).rstrip(" ") + closing
    if node.col_offset + len(joined) > WIDTH:
        indent = " " * (len(lines[node.lineno - 1]) - len(lines[node.lineno - 1].lstrip()))
        inner = "".join(f"{indent}    {each},\n" for each in parts if each)
        joined = f"{opening}\n{inner}{indent}{closing}"
    return text[:start] + joined + text[end:]
