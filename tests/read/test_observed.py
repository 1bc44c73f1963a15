"""Types that a watched run showed, as the reader takes them."""

from __future__ import annotations

from pathlib import Path

from mindferry.convert import convert_project
from mindferry.observation import Observation, SeenFile, SeenSite, SeenType, digest_of

GATE = """import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.t = t
        return (x > t).type_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.t, None
"""


def seen_at(word: str, kind: SeenType) -> tuple[SeenSite, ...]:
    places = [(number, line.index(word)) for number, line in enumerate(GATE.splitlines(), 1) if f" {word}." in line]
    return tuple(SeenSite(line, column, line, column + len(word), (kind,)) for line, column in places)


def test_what_the_context_of_an_autograd_function_holds_is_the_project_s_own(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text(GATE)
    context = SeenType(
        "instance", "torch.autograd.function.GateBackward", bases=("torch.autograd.function.FunctionCtx",)
    )
    sites = seen_at("ctx", context)
    assert len(sites) == 2
    told = Observation("p", (), (SeenFile("gate.py", digest_of(GATE.encode()), sites=sites),))
    result = convert_project(tmp_path, tmp_path / "out", observation=told)
    assert [str(each) for each in result.findings] == []
