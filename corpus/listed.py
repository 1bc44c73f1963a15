"""projects.toml as typed records."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).parent / "projects.toml"


@dataclass(frozen=True, slots=True)
class Model:
    """`code` is imports and, last, the expression that builds it, the same text for both frameworks; `inputs` as for `mindferry verify`."""

    code: str
    inputs: tuple[str, ...]
    at: str = ""  # folder inside the project that its imports start from


@dataclass(frozen=True, slots=True)
class Script:
    """A command that ends by itself within a minute or two, such as `train.py --epochs 1`; `files` are made up before."""

    command: tuple[str, ...]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    name: str
    field: str
    package: str = ""  # name==version, from pip
    repository: str = ""  # owner/name
    commit: str = ""
    needs: tuple[str, ...] = ()  # packages that it imports, none of which needs torch
    models: tuple[Model, ...] = ()
    scripts: tuple[Script, ...] = ()

    @property
    def origin(self) -> str:
        return self.package or f"{self.repository}@{self.commit[:10]}"


def projects() -> list[Project]:
    body = tomllib.loads(LIST.read_text("utf-8"))
    return [_project(name, entry) for name, entry in body.items()]


def _project(name: str, entry: dict[str, object]) -> Project:
    rows = entry.pop("models", [])
    scripts = entry.pop("scripts", [])
    assert isinstance(rows, list) and isinstance(scripts, list)
    models = tuple(Model(row[0], tuple(row[1:]), _folder(entry)) for row in rows)
    commands = tuple(Script(tuple(row["command"].split()), row.get("at", "")) for row in scripts)
    folder = entry.pop("at", "")
    del folder
    needs = entry.pop("needs", [])
    assert isinstance(needs, list)
    return Project(name, needs=tuple(needs), models=models, scripts=commands, **entry)  # type: ignore[arg-type]


def _folder(entry: dict[str, object]) -> str:
    return str(entry.get("at", ""))
