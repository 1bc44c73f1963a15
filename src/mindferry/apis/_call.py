"""The call that a rule rewrites: its arguments by torch's names, and a few verbs to change it without losing a comment."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, Protocol

from ..read.edits import Edits
from ..read.infer import Reading
from ..read.source import Slot, argument_slots
from ..read.types import UNKNOWN, Type
from ._rule import COMPAT, Rule

_ATOMS = (
    ast.Call,
    ast.Attribute,
    ast.Name,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.JoinedStr,
    ast.ListComp,
)
_AROUND = (ast.Assign, ast.Return, ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.keyword)  # bind less than a comparison

# numpy's names of arguments, which torch's functions and methods take as well; and a method's where the function has another.
OTHER_NAMES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "split_size": "split_size_or_sections",
    "split_sizes": "split_size_or_sections",
    "sections": "indices_or_sections",
    "indices": "indices_or_sections",
}
UNNAMED = frozenset(
    {"input", "img", "inpt", "data"}
)  # MindSpore calls a function's first argument one thing or another
WRITE_OUT = COMPAT + "write_out"
VIEWS = frozenset(
    "view view_as reshape transpose permute t T mT squeeze unsqueeze narrow select expand expand_as diagonal unfold detach "
    "flatten swapaxes movedim data real imag".split()
)
STATEMENT = "assert "  # the only statement that a call becomes: torch._assert


class Writer(Protocol):
    """Spells MindSpore names as the file imports them."""

    def spell(self, qual: str) -> str: ...


class Unbound(Exception):
    """`torch.Tensor.view(x, 2)`: a method called through its class, by a rule that needs the receiver."""


class Call:
    def __init__(
        self, node: ast.Call, rule: Rule, reading: Reading, edits: Edits, writer: Writer, receiver: ast.expr | None
    ) -> None:
        self.node, self.rule, self.receiver = node, rule, receiver
        self.reading, self.edits, self.writer = reading, edits, writer
        self.to = rule.to
        self.refusal: tuple[str, str] | None = None
        self.is_asked = False  # refused only because the text doesn't tell which form it is
        self.note: str = ""  # a difference to know of
        self.warning: str = ""  # a difference that a person should look at: numbers may come out otherwise
        self.is_kept = False
        self.is_opaque = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        self.extra: list[ast.expr] = []  # positional arguments beyond those that the rule names
        self.given: dict[str, ast.expr] = {}
        self._positional: dict[ast.expr, str] = {}  # the names of those that are given by place
        self._bind()
        self.noted: str | tuple[str, ...] = ""  # what a fixer knows about the call and the rule can't see
        self._changes: dict[str, str | None] = {}
        self._replacement: str | None = None
        self._out: ast.expr | None = None  # where the result is written to as well

    def _bind(self) -> None:
        names = self.rule.args
        if self.receiver is not None and names[:1] in (("input",), ("self",)):
            self.given[names[0]] = self.receiver  # x.foo(y) is torch.foo(x, y)
            names = names[1:]
        for index, argument in enumerate(self.node.args):
            if isinstance(argument, ast.Starred):
                break
            if index < len(names):
                self.given[names[index]] = argument
                self._positional[argument] = names[index]
            else:
                self.extra.append(argument)
        for keyword in self.node.keywords:
            if name := self._name_of(keyword):
                self.given[name] = keyword.value

    def has(self, name: str) -> bool:
        return name in self.given

    def literal(self, name: str, absent: Any = None) -> Any:
        """The argument's value if it is a literal; `absent` if not given; `...` if it can't be told."""
        if name not in self.given:
            return absent
        try:
            return ast.literal_eval(self.given[name])
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return ...

    def kind(self, name: str) -> Type:
        return self.reading.type(self.given[name]) if name in self.given else UNKNOWN

    def text(self, name: str, absent: str = "") -> str:
        """The argument's converted text."""
        return self.edits.text(self.given[name]) if name in self.given else absent

    def of(self, node: ast.expr) -> str:
        return self.edits.text(node)

    @property
    def target(self) -> str:
        """The receiver's converted text, in parentheses if it needs them before a dot."""
        return self.before_dot(self.subject)

    def before_dot(self, node: ast.expr) -> str:
        """The node's converted text, in parentheses if it needs them there."""
        text = self.edits.text(node)
        return text if isinstance(node, _ATOMS) else f"({text})"

    @property
    def subject(self) -> ast.expr:
        """The receiver of a rule that works on nothing else."""
        if self.receiver is None:
            raise Unbound
        return self.receiver

    def name(self, qual: str) -> str:
        """How this file spells a MindSpore or compat name; imports it."""
        return self.writer.spell(qual)

    def set(self, **arguments: str | None) -> None:
        """Give arguments (torch's or MindSpore's names) another text; None removes one."""
        self._changes.update(arguments)

    def use(self, to: str) -> None:
        """Another target than the rule's own."""
        self.to = to

    def use_like(self) -> None:
        """Keep torch's arguments as they are, and call what takes them."""
        self.to = self.rule.like
        self._changes = {}
        self._declared = False

    _declared = True

    def replace(self, text: str) -> None:
        """Write something else in place of the whole call."""
        self._replacement = text

    def leave(self, message: str, advice: str = "") -> None:
        """Not certain: leave the call as it is, with a finding."""
        self.refusal = (message, advice)

    def ask(self, message: str, advice: str = "") -> None:
        """The text doesn't tell what is meant, the values will: a tensor's method is asked at run time, all else is left."""
        self.leave(message, advice)
        self.is_asked = True

    def write_into(self, out: ast.expr) -> bool:
        """Write the result into `out` too, as torch does by out=; False where `out` is a view, which MindSpore copies."""
        if any(map(self._is_view, _parts_of(out))):
            return False
        self._out = out
        del self.given["out"]
        return True

    def _is_view(self, out: ast.expr) -> bool:
        """A part of another tensor, by how it is written or by what its name was last given."""
        if isinstance(out, ast.Name):
            return out.id in self.reading.once(_view_names)
        return _is_written_as_view(out)

    def keep(self) -> None:
        """Leave the call as it is without a word: it need not be torch's at all."""
        self.is_kept = True

    def apply(self) -> None:
        """Make the edits. The engine calls this; rules don't."""
        if self._out is None:
            self._rewrite()
            return
        self._changes["out"] = None
        out = self.edits.text(self._out)
        self._rewrite()
        self.edits.replace_node(self.node, f"{self.writer.spell(WRITE_OUT)}({self.edits.text(self.node)}, {out})")

    def _rewrite(self) -> None:
        if self._replacement is not None:
            self.edits.replace_node(self.node, self._parenthesized(self._replacement))
            return
        if self._declared:
            self._apply_declared()
        if self.to.startswith(COMPAT) and any(keyword.arg == "device" for keyword in self.node.keywords):
            self._changes.setdefault("device", None)  # helpers take one as torch does, and have no use for it
        spelled = self.to if self.to.startswith(".") else self.writer.spell(self.to)
        parts = argument_slots(self.edits.source, self.node)
        if parts is None:
            self._rename_function(spelled, None)
            return
        self._rewrite_arguments(*parts)
        self._rename_function(spelled, parts)

    def _apply_declared(self) -> None:
        rule = self.rule
        for name in rule.drop:
            if name in self.given and name not in self._changes:
                self._changes[name] = None
        for name in rule.only:
            if name in self.given and name not in self._changes:
                self._changes[name] = None
        renamed_given = {rule.rename.get(name, name) for name in self.given}
        for name, text in rule.defaults.items():
            if name not in renamed_given and name not in self._changes:
                self._changes[name] = text

    @property
    def changes_nothing(self) -> bool:
        """Whether applying it would leave the call as it stands."""
        if self._replacement is not None:
            return "".join(self._replacement.split()) == "".join(self.edits.text(self.node).split())
        rule, method = self.rule, self.node.func
        if self._changes or not isinstance(method, ast.Attribute) or self.to != f".{method.attr}":
            return False
        if not self._declared:
            return True
        named = {each.arg: str(self._name_of(each)) for each in self.node.keywords if each.arg}
        is_renamed = any(rule.rename.get(name, name) != written for written, name in named.items())
        has_all = set(rule.defaults) <= {rule.rename.get(name, name) for name in self.given}
        stays = not any(name in self.given for name in (*rule.drop, *rule.only))
        return not is_renamed and has_all and stays and not any(map(self._beyond_positional, self._positional.values()))

    @property
    def is_sound(self) -> bool:
        """Whether the rule found all that it writes: a call without a required argument is nobody's."""
        new = self._replacement
        if "" in self._changes.values() or self._is_named_twice:
            return False
        if new is None:
            return not (self.extra and any(self._is_named_or_dropped(name) for name in self._positional.values()))
        return _parsed(new) is not None or new.startswith(STATEMENT)

    @property
    def _is_named_twice(self) -> bool:
        """mean(axis=0, dim=1): torch refuses it too."""
        names = [name for each in (*self.node.args, *self.node.keywords) if (name := self._name_of(each))]
        renamed = {self.rule.rename.get(name, name) if self._declared else name for name in names}
        return len(renamed) < len(names)

    def _is_named_or_dropped(self, name: str) -> bool:
        """Whether what follows this positional argument can't be positional any more."""
        is_dropped = self._declared and (name in self.rule.drop or name in self.rule.only)
        return self._beyond_positional(name) or self._changes.get(name, None if is_dropped else "") is None

    def _parenthesized(self, text: str) -> str:
        parsed = _parsed(text)
        is_loose = isinstance(parsed, ast.Compare) and isinstance(self.reading.source.parents.get(self.node), _AROUND)
        is_plain = (isinstance(parsed, _ATOMS) and _stands_alone(text)) or (is_loose and "\n" not in text)
        return text if is_plain or text.startswith(STATEMENT) else f"({text})"

    def _rename_function(self, spelled: str, parts: tuple[int, list[Slot], int] | None) -> None:
        source, function = self.edits.source, self.node.func
        if self.receiver is None:
            self.edits.replace_node(function, spelled)
            return
        dot = source.find_token(b".", source.end(self.receiver), source.end(function))
        if spelled.startswith("."):
            self.edits.replace(dot, source.end(function), spelled)
            return
        opening = parts[0] if parts else source.find_token(b"(", source.end(function), source.end(self.node)) + 1
        if source.start(self.node) < source.start(function):  # (x.view)(-1)
            self.edits.replace(source.start(self.node), source.start(function), "")
        remains = self.edits.span(opening, source.end(self.node) - 1).strip()
        self.edits.before_node(self.node, f"{spelled}(")
        is_generator = parts is None and bool(
            remains
        )  # f(x for x in y) has no parentheses of its own beside other arguments
        self.edits.replace(dot, opening, ", (" if is_generator else ", " if remains else "")
        if is_generator:
            self.edits.after_node(self.node, ")")

    def _rewrite_arguments(self, opening: int, slots: list[Slot], close: int) -> None:
        source, nodes = self.edits.source, sorted([*self.node.args, *self.node.keywords], key=self.edits.source.start)
        changes = dict(self._changes)
        kept: list[Slot] = []
        force_keyword = False
        for slot, node in zip(slots, nodes, strict=True):
            name = self._name_of(node)
            if name is not None and name in changes and changes[name] is None:
                del changes[name]
                self._delete(slot, slots, kept, close)
                force_keyword = True
                continue
            kept.append(slot)
            if name is None:
                continue
            new = self.rule.rename.get(name, name) if self._declared else name
            value = node.value if isinstance(node, ast.keyword) else node
            if name in changes:  # before the keyword goes in front: a replacement takes every edit at its start along
                self.edits.replace(source.start(value), source.end(value), str(changes.pop(name)))
            if isinstance(node, ast.keyword):
                if len(kept) == 1 and name in UNNAMED and self.rule.args[:1] == (name,):
                    equals = source.find_token(b"=", source.start(node), source.start(value))
                    self.edits.replace(source.start(node), source.skip_trivia(equals + 1), "")
                elif new != node.arg:
                    self.edits.replace(source.start(node), source.start(node) + len(str(node.arg).encode()), new)
            elif force_keyword or self._beyond_positional(name):
                self.edits.before(slot.start, f"{new}=")
                force_keyword = True
        self._append(
            {self.rule.rename.get(k, k) if self._declared else k: v for k, v in changes.items() if v is not None},
            opening,
            kept,
        )

    def _name_of(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.keyword):
            own = OTHER_NAMES.get(node.arg or "", "")
            return own if own in self.rule.args and node.arg not in self.rule.args else node.arg
        return self._positional.get(node)  # type: ignore[call-overload, no-any-return]

    def _beyond_positional(self, name: str) -> bool:
        limit = self.rule.positional
        return self._declared and limit is not None and self.rule.args.index(name) >= limit

    def _delete(self, slot: Slot, slots: list[Slot], kept: list[Slot], close: int) -> None:
        data, index = self.edits.source.data, slots.index(slot)
        start, end = slot.start, slot.end
        if slot.comma >= 0:
            end = slot.comma + 1
            while data[end : end + 1] in (b" ", b"\t"):
                end += 1
            if data[end : end + 1] in (b"\n", b"\r") and self.edits.source.line_start(start) == start - len(
                self._indent(start)
            ):
                start, end = self.edits.source.line_start(start), self.edits.source.line_end(end)
        elif kept and index:
            start = kept[-1].comma if kept[-1].comma >= 0 else kept[-1].end
            between = data[start + 1 : slot.start]
            if b"#" in between or b"\n" in between:
                start = slot.start
        self.edits.replace(start, end, "")

    def _indent(self, offset: int) -> bytes:
        line = self.edits.source.data[self.edits.source.line_start(offset) : offset]
        return line if not line.strip() else b"\0" * (len(line) + 1)

    def _append(self, arguments: dict[str, str], opening: int, kept: list[Slot]) -> None:
        if not arguments:
            return
        text = ", ".join(f"{name}={value}" for name, value in arguments.items())
        if kept:
            self.edits.after(kept[-1].end, f", {text}")
        else:
            self.edits.after(opening, text)


