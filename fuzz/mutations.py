"""Texts broken at random: by letters, by values of a JSON document, by values of a TOML file."""

from __future__ import annotations

import json
import random
import re
from typing import Any

LONGEST = 400_000
SIGNS = "[ ] { } \" ' , : = \\ null true -1 1e999 NaN ../../x /etc/passwd [[train]] args=[ \\ud800 # ( ) * ? .* é漢"
PIECES = (
    *SIGNS.split(),
    *('"""', "'''", "\n", "\0", "\ufeff", "\ud800", "\r\n", "\r", "\f", "\x1b[31m", "\t", " " * 3000, "\u2028"),
    *("9" * 5000, "[" * 3000, '{"a":' * 3000, "(" * 300, "_" * 3000, "pip install torch " * 50),
    *("%%bash\n", "!ls\n", "# mindferry cell 1\n", "import torch\n", "x.view(-1)\n", "x = !ls\n", "x?\n"),
    *("[convert]\n", "exclude = [1]\n", "with = ['..']\n", "# coding: utf-7\n", "torch --hash=sha256:0\\\n"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 10**400, 1.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", "x", "\0", "\ud800", "\n", "..", "../../victim", "/", "/dev/zero", "a" * 70_000, "é", "\x1b[2J", "C:\\x"),
    *([], [[]], [None], {}, {"": 0}, {"a": {"b": {"c": []}}}, ["x"] * 2_000, list(range(5))),
)
ODD_TOML = (
    *("[]", "{}", "[1]", "['a', 1]", "1", "-1", "1.5", "nan", "inf", "true", "''", "'../..'", "'\x1b[2J'"),
    *("1979-05-27", "07:32:00", "9" * 400, "0x" + "f" * 400, "[[[['a']]]]", "'''\na\n'''", '"\\u0000"', "{a = 'b'}"),
    *("[" * 500 + "]" * 500, '["*"]', '["**/**/**/**/**"]', "'" + "*" * 2_000 + "'", "'a:b:c'", "['(a+)+$']"),
)


def mutate_text(text: str, rng: random.Random) -> bytes:
    """A few random edits: pieces that break things, cuts, repeats, swaps, and another encoding."""
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randrange(1, 30) :]
            case 2:
                text = text[:at] + text[at : at + rng.randrange(1, 60)] * rng.choice((2, 3, 40, 3000)) + text[at:]
            case _:
                end = at + rng.randrange(1, 12)
                text = text[:at] + "".join(rng.choice(PIECES) for _ in range(rng.randrange(3))) + text[end:]
        text = text[:LONGEST]
    return _encoded(text, rng)


def _encoded(text: str, rng: random.Random) -> bytes:
    encoding = rng.choice(("utf-8",) * 8 + ("utf-16", "utf-8-sig", "utf-32"))
    raw = bytearray(text.encode(encoding, "surrogatepass"))
    if raw and rng.random() < 0.1:
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def mutate_json(text: str, rng: random.Random) -> bytes:
    """Still JSON, but with other values, keys or lengths at a few places; strings get pieces that break things."""
    body = json.loads(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = list(_places(body))
        if not places:
            break
        holder, key = rng.choice(places)
        _change(holder, key, rng)
    return json.dumps(body, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += [(value, key), *_places(item)]
    return found


def _change(holder: Any, key: Any, rng: random.Random) -> None:
    old = holder[key]
    match rng.randrange(5):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(old, str):
            at = rng.randrange(len(old) + 1)
            holder[key] = old[:at] + rng.choice(PIECES) + old[at:]
        case 2 if isinstance(old, list) and old:
            holder[key] = old * rng.choice((0, 2, 30))
        case 3 if isinstance(holder, dict):
            holder[rng.choice(("", "kind", "../x", "\ud800", "x" * 5_000))] = holder.pop(key)
        case _:
            holder[key] = json.loads(json.dumps(rng.choice(ODD_VALUES)))


def mutate_toml(text: str, rng: random.Random) -> bytes:
    """A few keys with values of other kinds, or in other sections."""
    for _ in range(rng.choice((1, 1, 2))):
        found = list(re.finditer(r"(?m)^(\S.*?) = (.*)$", text))
        if not found:
            break
        match = rng.choice(found)
        if rng.random() < 0.8:
            text = text[: match.start(2)] + rng.choice(ODD_TOML) + text[match.end(2) :]
        else:
            text = text[: match.start()] + text[match.end() :] + match.group() + "\n"
    return text.encode("utf-8", "surrogatepass")
