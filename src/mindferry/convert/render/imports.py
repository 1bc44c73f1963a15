"""Which MindSpore names a file uses, how it spells them, and its import lines rewritten to match."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...artifacts import Finding
from ...read.edits import Edits
from ...read.infer import Reading, imported_names
from ...read.source import Source
from .helpers_module import SETTINGS, inline
from .import_runs import merged, names_of, runs_of, still_used
from .imported_names import bound_name, import_line, origin_of
from .replace_left_names import left_over_names, placeholder

COMPAT_MODULE = "ms_compat"
MISSING = "compat.Missing"
OF_HELPERS = {"initializer"}  # what helpers that stand in the file itself import under a name that a home has too

# home module -> (import statement, name it binds)
HOMES = {
    "mindspore": ("import mindspore as {0}", "ms"),
    "mindspore.nn": ("from mindspore import nn{as}", "nn"),
    "mindspore.ops": ("from mindspore import ops{as}", "ops"),
    "mindspore.mint": ("from mindspore import mint{as}", "mint"),
    "mindspore.amp": ("from mindspore import amp{as}", "amp"),
    "mindspore.dataset": ("import mindspore.dataset as {0}", "ds"),
    "mindspore.dataset.vision": ("from mindspore.dataset import vision{as}", "vision"),
    "mindspore.dataset.transforms": ("from mindspore.dataset import transforms{as}", "transforms"),
    "mindspore.communication": ("from mindspore import communication{as}", "communication"),
    "mindspore.common.initializer": ("from mindspore.common import initializer{as}", "initializer"),
    "mindspore.experimental.optim": ("from mindspore.experimental import optim{as}", "optim"),
    "mindspore.experimental.optim.lr_scheduler": (
        "from mindspore.experimental.optim import lr_scheduler{as}",
        "lr_scheduler",
    ),
    "numpy": ("import numpy as {0}", "np"),
    "collections.abc": ("from collections import abc{as}", "abc"),
    "math": ("import math{as}", "math"),
    "functools": ("import functools{as}", "functools"),
    "os": ("import os{as}", "os"),
    "typing": ("import typing{as}", "typing"),
    "contextlib": ("import contextlib{as}", "contextlib"),
    "itertools": ("import itertools{as}", "itertools"),
    "multiprocessing": ("import multiprocessing{as}", "multiprocessing"),
    "tqdm": ("import tqdm{as}", "tqdm"),
    "compat": ("", COMPAT_MODULE),
}
CARRIED = "ported"  # the folder of what the project brings along


@dataclass(frozen=True, slots=True)
class HelpersImport:
    """How a file imports the helpers."""

    lines: str = "import {0}"  # {0}: the module, and the name that it gets
    module: str = COMPAT_MODULE

    def bound_as(self, name: str) -> str:
        return self.lines.replace("{0}", self.module if name == self.module else f"{self.module} as {name}")


@dataclass(slots=True)
class Imports:
    """The file's `Writer`: spells names, collects what they need, then edits the import statements."""

    reading: Reading
    helpers: HelpersImport | None = HelpersImport()  # None: they are defined in the file itself
    homes: dict[str, str] = field(default_factory=dict)  # home -> name bound in this file
    compat: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(
        default_factory=dict
    )  # helpers defined in the file itself whose names it uses already
    kept: set[str] = field(default_factory=set)  # names of torch's that stay in use
    may_be_absent: set[ast.alias] = field(default_factory=set)  # of packages that need torch
    _taken: set[str] | None = None

    def spell(self, qual: str) -> str:
        home = _home(qual)
        if home is None:
            return qual  # a builtin such as `tuple` or `print`
        if home == "compat":
            self.compat.add(qual.split(".")[1])
            if self.helpers is None:
                self.homes[home] = ""
                return self._inline_name(qual.removeprefix("compat."))
        if home not in self.homes:
            self.homes[home] = self._bind(home)
        rest = qual[len(home) + 1 :]
        return f"{self.homes[home]}.{rest}" if rest else self.homes[home]

    def _inline_name(self, name: str) -> str:
        taken = self._names_taken() - OF_HELPERS
        head, dot, rest = name.partition(".")
        if head in taken:
            self.renamed[head] = f"ms_{head}"
        return self.renamed.get(head, head) + dot + rest

    def _names_taken(self) -> set[str]:
        if self._taken is None:
            self._taken = _bound_names(self.reading) | self.kept | (set() if self.helpers is not None else OF_HELPERS)
        return self._taken

    def _bind(self, home: str) -> str:
        for name, kind in self.reading.scope.names.items():
            if kind.kind == "ref" and kind.qual == home:
                return name
        taken = self._names_taken()
        wanted = _form(home)[1] if home != "compat" else self.reading.symbols.framework.helpers
        while wanted in taken or wanted in self.homes.values():
            wanted = f"ms_{wanted}" if not wanted.startswith("ms_") else f"{wanted}_"
        return wanted

    def statement(self, home: str) -> str:
        bound, (form, usual) = self.homes[home], _form(home)
        if home == "compat":
            if self.helpers is None:
                return inline(self.compat, self.renamed, source=self.reading.symbols.framework.name)
            statement = self.helpers.bound_as(bound)
            is_for_settings = self.compat == {SETTINGS} and "\n" not in statement
            return f"{statement}  # for what MindSpore needs on a CPU" if is_for_settings else statement
        return form.replace("{0}", bound).replace("{as}", "" if bound == usual else f" as {bound}")

    def rewrite(self, edits: Edits, findings: Sequence[Finding] = ()) -> None:
        """Replace the torch imports by what the converted file needs; what is left of torch's names is bound to a placeholder."""
        left = self._left_over(edits)
        present = {kind.qual for kind in self.reading.scope.names.values() if kind.kind == "ref"}
        self.homes = still_used(self.homes, edits.span(0, len(edits.source.data)))
        missing = [home for home in dict.fromkeys([*HOMES, *self.homes]) if home in self.homes and home not in present]
        first_use = self._first_use(edits.source)
        statements = [
            (node, top and edits.source.start(node) < first_use and _is_alone_on_line(edits.source, node), only)
            for node, top, only in _import_statements(edits.source)
        ]
        is_first = bool(left or self.may_be_absent) and "compat" in missing  # placeholders need it before anything else
        last = self._last_torch_import(statements)
        whole = [
            node for node, top, _ in statements if top and all(self._is_dropped(node, each) for each in node.names)
        ]
        runs = runs_of(edits.source, whole) if not (left or self.may_be_absent) else {}
        done: set[tuple[ast.AST, str]] = set()
        for node, top_level, only_one in statements:
            dropped = [alias for alias in node.names if self._is_dropped(node, alias)]
            if not dropped:
                continue
            wanted = [
                home
                for home in missing
                if top_level and any(_natural(*each, self.reading) == home for each in names_of(runs.get(node, [node])))
            ]
            if is_first and top_level:
                wanted = ["compat", *(home for home in wanted if home != "compat")]
            elif is_first:
                missing.remove("compat")
                _insert_at_top(edits, self.statement("compat") + edits.source.newline())
            is_first = False
            missing = [home for home in missing if home not in wanted]
            if top_level and last in runs.get(node, [node]):
                wanted, missing = wanted + missing, []
            kept = [alias for alias in node.names if alias not in dropped]
            bound = [
                line
                for line in [
                    *self._placeholders(node, dropped, left, findings),
                    *self._attempt(node, dropped, findings),
                ]
                if (edits.source.parents[node], line) not in done
            ]
            done |= {(edits.source.parents[node], line) for line in bound}
            self._replace(edits, node, kept, [*self._statements(wanted), *bound], only_one)
        if missing:
            _insert_at_top(edits, "".join(line + edits.source.newline() for line in self._statements(missing)))

    def _left_over(self, edits: Edits) -> dict[str, str]:
        """Names of torch's that the text still has -> what they are called from here on."""
        dropped = {
            bound_name(alias): alias
            for node, _, _ in _import_statements(edits.source)
            for alias in node.names
            if alias.name != "*" and self._is_dropped(node, alias)
        }
        found = left_over_names(self.reading, edits, dropped, set(self.homes.values()))
        if found or self.may_be_absent:
            self.spell(MISSING)
        renamed = {name: f"torch_{name}" if name in self.homes.values() else name for name in found}
        for name, nodes in found.items():
            for node in nodes if renamed[name] != name else ():
                edits.replace_node(node, renamed[name])
        return renamed

    def _placeholders(
        self,
        node: ast.Import | ast.ImportFrom,
        dropped: list[ast.alias],
        left: dict[str, str],
        findings: Sequence[Finding],
    ) -> list[str]:
        names = {bound_name(alias): alias for alias in dropped if bound_name(alias) in left}
        if self._has_substitute(node):
            return []
        return [
            placeholder(self.spell(MISSING), self._place(node, left[name]), origin_of(node, alias), findings)
            for name, alias in names.items()
        ]

    def _attempt(
        self, node: ast.Import | ast.ImportFrom, dropped: list[ast.alias], findings: Sequence[Finding]
    ) -> list[str]:
        """`try: from mmcv.ops import nms`, and a placeholder where that fails."""
        names = [alias for alias in dropped if alias in self.may_be_absent]
        if not names:
            return []
        bound = [
            placeholder(self.spell(MISSING), self._place(node, bound_name(alias)), origin_of(node, alias), findings)
            for alias in names
        ]
        lines = [f"    {line}" for each in bound for line in each.split("\n")]
        return ["\n".join(["try:", f"    {import_line(self.reading, node, names)}", "except ImportError:", *lines])]

    def _place(self, node: ast.Import | ast.ImportFrom, name: str) -> str:
        """What is assigned to: a name may be imported before it is declared global, but not assigned to."""
        source = self.reading.source
        is_declared_below = any(
            name in each.names
            and source.start(each) > source.start(node)
            and _scope(source, each) is _scope(source, node)
            for each in source.of(ast.Global)
        )
        return f'globals()["{name}"]' if is_declared_below else name

    def _first_use(self, source: Source) -> int:
        """Where a statement uses a framework first: an import further down comes too late for it."""
        roots = self.reading.symbols.framework.roots
        bound = {name for name, kind in self.reading.scope.names.items() if kind.qual.partition(".")[0] in roots}
        for statement in source.tree.body:
            if isinstance(statement, ast.Import | ast.ImportFrom | ast.Try | ast.If):
                continue
            if any(type(node) is ast.Name and node.id in bound for node in source.walk(statement)):
                return source.start(statement)
        return len(source.data)

    def _statements(self, homes: list[str]) -> list[str]:
        """Import lines; names from one module share a line."""
        given = [self.statement(home) for home in homes]
        of_helpers = {part for line in given if "\n" in line for part in line.split("\n")}
        lines = merged(line for line in given if line not in of_helpers)
        return [part for line in lines for part in (line.split("\n") if line.startswith("try:") else [line])]

    def _last_torch_import(self, statements: list[tuple[ast.Import | ast.ImportFrom, bool, bool]]) -> ast.AST | None:
        dropping = [
            node for node, top, _ in statements if top and any(self._is_dropped(node, alias) for alias in node.names)
        ]
        return dropping[-1] if dropping else None

    def _is_dropped(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        name = _imported(node, alias, self.reading)
        symbols = self.reading.symbols
        if (alias.asname or alias.name).partition(".")[0] in self.kept:
            return False
        if alias in self.may_be_absent:
            return True
        roots = symbols.framework.roots
        if name in symbols.excluded or (name.partition(".")[0] in roots and not symbols.is_local(name)):
            return True
        passed_on = (
            symbols.exports.get(name.lstrip("."), {}).get(alias.name) if isinstance(node, ast.ImportFrom) else None
        )
        if passed_on is None or passed_on.kind != "ref":
            return False
        # `from .compat import load_url`, where compat.py itself only imported it from torch
        return passed_on.qual.partition(".")[0] in roots and not symbols.is_local(passed_on.qual)

    def _replace(
        self, edits: Edits, node: ast.Import | ast.ImportFrom, kept: list[ast.alias], lines: list[str], only_one: bool
    ) -> None:
        source = edits.source
        if kept:
            lines = [import_line(self.reading, node, kept), *lines]
        if not lines and self._has_substitute(node):
            lines = [f'raise ImportError("{_imported(node, node.names[0], self.reading)} is torch\'s")']
        elif not lines and only_one:
            lines = ["pass"]
        comments, line_start = _comments(source, node), source.line_start(source.start(node))
        indent = edits.span(line_start, source.start(node)).rpartition("\n")[2]  # what a block around it has become
        line_break = source.newline() + indent
        if source.indent(node).strip():  # `if x: import torch`: all of it stays on the line
            text = "; ".join(" ".join(part.strip() for part in line.split("\n")) for line in lines)
            if comments:
                edits.before(line_start, "".join(comment + source.newline() for comment in comments))
        else:
            text = line_break.join(
                line_break.join(line.split("\n")) if indent else line for line in [*comments, *lines]
            )
        if text:
            edits.replace(source.start(node), source.end(node), text)
        else:
            delete_statement(edits, node)

    def _has_substitute(self, node: ast.Import | ast.ImportFrom) -> bool:
        """`except ImportError: SummaryWriter = None`: a handler stands in for names that nothing of MindSpore's does."""
        parent = self.reading.source.parents[node]
        if not isinstance(parent, ast.Try) or node not in parent.body or not parent.handlers:
            return False
        names = set(imported_names(node))
        lasting = {
            name
            for name in names
            if getattr(self.reading.scope.names.get(name), "qual", "").startswith(self.reading.symbols.framework.roots)
        }
        return not lasting and all(names <= _bound_by(handler.body) for handler in parent.handlers)


def _scope(source: Source, node: ast.AST) -> ast.AST:
    current = source.parents[node]
    while not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
        current = source.parents[current]
    return current


def _is_alone_on_line(source: Source, node: ast.stmt) -> bool:
    """Helpers and `try:` can't share a line with another statement."""
    end = source.end(node)
    after = source.data[end : source.line_end(end)].strip()
    return not source.indent(node).strip() and (not after or after.startswith(b"#"))


def _comments(source: Source, node: ast.stmt) -> list[str]:
    """Comments between the names of an import that goes."""
    start, end = source.start(node), source.end(node)
    found = re.findall(rb"#[^\r\n]*", source.data[start:end]) if b"(" in source.data[start:end] else []
    return [comment.decode("utf-8").rstrip() for comment in found]


def _bound_by(block: list[ast.stmt]) -> set[str]:
    found = {name for statement in block for name in imported_names(statement)}
    for statement in block:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.add(statement.name)
    return found


def delete_statement(edits: Edits, node: ast.AST) -> None:
    """Remove a statement, with its line if nothing else is on it; a comment on the line stays."""
    source = edits.source
    edits.removed.add(node)
    start, end = source.start(node), source.end(node)
    earlier, later = _line_mates(source, node)
    if later is not None:  # `import torch; import os`
        edits.replace(start, end if later in edits.removed else source.start(later), "", swallows=True)
        return
    line_start, line_end = source.line_start(start), source.line_end(end)
    semicolon = source.data[end:line_end].lstrip(b" \t\f")[:1] == b";"
    end = source.data.index(b";", end) + 1 if semicolon else end
    if source.data[line_start:start].strip():  # `import os; import torch`
        begin = start if earlier is None or earlier in edits.removed else source.end(earlier)
        edits.replace(begin, end, "", swallows=True)
    elif source.data[end:line_end].lstrip().startswith(b"#"):
        edits.replace(start, source.skip_blanks(end), "", swallows=True)
    else:
        edits.replace(line_start, line_end, "", swallows=True)


def _line_mates(source: Source, node: ast.AST) -> tuple[ast.AST | None, ast.AST | None]:
    """The statements before and after it that a semicolon joins to it."""
    block, place = source.blocks.get(node, ([node], 0))
    earlier = block[place - 1] if place and _is_joined(source, block[place - 1], node) else None
    later = block[place + 1] if place + 1 < len(block) and _is_joined(source, node, block[place + 1]) else None
    return earlier, later


def _is_joined(source: Source, first: ast.AST, second: ast.AST) -> bool:
    return b"\n" not in source.data[source.end(first) : source.start(second)].replace(b"\\\n", b"")


def delete_decorator(edits: Edits, node: ast.expr) -> None:
    """Remove a decorator's line; a comment on it stays."""
    source = edits.source
    start, end = source.line_start(source.start(node)), source.line_end(source.end(node))
    after = source.data[source.end(node) : end].lstrip(b" \t)")
    if after.startswith(b"#"):
        edits.replace(source.skip_blanks(start), end - len(after), "", swallows=True)
    else:
        edits.replace(start, end, "", swallows=True)


def fill_empty_blocks(edits: Edits) -> None:
    """A block whose statements all went keeps a `pass`."""
    source = edits.source
    for parent in {source.parents[node] for node in edits.removed} - {source.tree}:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if not isinstance(block, list) or not block or not edits.removed.issuperset(block):
                continue
            start, end = source.start(block[0]), source.end(block[-1])
            line_start, line_end = source.line_start(start), source.line_end(end)
            if source.data[line_start:start].strip():  # if cuda: a.cuda(); b.cuda()
                edits.replace(start, end, "pass", swallows=True)
            elif not _without_comments(edits.span(line_start, line_end)):
                last = source.line_start(source.start(block[-1]))
                comment = source.data[end:line_end].strip(b"; \t\f\r\n").decode("utf-8")
                edits.replace(
                    last, line_end, f"{source.indent(block[0])}pass{'  ' * bool(comment)}{comment}{source.newline()}"
                )


def _without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines() if not line.lstrip().startswith("#")).strip()


