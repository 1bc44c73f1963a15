"""Settings of a framework's own layers that differ on the two sides: an epsilon that is beside a large variance shows in no value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..artifacts import Difference
from .golden import Golden
from .judge import Verdict

CERTAIN = ("eps", "negative_slope")  # two numbers for one of these are two functions; 0 may stand for something else
Settings = Mapping[str, Mapping[str, float]]  # path of a cell -> what named.small_settings tells of it


@dataclass(frozen=True, slots=True)
class OtherSetting:
    path: str
    said: str
    is_certain: bool  # that the two layers compute something else


def other_settings(golden: Golden, converted: Settings) -> Iterator[OtherSetting]:
    """In the order of the reference's modules."""
    for path, part in golden.parts.items():
        if not part.home.startswith(("torch.nn", "keras.")):
            continue
        norm = golden.attributes.get(path, {}).get("max_norm")
        if norm is not None and "max_norm" not in converted.get(path, {"max_norm": 0.0}):
            yield OtherSetting(
                path, f"its max_norm is {norm:g} in {golden.framework}, and MindSpore's layer has none", False
            )
        for name, ours in converted.get(path, {}).items():
            theirs = golden.attributes.get(path, {}).get(name)
            if name == "momentum":
                if part.kind.startswith("BatchNorm") and theirs is None and ours >= 0:
                    said = (
                        f"its statistics are of all batches in torch, and move by a momentum of {ours:g} in MindSpore"
                    )
                    yield OtherSetting(path, said, True)
            elif isinstance(theirs, int | float) and not math.isclose(theirs, ours, rel_tol=1e-6):
                found = f"{ours:g}" if ours >= 0 else "none"
                said = f"its {name} is {theirs:g} in {golden.framework} and {found} in MindSpore"
                yield OtherSetting(path, said, name in CERTAIN and theirs > 0 and ours > 0)


def with_settings(verdict: Verdict, golden: Golden, converted: Settings) -> Verdict:
    """Where every value agrees, a layer whose setting is another one is different all the same."""
    certain = [each for each in other_settings(golden, converted) if each.is_certain]
    if not (verdict.passed and certain):
        return verdict
    mode = next(iter(golden.modes), "eval")
    rows = [
        Difference(
            each.path,
            "output",
            (),
            math.inf,
            math.inf,
            math.nan,
            0.0,
            math.nan,
            math.nan,
            False,
            mode=mode,
            note=each.said,
        )
        for each in certain
    ]
    names = tuple(dict.fromkeys(each.path for each in certain))
    return replace(verdict, differences=(*verdict.differences, *rows), culprits=names, first_divergence=names[0])
