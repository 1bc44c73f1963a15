"""The ledger: every place in a file that may be torch's, and what became of it. Nothing is left out.

A place is a name of torch's, or a method or attribute that one of torch's classes has. It is converted, asked at run
time, left with a finding, or proven (or, where that is said, assumed) not to be torch's. One that is none of these gets
a finding of its own, MF124, and counts as left.
"""

from __future__ import annotations

import ast
import bisect
import re

from .. import findings
from ..apis._lookup import api_of
from ..apis.torch._members import OwnMembers, lost_everywhere, members, own_members
from ..artifacts import Site
from ..read.fstrings import is_located
from ..read.tensor_words import meets_tensors
from ..read.types import UNKNOWN
from ..read.uses import Use
from .context import Context
from .dispatch import is_unclear
from .verdict import Outcome, Verdict

FEW = 50  # findings of one line
WORD = re.compile(r"\w+")
OWNERS = ("Tensor", "Module", "Optimizer", "LRScheduler", "Dataset", "DataLoader")


def account(context: Context) -> list[Site]:
    """The file's sites, in source order; called when everything is decided and before the text is written."""
    ledger = _Ledger(context)
    types, names = context.reading.types, context.source.of(ast.Name)
    named = [node for node in names if (kind := types.get(node)) is not None and kind.kind == "ref"]  # no variable
    nodes: list[ast.Name | ast.Attribute] = [*named, *context.source.of(ast.Attribute)]
    sites = [site for node in nodes if (site := ledger.site(node)) is not None]
    return sorted(sites, key=lambda each: (each.line, each.column, each.name))


