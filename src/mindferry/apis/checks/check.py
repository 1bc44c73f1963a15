"""One case of one rule, in a worker: what `mindferry rules check` calls."""

from __future__ import annotations

from typing import Any

from ...frameworks.worker import Link
from .. import table
from .cases import Mismatch, check_case


def check_one(payload: dict[str, Any], link: Link) -> str:
    """'' if both frameworks agree, otherwise why not."""
    link.doing(payload["api"])
    rule = table().rules[payload["api"]]
    try:
        check_case(rule, rule.cases[payload["case"]])
    except Mismatch as error:
        return str(error)
    except Exception as error:
        return f"{rule.file}:{rule.line}: {rule.cases[payload['case']].before}: {type(error).__name__}: {error}"
    return ""
