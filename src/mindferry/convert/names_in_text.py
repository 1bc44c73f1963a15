"""Names of the framework's in texts, which a program looks up when it runs.

`_target_: torch.optim.AdamW` in a configuration, `locate("torch.nn.GELU")` in code, `nn.Upsample` in a list of layers that is handed to
eval(). No import says that these are torch's; what reads them is told by the calls in the project's code.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from .. import findings
from ..apis import Table, framework, table
from ..artifacts import Finding, Rewrite
from ..files import read_regular
from ..layout import Layout, ProjectFile
from ..read.source import Source, Unreadable
from .code_words import Text, says
from .plain_texts import ChangedText, Places

CONFIGURATIONS = frozenset(".yaml .yml .json .toml .cfg .ini .conf .gin".split())
MARKS = {".json": "", ".cfg": "#;", ".ini": "#;", ".conf": "#;"}  # of comments; elsewhere #
LARGEST = 1 << 20  # bytes of a configuration: what is longer is data
_CHOOSES = re.compile(rb"(?<![\w.])(?:getattr|__dict__|vars)(?!\w)")
_VALUE = re.compile(r"(?<![\w.\\/-])[A-Za-z_]\w*(?![\w.]|[\"']?[ \t]*:)")  # no key, no part of a dotted name
_EVALUATES = re.compile(rb"(?<![\w.])eval(?![\w.])")
_IMPORTERS = (
    "import_module|__import__|pydoc|locate|hydra|jsonargparse|LightningCLI|instantiate|get_class|get_obj_from_str"
)
_IMPORTS = re.compile(rf"(?<!\w)(?:{_IMPORTERS})(?!\w)".encode())
_WORDS = {  # without one of these the text need not be searched
    _CHOOSES: (b"getattr", b"__dict__", b"vars"),
    _EVALUATES: (b"eval",),
    _IMPORTS: tuple(_IMPORTERS.encode().split(b"|")),
}
_DOTTED = re.compile(r"(?<![\w.\\/@-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/\\-]|\.\w)")


@dataclass(frozen=True, slots=True)
class NamesInText:
    """What is known of the texts of a project."""

    words: tuple[str, ...] = ()  # dotted names in them, where code evaluates texts
    values: tuple[str, ...] = ()  # plain names that configurations hold, and torch has: `act: GELU`
    helpers: str = ""  # the module of the helpers as a text names it, where code imports what a text names


NO_TEXTS = NamesInText()


def names_in_text(layout: Layout, texts: Callable[[], Iterable[Text]], helpers: Callable[[], str]) -> NamesInText:
    """`texts` reads the code, one file after another; `helpers` tells where texts would find the helpers."""
    chooses = evaluates = imports = False
    for each in texts():
        chooses = chooses or _says(_CHOOSES, each)
        evaluates = evaluates or _says(_EVALUATES, each)
        imports = imports or _says(_IMPORTS, each)
    home = helpers() if imports else ""
    if not (chooses or evaluates):
        return NamesInText(helpers=home)
    configurations = [_text_of(file) for file in layout.files if is_configuration(file)]
    found = {word for text in configurations for word in _words(text)} if evaluates else set()
    for _, parsed in texts() if evaluates else ():
        with contextlib.suppress(OSError, Unreadable):
            found |= {word for text in _strings(parsed()) for word in _words(text)}
    values = _values(configurations) if chooses else ()
    return NamesInText(tuple(sorted(found)), values, home)


def _says(pattern: re.Pattern[bytes], file: Text) -> bool:
    return any(word in file[0] for word in _WORDS[pattern]) and says(pattern, file)


def _values(configurations: list[str]) -> tuple[str, ...]:
    if not configurations:
        return ()
    known = {entry.api.rpartition(".")[2] for entry in table()}
    return tuple(sorted({match[0] for text in configurations for match in _VALUE.finditer(text)} & known))


def dotted_home(layout: Layout, home: str, name: str) -> str:
    """How a text names the helpers that stand in this folder: as the project imports what stands beside them."""
    for file in layout.python:
        parts, folder = PurePosixPath(file.relative).parts, PurePosixPath(home).parts
        if home != "." and parts[: len(folder)] == folder and (layout.root / home / "__init__.py").is_file():
            below = len(parts) - len(folder) - file.is_package
            modules = file.module.split(".")
            return ".".join((*modules[: len(modules) - below], name))
    return f"{layout.root.resolve().name}.{name}" if layout.is_package else name


def is_configuration(file: ProjectFile) -> bool:
    return file.path.suffix.lower() in CONFIGURATIONS


def target_of(api: str, rules: Table) -> str:
    """What stands for an API as a value, or ''."""
    entry = rules.get(api)
    target = "" if entry is None or entry.missing else entry.like or entry.to
    return "" if target.startswith(".") else target


def is_looked_up(api: str, rules: Table) -> bool:
    """A type of numbers is rather taken apart, `"torch.float32".split(".")`, than imported."""
    own = framework()
    is_type = api.removeprefix(f"{own.name}.") in own.dtypes
    return own.has(api) and not is_type and rules.get(api) is not None


def renamed(path: str, text: str, helpers: str, rules: Table) -> ChangedText:
    """A configuration with what stands for each of the framework's names that it holds."""
    places = Places(text, MARKS.get(PurePosixPath(path).suffix.lower(), "#"))
    compat, rewrites, found = set[str](), [], []
    pieces, last = [], 0
    for match in _DOTTED.finditer(text):
        api = match[0]
        if not is_looked_up(api, rules) or places.is_in_comment(match.start()):
            continue
        line, column = places.position(match.start())
        target = target_of(api, rules)
        if not target:
            message = f"{api} is named here, is looked up when the program runs, and has no counterpart"
            found.append(Finding(findings.MF102, "error", path, line, column, message, findings.MF102.advice, api))
            continue
        new = in_text(target, helpers)
        compat |= {target.split(".")[1]} if target.startswith("compat.") else set()
        pieces += [text[last : match.start()], new]
        last = match.end()
        rewrites.append(Rewrite(line, column, api, api, new))
    return ChangedText("".join((*pieces, text[last:])), frozenset(compat), tuple(rewrites), tuple(found))


def in_text(target: str, helpers: str) -> str:
    return f"{helpers}.{target.removeprefix('compat.')}" if target.startswith("compat.") else target


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in _DOTTED.finditer(text))


def _text_of(file: ProjectFile) -> str:
    try:
        return read_regular(file.path, LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def _strings(source: Source) -> Iterator[str]:
    for node in source.of(ast.Constant):
        if isinstance(node.value, str) and not isinstance(source.parents.get(node), ast.Expr):
            yield node.value
