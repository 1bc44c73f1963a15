"""Where a library asks for its own package, `__name__.split(".")[0]`, the folder that all of them lie in is not the answer."""

from __future__ import annotations

import re

FOLDER = "ported"
_PACKAGE = re.compile(r"""\b__name__\.(?:split|partition)\((?P<quote>["'])\.(?P=quote)(?:, 1)?\)\[0\]""")
_OWNER = re.compile(r"""\.__module__\.(?P<how>split|partition)\((?P<quote>["'])\.(?P=quote)""")


def with_own_package(text: str) -> str:
    """`importlib.import_module(…)` of it finds the package where it is now; the package of a class has the name that it had."""
    text = _PACKAGE.sub(lambda found: "{0}.{0}.join(__name__.split({0}.{0})[:2])".format(found["quote"]), text)
    return _OWNER.sub(
        lambda found: ".__module__.removeprefix({0}{1}.{0}).{2}({0}.{0}".format(found["quote"], FOLDER, found["how"]),
        text,
    )