def _is_written_as_view(out: ast.expr) -> bool:
    """`x[0]`, `x.T`, `x.view(-1)`; `state["sums"]` is a dictionary's entry, which is written to whole."""
    if isinstance(out, ast.Call):
        return isinstance(out.func, ast.Attribute) and _is_written_as_view(out.func)
    if isinstance(out, ast.Subscript):
        return not (isinstance(out.slice, ast.Constant) and isinstance(out.slice.value, str))
    return isinstance(out, ast.Attribute) and out.attr in VIEWS


def _view_names(reading: Reading) -> set[str]:
    """The names that the file gives a view somewhere."""
    given = reading.source.assigned.items()
    return {name for name, statements in given if any(_is_written_as_view(each.value) for each in statements)}


def _parts_of(out: ast.expr) -> list[ast.expr]:
    return out.elts if isinstance(out, ast.Tuple | ast.List) else [out]


@functools.lru_cache(maxsize=4096)  # rules write the same few expressions again and again
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body if text.strip() else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _stands_alone(text: str) -> bool:
    """Whether it needs no parentheses for its line breaks: strings under each other do, a call's arguments don't."""
    if "\n" not in text:
        return True
    try:
        return bool(ast.parse(text, mode="eval"))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False


Rewrite = Callable[[Call], None]
