"""One case of one rule, in a worker: what `mindferry rules check` calls."""

from __future__ import annotations

from ...frameworks.requests import CaseRequest
from ...frameworks.worker import Link
from .. import table
from .cases import Mismatch, check_case


def check_one(request: CaseRequest, link: Link) -> str:
    """'' if both frameworks agree, otherwise why not."""
    link.doing(request.title)
    rule = table().titled(request.title)
    try:
        check_case(rule, rule.cases[request.case])
    except Mismatch as error:
        return str(error)
    except Exception as error:
        return f"{rule.file}:{rule.line}: {rule.cases[request.case].before}: {type(error).__name__}: {error}"
    return ""
