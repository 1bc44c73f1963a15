"""A module's text cut down to what is reached; comments stay with what they stand above."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from .gates import GATE, Gates
from .names import Definition, annotations_of, own_names
from .own_package import with_own_package
from .reach import Reach
from .reached_parts import Reached
from .sources import Module, is_type_checking

UNMENTIONED = "nothing that the project reaches mentions it"
ANNOTATED = "only annotations name it"
PROPERTIES = frozenset(
    {"property", "cached_property", "setter", "getter", "deleter", "cached_classproperty", "classproperty"}
)
# In a module that does not name torch, what is called so is most likely a tensor's all the same: it is asked when it runs.
OF_TENSORS = re.compile(
    r"\.(?:size|view|topk|permute|expand_as|expand|unsqueeze|numel|masked_fill|detach|clone|backward|cpu|float|long|contiguous)\("
)
Outside = Callable[[str], str]  # why a module of another package can't be imported, or ''


class Cut:
    def __init__(self, reach: Reach, reached: Reached, outside: Outside, gates: Gates) -> None:
        self.reach, self.reached, self.module, self.outside = reach, reached, reached.module, outside
        self.gates = gates
        self.lines = self.module.text.split("\n")
        self.replaced: dict[int, tuple[int, list[str]]] = {}  # first line -> (last line, what stands there instead)
        self.placeholders: dict[str, str] = {}  # name -> the line that binds it

    def text(self) -> str:
        body = self.module.tree.body
        self._block(body, 1, is_top=True)
        self._unbound()
        out: list[str] = []
        number = 1
        while number <= len(self.lines):
            if number in self.replaced:
                last, lines = self.replaced[number]
                out += lines
                number = last + 1
            else:
                out.append(self.lines[number - 1])
                number += 1
        out += [
            f"from . import {each.rpartition('.')[2]}"
            for each in sorted(self.reach.registered.get(self.module.name, ()))
        ]
        renamed = self.reach.renamed.get(self.module.name, {})
        out += [f"{function}(__name__, {names})" for function, names in sorted(renamed.items())]
        text = with_own_package("\n".join(out))
        extra = [*self.placeholders.values()]
        if "not_carried(" in text or extra:
            dots = "." * (self.module.name.count(".") + (2 if self.module.is_package else 1))
            extra.insert(0, f"from {dots} import not_carried")
        if "torch" not in text and OF_TENSORS.search(text):
            extra.insert(0, "import torch")
        return _insert(text, extra)

    # statements outside of functions

    def _block(self, block: list[ast.stmt], after: int, is_top: bool = False) -> bool:
        """Cut a list of statements; False if nothing of it is left."""
        is_left = False
        previous = after
        for index, statement in enumerate(block):
            first, last = _first_line(statement), statement.end_lineno or statement.lineno
            is_header = is_top and index == 0
            if self._is_kept(statement) or (is_top and index == 0 and _is_docstring(statement)):
                is_left = True
                self._statement(statement)
            elif not self._shares_line(block, index):
                start = first if is_header else self._comments_from(previous, first)
                self.replaced[start] = (last, [])
            previous = last + 1
        return is_left

    def _comments_from(self, previous: int, first: int) -> int:
        """Comments above a statement go with it."""
        start = first
        while start > previous and (
            not self.lines[start - 2].strip() or self.lines[start - 2].lstrip().startswith("#")
        ):
            start -= 1
        return max(start, previous)

    def _shares_line(self, block: list[ast.stmt], index: int) -> bool:
        here = block[index]
        near = [*block[max(index - 1, 0) : index], *block[index + 1 : index + 2]]
        return any(each.lineno <= (here.end_lineno or 0) and (each.end_lineno or 0) >= here.lineno for each in near)

    def _is_kept(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.If):
            if is_type_checking(statement.test):
                return False
            return any(self._is_kept(each) for each in (*statement.body, *statement.orelse))
        return statement in self.reached.statements

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.If):
            for block in (statement.body, statement.orelse):
                if block and not self._block(block, _first_line(block[0])):
                    self._fill(block)
        elif isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            pass
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            self._import(statement, self.reached.names)
        elif isinstance(statement, ast.ClassDef):
            self._class(statement)
        elif isinstance(statement, ast.FunctionDef) and GATE.fullmatch(statement.name):
            self._gate(statement)
        else:
            self._inside(statement)

    def _gate(self, node: ast.FunctionDef) -> None:
        """`is_torch_available()` answers as the converted world is."""
        answer = self.gates.gate(self.module, node.name)
        if answer is None:
            self._inside(node)
            return
        first, last = _first_line(node), node.end_lineno or node.lineno
        self.replaced[first] = (last, [f"def {node.name}(*args, **kwargs) -> bool:", f"    return {answer}"])

    def _fill(self, block: list[ast.stmt]) -> None:
        """A block of which nothing is left."""
        first, last = _first_line(block[0]), block[-1].end_lineno or block[-1].lineno
        line = self.lines[first - 1]
        if line.lstrip().startswith("elif"):
            return
        for number in [each for each in self.replaced if first <= each <= last]:
            del self.replaced[number]
        indent = line[: block[0].col_offset]
        self.replaced[first] = (last, [f"{indent if not indent.strip() else ''}pass"])

    def _class(self, node: ast.ClassDef) -> None:
        self._decorators(node)
        seen: set[str] = set()
        kept = 0
        previous = _first_line(node.body[0])
        for statement in node.body:
            first, last = _first_line(statement), statement.end_lineno or statement.lineno
            if not isinstance(statement, Definition) or statement in self.reached.methods:
                kept += 1
                self._inside(statement)
            else:
                indent = " " * statement.col_offset
                lines = []
                names = {getattr(each, "attr", getattr(each, "id", "")) for each in statement.decorator_list}
                if not names & PROPERTIES and statement.name not in seen:
                    qual = f"{self.module.name}.{node.name}.{statement.name}"
                    lines = [f'{indent}{statement.name} = not_carried("{qual}", "{UNMENTIONED}")']
                seen.add(statement.name)
                start = self._comments_from(previous, first)
                blank = [""] if lines and start < first and not self.lines[start - 1].strip() and kept else []
                self.replaced[start] = (last, blank + lines)
                kept += bool(lines)
            previous = last + 1
        if not kept:
            number = max(self.replaced)
            end, lines = self.replaced[number]
            self.replaced[number] = (end, [*lines, " " * node.body[-1].col_offset + "pass"])

    # inside of what is kept

    def _inside(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node, None)
            elif isinstance(node, Definition | ast.ClassDef):
                self._decorators(node)

    def _decorators(self, node: ast.ClassDef | Definition) -> None:
        for each in node.decorator_list:
            if self.reach.is_dropped(self.module, each):
                self.replaced[each.lineno] = (each.end_lineno or each.lineno, [])

    def _import(self, node: ast.Import | ast.ImportFrom, wanted: set[str] | None) -> None:
        """Keep the names that are wanted (None: all); those that are not carried along get a placeholder."""
        kept: list[str] = []
        lines: list[str] = []
        indent = self.lines[node.lineno - 1][: node.col_offset]
        if indent.strip():  # `if x: import y`
            return
        for alias in node.names:
            bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])
            if alias.name == "*":
                lines += self._star(node)
                continue
            if wanted is not None and bound not in wanted:
                continue
            why, qual = self._why_not(node, alias)
            if why:
                place = ".".join(self.reach.lookup.origin(*qual.rpartition(".")[::2]))
                ours = self.reach.only_for.stand_in(place) if not indent and bound == alias.name else ""
                lines.append(f"\n\n{ours}\n\n" if ours else f'{indent}{bound} = not_carried("{qual}", "{why}")')
            else:
                kept.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
        last = node.end_lineno or node.lineno
        if len(kept) == len(node.names):
            return
        if kept:
            module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            head = f"{indent}from {module} import " if module else f"{indent}import "
            joined = head + ", ".join(kept)
            if len(joined) > 120 and module:
                joined = f"{head}(\n" + "".join(f"{indent}    {each},\n" for each in kept) + f"{indent})"
            lines.insert(0, joined)
        self.replaced[node.lineno] = (last, lines or ([f"{indent}pass"] if wanted is None else []))

    def _star(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """`from .x import *`, cut down to what is used of it."""
        assert isinstance(node, ast.ImportFrom)
        home = self.module.resolve(node)
        if not self.reach.sources.is_ours(home):
            return [self.lines[node.lineno - 1]]
        names = [
            name
            for name in sorted(self.reached.names)
            if name not in self.module.bound and self.reach.lookup.star_of([home], name)
        ]
        return [f"from {'.' * node.level}{node.module or ''} import {', '.join(names)}"] if names else []

    def _why_not(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> tuple[str, str]:
        reach = self.reach
        home = self.module.resolve(node) if isinstance(node, ast.ImportFrom) else alias.name
        qual = f"{home}.{alias.name}" if isinstance(node, ast.ImportFrom) else home
        if not reach.sources.is_ours(home):
            return self.outside(home), qual
        if isinstance(node, ast.Import):
            return ("" if home in reach.modules else reach.lookup.reason_to_leave(home) or UNMENTIONED), qual
        if qual in reach.left:
            return reach.left[qual].why, qual
        place = ".".join(reach.lookup.origin(home, alias.name))
        if reason := reach.lookup.reason_to_leave(place) or reach.lookup.reason_to_leave(qual):
            return reason, qual
        if place in reach.left:
            return reach.left[place].why, qual
        if place in reach.modules or qual in reach.modules or reach.is_carried(home, alias.name):
            return "", qual
        return UNMENTIONED, qual

    # names that are left without a binding

    def _unbound(self) -> None:
        """What kept code still names and nothing binds any more: annotations, mostly."""
        for name in sorted(set(self._loads()) - self.reached.names):
            if name in self.module.bound:
                qual = f"{self.module.name}.{name}"
                self.placeholders[name] = f'{name} = not_carried("{qual}", "{ANNOTATED}")'

    def _loads(self) -> Iterator[str]:
        for statement in self.reached.statements:
            if isinstance(statement, ast.ClassDef):
                parts: list[ast.AST] = [*statement.decorator_list, *statement.bases, *statement.keywords]
                parts += [
                    each for each in statement.body if not isinstance(each, Definition) or each in self.reached.methods
                ]
                for part in parts:
                    yield from _loaded(part, frozenset())
            elif not isinstance(statement, ast.Import | ast.ImportFrom):
                yield from _loaded(statement, frozenset())


def _loaded(node: ast.AST, local: frozenset[str]) -> Iterator[str]:
    if isinstance(node, Definition | ast.Lambda):
        parts: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults, *annotations_of(node)]
        for part in [*parts, *getattr(node, "decorator_list", ())]:
            yield from _loaded(part, local) if part is not None else ()
        inner = local | own_names(node)
        body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
        for child in body:
            yield from _loaded(child, inner)
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in local:
            yield node.id
    else:
        for child in ast.iter_child_nodes(node):
            yield from _loaded(child, local)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_bare(text: str) -> bool:
    """Whether a module has comments and a docstring, and nothing else."""
    return all(
        _is_docstring(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        for node in ast.parse(text).body
    )


def _insert(text: str, lines: list[str]) -> str:
    """After the docstring and the imports from __future__."""
    if not lines:
        return text
    at = 0
    for node in ast.parse(text).body:
        if not _is_docstring(node) and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            if not at:
                at = _first_line(node) - 1
            break
        at = node.end_lineno or node.lineno
    all_lines = text.split("\n")
    return "\n".join([*all_lines[:at], *lines, *all_lines[at:]])


def lazy_text(reach: Reach, module: Module, kept: str) -> str:
    """A package that gave its names on demand still does, as far as they are reached."""
    names = {
        name: place
        for name, place in sorted(reach.lazily.get(module.name, {}).items())
        if not reach.lookup.reason_to_leave(origin := ".".join(reach.lookup.origin(*place)))
        and not {".".join(place), origin} & reach.left.keys()
    }
    if not names:
        return kept
    depth = module.name.count(".") + 1
    homes = {name: _relative(module.name, reach.lookup.origin(*place)[0]) for name, place in names.items()}
    originals = {name: reach.lookup.origin(*place)[1] for name, place in names.items()}
    shown = [
        f"    from {homes[name]} import {originals[name]}{f' as {name}' if name != originals[name] else ''}"
        for name in names
    ]
    table = [f'    "{name}": ("{homes[name]}", "{originals[name]}"),' for name in names]
    return "\n".join(
        [
            kept.rstrip("\n"),
            "",
            "from typing import TYPE_CHECKING",
            "",
            f"from {'.' * (depth + 1)} import lazy_names",
            "",
            "if TYPE_CHECKING:",
            *shown,
            "",
            "__getattr__ = lazy_names(__name__, {",
            *table,
            "})",
            "",
        ]
    ).lstrip("\n")


def _relative(package: str, module: str) -> str:
    """`.models.bert`, as the package would import it."""
    if module == package:
        return "."
    if module.startswith(f"{package}."):
        return module[len(package) :]
    ours, theirs = package.split("."), module.split(".")
    shared = 0
    while shared < min(len(ours), len(theirs)) and ours[shared] == theirs[shared]:
        shared += 1
    return "." * (len(ours) - shared + 1) + ".".join(theirs[shared:])
