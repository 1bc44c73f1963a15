"""torch's op_db through conversion: `python -m conformance.op_db [--only NAME…] [--samples N]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindferry.apis.checks.differential import Runner

from .drive import Group, main
from .samples import UNINITIALISED, entries, samples


def names(payload: Any, link: Any) -> list[str]:
    """In the worker: every entry."""
    return sorted(entries())


def check_all(payload: Any, link: Any) -> dict[str, Any]:
    """In the worker: the samples of one entry from `start` on. Says which sample runs, so that a crash is pinned to it."""
    import torch

    torch.set_num_threads(1)
    known = link.state.setdefault("entries", None) or entries()
    link.state["entries"] = known
    runner = Runner(link.scratch)
    entry, limit = known[payload["name"]], payload["samples"]
    for index, sample in enumerate(_written(entry, limit)):
        if index < payload["start"]:
            continue
        if isinstance(sample, Exception):
            link.report({"index": index, "source": payload["name"], "reason": f"not written: {sample}"})
            continue
        text = sample.source.rpartition("return ")[2].strip()
        link.report({"index": index, "source": text, "reason": "running"})
        link.report(
            {"index": index, "source": text, "reason": reason_of(runner.check, sample, entry.name in UNINITIALISED)}
        )
    return {}


def _written(entry: Any, limit: int | None) -> list[Any]:
    found: list[Any] = []
    iterator = samples(entry)
    while limit is None or len(found) < limit:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except Exception as error:  # a sample that cannot be written counts as one that fails
            found.append(error)
            break
    return found


def reason_of(check: Callable[..., None], *arguments: Any) -> str:
    """'' if the sample is right."""
    try:
        check(*arguments)
    except Exception as error:
        first = " ".join(str(error).strip().split("\n\n")[0].split("\n----")[0].split())[:300]
        return first if type(error).__name__ == "Mismatch" else f"{type(error).__name__}: {first}"
    return ""


GROUP = Group("op_db", "operators", "conformance.op_db")

if __name__ == "__main__":
    main(GROUP)