def _is_dotted(node: ast.expr) -> bool:
    """numpy.linalg: a name, through which nothing is called or indexed."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


class _Ledger:
    def __init__(self, context: Context) -> None:
        self.context, self.source = context, context.source
        self.types, self.parents = context.reading.types, context.source.parents
        self.symbols = context.reading.symbols
        own = context.framework.members
        self.roots = context.framework.roots
        is_torch = context.framework.name == "torch"
        of_torch = {name for owner in OWNERS for name in members().get(owner, ())} if is_torch else frozenset[str]()
        self.lost = lost_everywhere() if is_torch else frozenset[str]()
        self.names = of_torch | self.lost or own.of_all_tensors
        self.of_classes = own_members() if is_torch else {}
        self.rows: dict[str, OwnMembers | None] = {}  # by the receiver's class
        self.replaced = context.edits.replacements()
        self.starts = [start for start, _ in self.replaced]
        self.rewritten = {(each.line, each.column) for each in context.rewrites}
        self.found: dict[int, list[str]] = {}
        self.words: dict[int, dict[str, str]] = {}  # by line and word, the first finding that has it
        for each in context.findings:
            if each.severity != "note":
                self.found.setdefault(each.line, []).append(f"{each.rule} {each.message}")

    def site(self, node: ast.Name | ast.Attribute) -> Site | None:
        name = self._name(node)
        if not name or not is_located(node):
            return None
        verdict = self._verdict(node, name)
        if isinstance(node, ast.Attribute) and node.value in self.context.reading.observed:
            verdict = verdict._replace(receiver="observed")
        offset = self.source.end(node) - len(node.attr.encode()) if isinstance(node, ast.Attribute) else None
        line, column = self.source.position(self.source.start(node) if offset is None else offset)
        return Site(line, column + 1, name, verdict.outcome.value, verdict.why, verdict.receiver)

    def _name(self, node: ast.Name | ast.Attribute) -> str:
        """torch's dotted name, `.size` for what one of its classes has, '' for what is no site."""
        kind = self.types.get(node, UNKNOWN)
        if kind.kind == "ref":
            parent = self.parents.get(node)
            qual = self.symbols.origin(kind.qual)
            is_own = qual.partition(".")[0] in self.roots and not self.symbols.is_local(qual)
            if not is_own or not isinstance(node.ctx, ast.Load):
                is_member = isinstance(node, ast.Attribute) and node.attr in self.names and not _is_dotted(node.value)
                return f".{node.attr}" if isinstance(node, ast.Attribute) and is_member else ""
            inner = isinstance(parent, ast.Attribute) and self.types.get(parent, UNKNOWN).kind == "ref"
            return "" if inner else qual  # the longest name is the site
        if isinstance(node, ast.Attribute) and (node.attr in self.names or self._own(node) is not None):
            owner = self.types.get(node.value, UNKNOWN)
            is_module = owner.kind == "ref" and owner.qual.partition(".")[0] in self.roots
            return "" if is_module else f".{node.attr}"
        return ""

    def _verdict(self, node: ast.Name | ast.Attribute, name: str) -> Verdict:
        known = self.context.verdicts.get(node)
        if known is not None:
            return known
        if self._is_replaced(node) or self._is_rewritten(node):
            return Verdict(Outcome.CONVERTED, "", "proven")
        why = self._finding(node, name)
        if why:
            return Verdict(Outcome.LEFT, why, "proven")
        if node in self.context.handled:
            return Verdict(Outcome.CONVERTED, "a fixer took care of it", "proven")
        if isinstance(node, ast.Attribute) and name.startswith("."):
            return self._of_receiver(node)
        return self._unaccounted(node, name)

    def _is_replaced(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether an edit covers the name itself (of `x.view`, the last part)."""
        end = self.source.end(node)
        start = end - len(node.attr.encode()) if isinstance(node, ast.Attribute) else self.source.start(node)
        index = bisect.bisect_left(self.starts, end)
        return index > 0 and self.replaced[index - 1][1] > start

    def _is_rewritten(self, node: ast.AST) -> bool:
        """Whether a rule was at work here and wrote the same again: `nn.ReLU()` stays `nn.ReLU()`."""
        parent = self.context.parents.get(node)
        whole = parent if isinstance(parent, ast.Call) and parent.func is node else node
        line, column = self.source.position(self.source.start(whole))
        return (line, column + 1) in self.rewritten

    def _finding(self, node: ast.AST, name: str) -> str:
        statement = self.context.statement_of(node)
        word = name.rpartition(".")[2]
        first = getattr(node, "lineno", statement.lineno)
        for line in dict.fromkeys((first, statement.lineno)):
            if text := self._speaking_of(word, line):
                return text.partition(" ")[2]
        return ""

    def _speaking_of(self, word: str, line: int) -> str:
        """The first of a line's findings that names the word, or ''. A generated line may hold thousands of both."""
        texts = self.found.get(line, [])
        if len(texts) <= FEW:
            return next((text for text in texts if word in text), "")
        if line not in self.words:
            self.words[line] = {}
            for text in texts:
                for each in WORD.findall(text):
                    self.words[line].setdefault(each, text)
        return self.words[line].get(word, "")

    def _own(self, node: ast.Attribute) -> OwnMembers | None:
        """What the receiver's class of torch's has beyond others, if the member is among it and not the project's."""
        owner = self.types.get(node.value, UNKNOWN)
        if owner.kind != "instance" or not self.of_classes:
            return None
        if owner.qual not in self.rows:
            base = self.symbols.torch_base(owner.qual)
            self.rows[owner.qual] = self.of_classes.get(self.context.framework.canonical(base)) if base else None
        row = self.rows[owner.qual]
        if row is None or (node.attr not in row.lost and node.attr not in row.kept):
            return None
        is_own = self.symbols.method(owner.qual, node.attr) is not None
        return None if is_own or self.symbols.has_attribute(owner.qual, node.attr) else row

    def _of_class(self, node: ast.Attribute, row: OwnMembers) -> Verdict:
        """A member that one class of torch's has: measured to mean the same, or lost."""
        if not isinstance(node.ctx, ast.Load) or node.attr in row.kept:
            return Verdict(Outcome.CONVERTED, "means the same here", "proven")
        base = self.symbols.torch_base(self.types[node.value].qual)
        why = f"{base}.{node.attr}: MindSpore's layer or the helper has no such member, or another value"
        self.context.find(node, findings.MF101, why, "write what it stands for by hand", rule=base)
        return Verdict(Outcome.LEFT, why, "proven")

    def _of_some_class(self, node: ast.Attribute) -> Verdict:
        """A member of something unknown that only layers of torch's have, unless a class of the project's has it too."""
        classes = self.symbols.classes
        is_own = any(classes.with_method(node.attr)) or not meets_tensors(self.source, self.context.reading.symbols)
        if is_own or not isinstance(node.ctx, ast.Load):
            return Verdict(Outcome.NOT_TORCH, "the project has its own", "assumed")
        why = f"{self.source.text(node)}: lost, if this is a layer of torch's"
        self.context.find(node, findings.MF123, why, "write what it stands for by hand", rule=f".{node.attr}")
        return Verdict(Outcome.LEFT, why)

    def _of_receiver(self, node: ast.Attribute) -> Verdict:
        """A method or attribute that nothing changed and nobody spoke of."""
        reading, owner = self.context.reading, self.context.reading.type(node.value)
        if (row := self._own(node)) is not None:
            return self._of_class(node, row)
        if node.attr in self.lost and owner.kind in ("unknown", "method"):
            return self._of_some_class(node)
        if is_unclear(node, self.context) or (owner.kind == "unknown" and not self._is_called(node)):
            return self._of_unknown(node)
        api, framework = api_of(node, reading, self.context.rules).api, reading.symbols.framework
        if not api:
            return Verdict(Outcome.NOT_TORCH, f"of {owner.qual or owner.kind}", "proven")
        own = owner.kind == "instance" and (
            reading.symbols.method(owner.qual, node.attr) is not None
            or reading.symbols.has_attribute(owner.qual, node.attr)
        )
        if own:
            return Verdict(Outcome.NOT_TORCH, f"{owner.qual} has its own", "proven")
        is_part = framework.uses.has(Use.NETWORK_PART, api)
        home = "Tensor" if framework.is_of_tensor(api) else "Module" if is_part else ""
        if home and framework.name == "torch" and node.attr not in members()[home]:
            return Verdict(Outcome.NOT_TORCH, f"torch's {home} has no {node.attr}", "proven")
        if not isinstance(node.ctx, ast.Load):
            return Verdict(Outcome.CONVERTED, "set as in torch", "proven")
        entry = self.context.rules.get(api) if self._is_called(node) else self.context.rules.attribute(api)
        if entry is not None and not entry.missing:
            return Verdict(Outcome.CONVERTED, "stays as it is", "proven")
        if self._is_read_as_value(node):
            return Verdict(Outcome.NOT_TORCH, "a value, where torch has a method", "proven")
        if self._is_set(node):
            return Verdict(Outcome.NOT_TORCH, "the file sets it, where torch has a method", "assumed")
        return self._unaccounted(node, f".{node.attr}")

    def _is_read_as_value(self, node: ast.Attribute) -> bool:
        """`img.size[0]`, `min(img.size)`, `w, h = img.size`: of a method, each of them is an error."""
        match self.context.parents.get(node):
            case ast.Subscript(value=value):
                return value is node
            case ast.Call(func=ast.Name(id="min" | "max" | "len" | "sum" | "tuple" | "list")):
                return True
            case ast.Assign(targets=[ast.Tuple() | ast.List()]) | ast.BinOp():
                return True
        return False

    def _is_set(self, node: ast.Attribute) -> bool:
        """`m.type`, not called, where `layer.type = "Conv"` stands in the same file."""
        stored = (each for each in self.source.members.get(node.attr, ()) if isinstance(each.ctx, ast.Store))
        return not self._is_called(node) and next(stored, None) is not None

    def _of_unknown(self, node: ast.Attribute) -> Verdict:
        if not isinstance(node.ctx, ast.Load):
            return Verdict(Outcome.NOT_TORCH, "an attribute of its own is set", "assumed")
        if not self._is_called(node):
            return Verdict(Outcome.NOT_TORCH, "a value, where torch has a method", "assumed")
        return Verdict(Outcome.NOT_TORCH, "no tensor and no network has such a method", "assumed")

    def _is_called(self, node: ast.AST) -> bool:
        parent = self.context.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def _unaccounted(self, node: ast.AST, name: str) -> Verdict:
        why = f"{name.lstrip('.')}: nothing says what became of it"
        self.context.find(node, findings.MF124, why, rule=name)
        return Verdict(Outcome.LEFT, why, "unknown")
