"""What the names of a function, class or branch are known to be."""

from __future__ import annotations

from .types import Type


class Scope:
    """Names of one scope; a branch is a scope whose parent it falls back to."""

    __slots__ = ("names", "owner", "parent", "part", "stars")

    def __init__(self, parent: Scope | None = None, owner: str = "", part: str = "") -> None:
        self.names: dict[str, Type] = {}
        self.parent = parent
        self.owner: str = owner or (parent.owner if parent else "")  # the class whose method this is
        self.part: str = part or (parent.part if parent else "")  # the class or function of the module that this is in
        self.stars: list[str] = parent.stars if parent else []

    def look_up(self, name: str) -> Type | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None