def _home(qual: str) -> str | None:
    parts = qual.split(".")
    for count in range(len(parts), 0, -1):
        prefix = ".".join(parts[:count])
        if prefix in HOMES:
            return prefix
    return qual.rpartition(".")[0] if CARRIED in parts[:2] else None


def _form(home: str) -> tuple[str, str]:
    """(import statement, name that it binds); a module that the project brings along is imported by its own name."""
    if home in HOMES:
        return HOMES[home]
    package, _, name = home.rpartition(".")
    return f"from {package} import {name}{{as}}", name


def _import_statements(source: Source) -> list[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """(statement, is at module level, is alone in its block), in source order."""
    found: list[tuple[ast.Import | ast.ImportFrom, bool, bool]] = []
    statements: list[ast.Import | ast.ImportFrom] = [*source.of(ast.Import), *source.of(ast.ImportFrom)]
    for node in statements:
        parent = source.parents[node]
        block, _ = source.blocks[node]
        is_last = node is block[-1] and all(isinstance(each, ast.Import | ast.ImportFrom) for each in block)
        found.append((node, parent is source.tree, is_last and parent is not source.tree))
    return sorted(found, key=lambda each: (each[0].lineno, each[0].col_offset))


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, reading: Reading) -> str:
    if isinstance(node, ast.Import):
        return alias.name
    if node.level:
        parts = reading.module.split(".")
        keep = len(parts) - node.level + reading.source.path.endswith("__init__.py")
        parts = parts[: max(keep, 0)]
        name = ".".join([*parts, *([node.module] if node.module else [])] or [alias.name])
        is_foreign = name.partition(".")[0] in reading.symbols.framework.roots and not reading.symbols.is_local(name)
        return f".{name}" if is_foreign else name  # a file torch.py of the project's own
    return node.module or ""


