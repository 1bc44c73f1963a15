"""Arguments of calls that change a tensor in place."""

from __future__ import annotations

import ast


def tensor_argument(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else next((key.value for key in call.keywords if key.arg == "tensor"), None)


def is_given_true(node: ast.Call, name: str) -> bool:
    return any(
        key.arg == name and isinstance(key.value, ast.Constant) and key.value.value is True for key in node.keywords
    )
