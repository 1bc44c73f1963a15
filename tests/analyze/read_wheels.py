"""Which MindSpore names the rules and helpers need that a version lacks: `python tests/analyze/read_wheels.py WHEEL...`.

Writes src/mindferry/analyze/versions.toml. Wheels come from `pip download --no-deps mindspore==2.8.0`; nothing in them is run.
The installed MindSpore, which the rules were measured with, says what this reading can find at all.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import sys
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from mindferry.analyze.versions import helper_needs
from mindferry.apis import table

OUTPUT = Path(__file__).parents[2] / "src" / "mindferry" / "analyze" / "versions.toml"
HEAD = """# MindSpore names that the rules and their helpers use and that a version doesn't have, and arguments that it lacks.
# Read from its wheel without running it: tests/analyze/read_wheels.py. How the same name behaves there is not known.
"""
DEEPEST = 8  # imports followed one after the other
Read = Callable[[str], str | None]  # path inside the package -> its text


def of_wheel(path: Path) -> Read:
    archive = zipfile.ZipFile(path)
    names = set(archive.namelist())
    return lambda name: archive.read(name).decode("utf-8") if name in names else None


def of_installed() -> Read:
    spec = find_spec("mindspore")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parents[1]
    return lambda name: (root / name).read_text("utf-8") if (root / name).is_file() else None


class Names:
    """Where each module of a package has its names from, star imports followed."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.of = functools.cache(self._of)

    def has(self, name: str) -> bool:
        module, _, last = name.rpartition(".")
        return self._text(name) is not None or last in self.of(module)

    def arguments(self, name: str) -> frozenset[str] | None:
        """The parameters of a function, or of a class's __init__; None if they can't be told."""
        for _ in range(DEEPEST):
            module, _, last = name.rpartition(".")
            found = self.of(module).get(last)
            if isinstance(found, ast.ClassDef):
                found = next(
                    (each for each in found.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None
                )
            if isinstance(found, ast.FunctionDef):
                given = found.args
                spread = [each.arg for each in (given.vararg, given.kwarg) if each is not None]
                if spread:
                    return None
                return frozenset(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))
            if not isinstance(found, str) or found == name:
                return None
            name = found
        return None

    def _text(self, module: str) -> str | None:
        path = module.replace(".", "/")
        return self.read(f"{path}/__init__.py") or self.read(f"{path}.py")

    def _of(self, module: str) -> dict[str, ast.AST | str]:
        """name -> its definition, or the dotted name that it is imported from."""
        text = self._text(module)
        if text is None:
            return {}
        names: dict[str, ast.AST | str] = {}
        is_package = self.read(f"{module.replace('.', '/')}/__init__.py") is not None
        package = module.split(".") if is_package else module.split(".")[:-1]
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    names.setdefault(name, node)
                case ast.Assign(targets=targets):
                    names |= {each.id: node for each in targets if isinstance(each, ast.Name)}
                case ast.Import(names=aliases):
                    names |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in aliases}
                case ast.ImportFrom(module=source, names=aliases, level=level):
                    home = ".".join([*(package[: len(package) - level + 1] if level else []), *filter(None, [source])])
                    if aliases[0].name == "*" and home != module and home.startswith("mindspore"):
                        names |= {name: f"{home}.{name}" for name in self.of(home)}
                    names |= {alias.asname or alias.name: f"{home}.{alias.name}" for alias in aliases}
        return names


def needed() -> set[str]:
    names = {each.to for each in table() if each.to.startswith("mindspore.")}
    return names.union(*helper_needs().values())


def main() -> None:
    here = Names(of_installed())
    wanted = sorted(name for name in needed() if here.has(name))
    lines = [HEAD.rstrip()]
    for wheel in map(Path, sorted(sys.argv[1:])):
        version = re.match(r"mindspore-(\d+\.\d+)", wheel.name)
        assert version is not None, f"{wheel} is no wheel of MindSpore"
        there = Names(of_wheel(wheel))
        absent = [name for name in wanted if not there.has(name)]
        fewer = {
            name: sorted(now - then)
            for name in wanted
            if (now := here.arguments(name)) and (then := there.arguments(name)) is not None
        }
        fewer = {name: arguments for name, arguments in fewer.items() if arguments}
        lines += ["", f'["{version[1]}"]', f"absent = {json.dumps(absent)}", f'["{version[1]}".without]']
        lines += [f"{json.dumps(name)} = {json.dumps(arguments)}" for name, arguments in fewer.items()]
        print(f"{wheel.name}: {len(absent)} of {len(wanted)} names absent, {len(fewer)} with fewer arguments")
    OUTPUT.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