def _natural(node: ast.Import | ast.ImportFrom, alias: ast.alias, reading: Reading) -> str | None:
    """Where a new import line stands best: beside the framework's import that it replaces."""
    counterparts = reading.symbols.framework.counterparts
    if isinstance(node, ast.Import):
        return counterparts.get(alias.name)
    return counterparts.get(f"{node.module}.{alias.name}") or counterparts.get(node.module or "")


def _bound_names(reading: Reading) -> set[str]:
    """Every name that the file binds anywhere, torch's own import aliases excepted: they go, unless their library comes along."""
    of, symbols = reading.source.of, reading.symbols
    names = {*reading.source.stored, *(node.arg for node in of(ast.arg))}
    definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]
    definitions = [*of(ast.FunctionDef), *of(ast.AsyncFunctionDef), *of(ast.ClassDef)]
    names |= {node.name for node in definitions}
    imports: list[ast.Import | ast.ImportFrom] = [*of(ast.Import), *of(ast.ImportFrom)]
    for node in imports:
        for alias in node.names:
            name = _imported(node, alias, reading)
            head = name.partition(".")[0]
            if head not in symbols.framework.roots or (head in symbols.ported and not symbols.is_served(name)):
                names.add((alias.asname or alias.name).partition(".")[0])
    return names


def _insert_at_top(edits: Edits, text: str) -> None:
    """After the docstring and `from __future__` lines."""
    source: Source = edits.source
    offset = 0
    for node in source.tree.body:
        is_docstring = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_docstring and not is_future:
            break
        offset = source.line_end(source.end(node))
    else:
        if offset == len(source.data) and source.data and not source.data.endswith((b"\n", b"\r")):
            text = source.newline() + text
    if not offset and source.tree.body:
        first = source.tree.body[0]
        offset = source.line_start(min(source.start(each) for each in (first, *getattr(first, "decorator_list", ()))))
    edits.before(offset, text)
