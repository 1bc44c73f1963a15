"""Registries: `@register_model def resnet18(...)`, asked for by a text, and tables of names, as behind `AutoModel`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .sources import Module, Sources

_GIVEN = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"  # arguments, over as many lines as they take
_REGISTERED = re.compile(
    rf"^@[\w.]*register\w*(?P<given>{_GIVEN})?[^\n(]*\n(?:@[\w.]+(?:{_GIVEN})?[^\n(]*\n)*(?:def|class) (?P<definition>\w+)",
    re.MULTILINE,
)
# `register_model_deprecations(__name__, {"jx_nest_tiny": "nest_tiny_jx.tag"})`: an old name for a definition of the module
_RENAMED = re.compile(r"^(?P<function>\w*register\w*)\(\s*__name__\s*,\s*(?P<names>\{[^{}]*\})\s*,?\s*\)", re.MULTILINE)
_NAMED = re.compile(r"""\(\s*(?:name\s*=\s*)?["']([^"'\n]+)["']""")


class Registries:
    """Which module registers a name, and as which definition, read from the packages' texts."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: dict[str, tuple[str, str]] | None = None  # name -> module, definition
        self.renamed: dict[str, tuple[str, str]] = {}  # an old name -> the function that registers it, and what for

    def place(self, name: str) -> tuple[str, str] | None:
        if self._found is None:
            self._found = self._read()
        return self._found.get(name)

    def _read(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        shared: set[str] = set()
        for package in self._sources.packages.values():
            if package.root.is_file():
                continue
            for path in sorted(package.root.rglob("*.py")):
                text = self._sources.text(path) if path.stat().st_size < LARGEST else ""
                if "register" in text:
                    inner = path.relative_to(package.root).with_suffix("").parts
                    module = ".".join([package.name, *(part for part in inner if part != "__init__")])
                    for old, function, now in _renamed(text):
                        found.setdefault(old, (module, now.partition(".")[0]))
                        self.renamed.setdefault(old, (function, now))
                    for name, definition in _registered(text):
                        if found.setdefault(name, (module, definition)) != (module, definition) and name != definition:
                            shared.add(name)  # a kind, such as 'onnx', not the name of one thing
        return {name: place for name, place in found.items() if name not in shared}


def _registered(text: str) -> Iterator[tuple[str, str]]:
    """The name that `@register_model(name="quantized_resnet18")` gives to a definition, or the definition's own."""
    for match in _REGISTERED.finditer(text):
        named = _NAMED.match(match["given"] or "")
        yield named.group(1) if named else match["definition"], match["definition"]


def _renamed(text: str) -> Iterator[tuple[str, str, str]]:
    """(old name, the function that registers it, what it stands for now)."""
    for match in _RENAMED.finditer(text):
        try:
            names = ast.literal_eval(match["names"])
        except (ValueError, SyntaxError):
            continue
        for old, now in names.items() if isinstance(names, dict) else ():
            if isinstance(old, str) and isinstance(now, str) and now.partition(".")[0].isidentifier():
                yield old, match["function"], now


def gives_old_names(statement: ast.stmt) -> bool:
    """`register_model_deprecations(__name__, {…})`, which is written anew for the names that are asked for."""
    return next(_renamed(ast.unparse(statement)), None) is not None


def registered_by(statement: ast.stmt) -> Iterator[tuple[str, ast.Name]]:
    """`register_block("mobilevit", MobileVitBlock)`, outside of functions: who names the text needs the class."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return
    call = statement.value
    if not getattr(call.func, "attr", getattr(call.func, "id", "")).startswith("register"):
        return
    values = [*call.args, *(each.value for each in call.keywords)]
    texts = [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    yield from ((text, each) for text in texts[:1] for each in values if isinstance(each, ast.Name))


LARGEST = 2**20  # bytes of a file that is looked into


def named_places(statement: ast.stmt, module: Module, sources: Sources) -> Iterator[tuple[str, str]]:
    """(package, name in it) for `TABLE = OrderedDict([("gpt2", "GPT2Model"), …])`, whose keys are packages beside the module."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return
    above = module.name.split(".")[:-1]
    for key, name in _pairs(statement.value):
        inner = key.replace("-", "_")
        for count in range(len(above), 0, -1) if inner.isidentifier() else ():
            place = ".".join([*above[:count], inner])
            if sources.path(place) is not None:
                yield place, name
                break


def _pairs(value: ast.expr) -> Iterator[tuple[str, str]]:
    for node in ast.walk(value):
        found: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(node, ast.Dict):
            found = list(zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            found = [(node.elts[0], node.elts[1])]
        for key, inner in found:
            for each in _alternatives(inner):
                texts = [
                    part.value for part in (key, each) if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
                if len(texts) == 2 and texts[1].isidentifier():
                    yield texts[0], texts[1]


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """The texts of `("SlowTokenizer", "FastTokenizer" if is_tokenizers_available() else None)`."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    for part in parts:
        yield from (part.body, part.orelse) if isinstance(part, ast.IfExp) else (part,)
