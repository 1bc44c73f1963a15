"""What the processes of all runs noted, as one Observation."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..apis import table
from ..files import read_regular
from ..frameworks.watched import Run, Span
from ..layout import LARGEST_CODE, SECOND, Layout, mentions_source, read_symbols, source_of
from ..observation import (
    CommandRun,
    Input,
    Loader,
    Made,
    Maker,
    Network,
    Observation,
    SeenClass,
    SeenFile,
    SeenSite,
    SeenType,
    Value,
    digest_of,
)
from ..printed_metrics import last_metrics
from ..read.infer import read
from ..read.source import Source, Unreadable

Record = dict[str, Any]


def gather_observation(
    layout: Layout, runs: Sequence[Run], sites: dict[str, dict[Span, Span]]
) -> tuple[Observation, dict[str, Path]]:
    """The observation, and its arrays and weights by their names in the archive."""
    parts: dict[str, Path] = {}
    networks: list[Network] = []
    loaders: list[Loader] = []
    for number, run in enumerate(runs):
        names = _Names(number, run)
        for record in run.records:
            networks += [_network(each, names.of(record)) for each in record.get("networks", [])]
            loaders += [_loader(each, names.of(record)) for each in record.get("loaders", [])]
        parts |= names.files()
    records = [record for run in runs for record in run.records]
    files = tuple(_files(layout, records, sites))
    seen = {file.path for file in files} | {path for record in records for path in record.get("imported", [])}
    observation = Observation(
        str(layout.root.resolve()),
        tuple(_command(run) for run in runs),
        files,
        tuple(_classes(records)),
        tuple(networks),
        tuple(loaders),
        tuple(_made(record, "optimizers") for record in _each(records, "optimizers")),
        tuple(_made(record, "schedules") for record in _each(records, "schedules")),
        next((record["versions"] for record in records if record.get("versions")), {}),
        tuple(_apis(layout, {file.path: frozenset(file.lines) for file in files})),
        tuple(each.relative for each in layout.python if each.relative not in seen and mentions_source(each.path)),
        uncalled=tuple(dict.fromkeys(each for record in records for each in record.get("uncalled", []))),
    )
    return observation, parts


class _Names:
    """Array and weight files of one run, under names that no other run has."""

    def __init__(self, number: int, run: Run) -> None:
        self.number, self.run = number, run

    def of(self, record: Record) -> str:
        return f"run-{self.number}/{record['pid']}"

    def files(self) -> dict[str, Path]:
        found = {}
        for record in self.run.records:
            arrays = self.run.folder / f"arrays-{record['pid']}.npz"
            if arrays.is_file():
                found[f"{self.of(record)}.npz"] = arrays
            for each in record.get("networks", []):
                state = self.run.folder / str(each.get("state", ""))
                if each.get("state") and state.is_file():
                    found[f"run-{self.number}/{each['state']}"] = state
        return found


def _each(records: Iterable[Record], key: str) -> list[Record]:
    return [each for record in records for each in record.get(key, [])]


def _command(run: Run) -> CommandRun:
    steps = run.main.get("steps", [])
    opened = dict.fromkeys(path for record in run.records for path in record.get("opened", []))
    return CommandRun(
        run.command,
        run.ended,
        round(run.seconds, 2),
        tuple(float(step["loss"]) for step in steps),
        tuple(float(step["lr"]) for step in steps),
        tuple(f"{name} {seed}" for name, seed in run.main.get("seeds", [])),
        tuple(opened),
        len(run.records),
        str(run.main.get("stdin", "")),
        last_metrics(run.output),
        int(run.main.get("peak_memory", 0)),
    )


def seen_type(body: list[Any]) -> SeenType:
    """From the plain lists of watch/mindferry_watch/types_seen.py."""
    kind, name = str(body[0]), str(body[1]) if len(body) > 1 else ""
    if kind == "instance":
        return SeenType(kind, name, (), tuple(body[2]) if len(body) > 2 else ())
    return SeenType(kind, name, tuple(seen_type(each) for each in body[2]) if len(body) > 2 else ())


def _files(layout: Layout, records: list[Record], sites: dict[str, dict[Span, Span]]) -> Iterable[SeenFile]:
    known = {file.relative: file for file in layout.files if file.is_code}
    names = sorted({path for record in records for path in record.get("lines", {})})
    for path in names:
        if path not in known:
            continue
        lines = {line for record in records for line in record.get("lines", {}).get(path, [])}
        statements = {line for record in records for line in record.get("all_lines", {}).get(path, [])}
        seen: dict[Span, dict[SeenType, None]] = {}
        for record in records:
            for *place, kinds in record.get("sites", {}).get(path, []):
                span = sites.get(path, {}).get((place[0], place[1], place[2], place[3]))
                if span is not None:
                    seen.setdefault(span, {}).update(dict.fromkeys(map(seen_type, kinds)))
        yield SeenFile(
            path,
            digest_of(known[path].path.read_bytes()),
            tuple(sorted(lines)),
            tuple(sorted(statements)),
            tuple(SeenSite(*span, tuple(kinds)) for span, kinds in sorted(seen.items())),
        )


def _classes(records: list[Record]) -> Iterable[SeenClass]:
    merged: dict[str, dict[str, dict[SeenType, None]]] = {}
    for record in records:
        for name, attributes in record.get("attributes", {}).items():
            for attribute, kinds in attributes.items():
                held = merged.setdefault(name, {}).setdefault(attribute, {})
                held.update(dict.fromkeys(map(seen_type, kinds)))
    for name, held_by in sorted(merged.items()):
        yield SeenClass(name, {attribute: tuple(kinds) for attribute, kinds in held_by.items()})


def _network(body: Record, prefix: str) -> Network:
    state = f"{prefix.partition('/')[0]}/{body['state']}" if body.get("state") else ""
    return Network(
        body["class"],
        tuple(
            Maker(each["module"], each["name"], each["file"], each["arguments"], each["is_plain"], *each["at"])
            for each in body["makers"]
        ),
        body["calls"],
        tuple(_shape_text(each) for each in body["shapes"]),
        tuple(
            Input(
                tuple(_value(each, prefix) for each in call["args"]),
                {name: _value(each, prefix) for name, each in call["kwargs"].items()},
                call["training"],
            )
            for call in body["inputs"]
        ),
        tuple((path, name) for path, name in body["structure"]),
        body["parameters"],
        state,
    )


def _shape_text(shapes: Any) -> str:
    """float32[8,3,32,32], int64[8]"""
    if isinstance(shapes, str):
        return shapes
    if len(shapes) == 2 and isinstance(shapes[0], str) and isinstance(shapes[1], list):
        if all(isinstance(each, int) for each in shapes[1]):
            return f"{shapes[0]}[{','.join(map(str, shapes[1]))}]"
        return f"{shapes[0]}={_shape_text(shapes[1])}"
    return ", ".join(_shape_text(each) for each in shapes)


def _value(body: list[Any], prefix: str) -> Value:
    kind, held = str(body[0]), body[1]
    if kind == "array":
        return Value(kind, f"{prefix}.npz:{held}")
    if kind == "dict":
        return Value(kind, "", tuple(_value(each, prefix) for each in held.values()), tuple(held))
    if kind == "object":
        own, parts = held
        return Value(kind, own, tuple(_value(each, prefix) for each in parts.values()), tuple(parts))
    if kind in ("list", "tuple"):
        return Value(kind, "", tuple(_value(each, prefix) for each in held))
    return Value(kind, str(held))


def _loader(body: Record, prefix: str) -> Loader:
    first = _value(body["first"], prefix)
    return Loader(
        body["dataset"],
        body["batch_size"],
        body["batches"],
        body["sampler"],
        body["workers"],
        body["at"][0],
        body["at"][1],
        first,
        int(body.get("passes", 1)),
    )


def _made(body: Record, key: str) -> Made:
    return Made(body["class"], body["options"], *body["at"])


def _apis(layout: Layout, lines: dict[str, frozenset[int]]) -> Iterable[str]:
    """The framework's names on lines that ran."""
    whole = read_symbols(layout)
    found: set[str] = set()
    for file in layout.python:
        if not lines.get(file.relative):
            continue
        try:
            source = Source(read_regular(file.path, LARGEST_CODE), file.relative)
            is_second = whole.second is not None and source_of(source.data, whole.is_first_used) == SECOND
            symbols = whole.second if whole.second is not None and is_second else whole
            is_api = table(symbols.framework.name).is_api
            reading = read(source, symbols.fork(), file.module, file.is_package, is_api)
        except (Unreadable, OSError, RecursionError):
            continue
        for node in source.nodes:
            if isinstance(node, ast.Name | ast.Attribute) and node.lineno in lines[file.relative]:
                kind = reading.type(node)
                is_torch = kind.kind in ("ref", "method") and symbols.framework.has(kind.qual)
                found |= {kind.qual} if is_torch else set()
    return sorted(found)
