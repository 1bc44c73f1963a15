"""A user's own map of names, from TOML: exact names, regular expressions, transforms, and what to leave out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import MindferryError, brief
from .transforms import check_transform


@dataclass(frozen=True, slots=True)
class UserMap:
    """`[names]` exact; `[patterns]` and `drop` by regular expression; `[transforms]` by that of the source."""

    names: dict[str, str] = field(default_factory=dict)
    patterns: tuple[tuple[re.Pattern[str], str], ...] = ()
    transforms: tuple[tuple[re.Pattern[str], str], ...] = ()
    dropped: tuple[re.Pattern[str], ...] = ()

    def target(self, source: str) -> tuple[str, str] | None:
        """The target name and transform of `source`, or None where the map doesn't speak of it."""
        transform = next((t for pattern, t in self.transforms if pattern.fullmatch(source)), "")
        if source in self.names:
            return self.names[source], transform
        for pattern, template in self.patterns:
            if found := pattern.fullmatch(source):
                return found.expand(template), transform
        return (source, transform) if transform else None

    def drops(self, source: str) -> bool:
        return any(pattern.fullmatch(source) for pattern in self.dropped)


def read_user_map(path: Path) -> UserMap:
    import tomllib

    try:
        body = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MindferryError(
            f"cannot read the map {path} ({brief(str(error))}); it is TOML with [names], [patterns], [transforms]"
        ) from None
    unknown = sorted(set(body) - {"names", "patterns", "transforms", "drop"})
    if unknown:
        raise MindferryError(
            f"{path}: unknown key {brief(unknown[0])!r}; a map has [names], [patterns], [transforms] and drop"
        )
    tables = [body.get(key, {}) for key in ("names", "patterns", "transforms")]
    drop = body.get("drop", [])
    is_text = all(isinstance(table, dict) and all(isinstance(v, str) for v in table.values()) for table in tables)
    if not is_text or not isinstance(drop, list) or not all(isinstance(item, str) for item in drop):
        raise MindferryError(
            f"{path}: names, patterns and transforms map strings to strings, drop is a list of strings"
        )
    names, patterns, transforms = tables
    for transform in transforms.values():
        check_transform(transform, str(path))
    return UserMap(
        names, _compiled(patterns, path), _compiled(transforms, path), tuple(_compile(p, path) for p in drop)
    )


def _compiled(table: dict[str, str], path: Path) -> tuple[tuple[re.Pattern[str], str], ...]:
    compiled = tuple((_compile(pattern, path), value) for pattern, value in table.items())
    for pattern, template in compiled:
        numbers = [number.lstrip("0") for number in re.findall(r"\\(\d+)", template)]
        if any(len(number) > 3 or int(number or "0") > pattern.groups for number in numbers):
            raise MindferryError(
                f"{path}: {brief(template)!r} names a group that {brief(pattern.pattern)!r} doesn't have"
            )
    return compiled


def _compile(pattern: str, path: Path) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise MindferryError(f"{path}: {brief(pattern)!r} is no regular expression ({brief(str(error))})") from None
