"""Parts that only a library's own machinery asks for: they are left behind until a network or the project asks too."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from importlib.resources import files

from .lookup import Lookup
from .reached_parts import Left
from .sources import Sources
from .substitute import Definition, stand_in


@dataclass(slots=True)
class Part:
    name: str
    why: str
    by: frozenset[str]
    named: re.Pattern[str] | None = None  # names and texts that call for it
    of: str = ""  # a package of networks: the part is needed if its text speaks of one that came along
    waiting: list[tuple[str, str, str]] = field(default_factory=list)  # (module, name, who asked)

    def has(self, place: str) -> bool:
        return place == self.name or place.startswith(f"{self.name}.")


class OnlyFor:
    """The parts that are still closed, and who waits for them."""

    def __init__(
        self,
        packages: Container[str],
        lookup: Lookup,
        left: dict[str, Left],
        ask_again: Callable[[str, str, str], None],
    ) -> None:
        self._closed = [each for each in parts() if each.name.partition(".")[0] in packages]
        self._lookup, self._left, self._ask_again = lookup, left, ask_again
        self._seen: set[str] = set()

    def holds(self, module_name: str, name: str, by: str) -> bool:
        """Whether this belongs to a part that stays behind, because only the library's machinery asks for it so far."""
        part = next((each for each in self._closed if each.has(module_name)), None)
        place = f"{module_name}.{name}" if name else module_name
        if part is None or self._lookup.reason_to_leave(place):
            return False
        if by not in part.by:
            self._open(part)
            return False
        if place not in self._left:
            part.waiting.append((module_name, name, by))
            self._left[place] = Left(place, part.why, by)
        return True

    def call(self, name: str, by: str) -> None:
        """A name or a text, which may call for a part where a network or the project has it."""
        if self._closed and name not in self._seen and self._is_user(by):
            self._seen.add(name)
            for part in [each for each in self._closed if each.named is not None and each.named.fullmatch(name)]:
                self._open(part)

    def call_for_networks(self, modules: dict[str, set[str]], sources: Sources) -> None:
        """The parts whose text speaks of a network that came along. `modules` are those that did, with what of them."""
        for part in [each for each in self._closed if each.of and each.waiting]:
            names: set[str] = set()
            for module, classes in modules.items():
                if module.startswith(f"{part.of}."):
                    kind = module.removeprefix(f"{part.of}.").partition(".")[0]
                    names |= {kind, kind.replace("_", "-"), *classes}
            text = sources.text_of(part.name)
            if any(f'"{name}"' in text or f"'{name}'" in text for name in names):
                self._open(part)

    def stand_in(self, place: str) -> str:
        """The text of a definition that stands in for a name of a closed part, or ''."""
        part = next((each for each in self._closed if each.has(place)), None)
        ours = stand_in(f"without.{part.name}") if part is not None else ""
        name = place.rpartition(".")[2]
        found = [each for each in ast.parse(ours).body if isinstance(each, Definition) and each.name == name]
        return ast.get_source_segment(ours, found[0]) or "" if found else ""

    def _open(self, part: Part) -> None:
        """Somebody needs the part: whoever asked for it before gets it too."""
        self._closed.remove(part)
        for module_name, name, by in part.waiting:
            self._left.pop(f"{module_name}.{name}" if name else module_name, None)
            self._ask_again(module_name, name, by)

    def _is_user(self, by: str) -> bool:
        head = by.partition(".")[0]
        if not any(each.name.startswith(f"{head}.") for each in self._closed):
            return True  # a file of the project
        return by.startswith(f"{head}.models.") and not by.startswith(f"{head}.models.auto.")


def parts() -> Iterator[Part]:
    table = tomllib.loads(files("mindferry.library").joinpath("only_for.toml").read_text("utf-8"))
    for name, entry in table.items():
        named = re.compile(entry["named"]) if "named" in entry else None
        yield Part(name, entry["why"], frozenset(entry["by"]), named, entry.get("of", ""))
