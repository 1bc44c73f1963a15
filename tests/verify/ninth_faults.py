"""Faults of the ninth set, planted in what `mindferry convert` writes from the networks of ninth_networks.py.

python -m tests.verify.ninth_faults [NAME ...]
"""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .ninth_networks import HEAD, NETWORKS
from .tenth_networks import TENTH_NETWORKS
from .twins import load_module

NET = "the network"
TEXTS = {**NETWORKS, **TENTH_NETWORKS}


@dataclass(frozen=True)
class Planted:
    network: str
    name: str
    before: str
    after: str
    culprits: tuple[str, ...]  # any of these is the exact name

    def __str__(self) -> str:
        return f"{self.network}: {self.name}"


def at(network: str, name: str, before: str, after: str, *culprits: str) -> Planted:
    return Planted(network, name, before, after, culprits or (NET,))


PLANTED = (
    at("latents", "padding that counts", "key_padding_mask=is_padding", "key_padding_mask=None", "cross.0.attend"),
    at("latents", "a mask the other way round", "ops.eq(ids, 0)", "ops.ne(ids, 0)", "cross.0.attend", "cross.0", NET),
    at(
        "latents",
        "gate and value exchanged",
        "value * ops.gelu(gate)",
        "gate * ops.gelu(value)",
        "cross.0.narrow",
        "cross.0",
    ),
    at(
        "latents", "the same latents for all layers", "latents, weights = layer(latents,", "_, weights = layer(latents,"
    ),
    at("latents", "a padding row that is trained", ", padding_idx=0", "", "embed", "embed.weight"),
    at("larger pictures", "corners that are aligned", "align_corners=False", "align_corners=True"),
    at(
        "larger pictures",
        "statistics of the batch",
        "track_running_stats=True",
        "track_running_stats=False",
        "body.0.norm",
    ),
    at("larger pictures", "padding that repeats", 'padding_mode="reflect"', 'padding_mode="replicate"', "body.0.first"),
    at("larger pictures", "one slope for all", "nn.PReLU(width)", "nn.PReLU(1)", "body.0.slope"),
    at(
        "larger pictures",
        "another hard sigmoid",
        "ops.hardsigmoid(self.up(ops.relu(self.down(scale))))",
        "ops.clamp(self.up(ops.relu(self.down(scale))) * 0.2 + 0.5, 0, 1)",
        "body.0.squeeze",
    ),
    at(
        "points",
        "the point itself is left out",
        "k, dim=-1, largest=False)[1]",
        "k + 1, dim=-1, largest=False)[1][..., 1:]",
        NET,
        "edge",
    ),
    at("points", "momentum the other way round", "momentum=0.8", "momentum=0.2", "norm", "norm.running_mean"),
    at("points", "a matrix that is not turned", "matrix @ matrix.swapaxes(1, 2)", "matrix @ matrix"),
    at(
        "points",
        "a mean of squares for a norm",
        "ms_compat.norm(matrix @ matrix.swapaxes(1, 2) - ms_compat.eye(3), dim=(1, 2))",
        "ops.sum(ops.square(matrix @ matrix.swapaxes(1, 2) - ms_compat.eye(3)), dim=(1, 2))",
    ),
    at(
        "a moved picture",
        "corners that are not aligned",
        'padding_mode="border", align_corners=True',
        'padding_mode="border", align_corners=False',
        NET,
        "read",
    ),
    at("a moved picture", "zeros beyond the border", 'padding_mode="border"', 'padding_mode="zeros"', NET, "read"),
    at("a moved picture", "padding that counts", "count_include_pad=False", "count_include_pad=True"),
    at("a moved picture", "a steeper start", "beta=2", "beta=1"),
    at(
        "capsules",
        "a gradient through all turns",
        "still = ops.stop_gradient(hat)",
        "still = hat",
        NET,
        "weight",
        "start.weight",
        "start",
    ),
    at("capsules", "a share over the inputs", "plain_softmax(logits, axis=2)", "plain_softmax(logits, axis=1)"),
    at("capsules", "a mean over classes", "ops.mean(ops.sum(loss, dim=1))", "ops.mean(loss)"),
    at("a mixture", "a density without its spread", " - ops.log(spread)", ""),
    at(
        "a mixture",
        "dropout behind the second layer",
        "nn.Dropout(p=0.25), nn.Dense(16, 16)",
        "nn.Dense(16, 16), nn.Dropout(p=0.25)",
        "body.2",
        "body.3",
        "body",
    ),
    at("a mixture", "another activation", "ms_compat.Mish()", "nn.SiLU()", "body.4"),
    at("a mixture", "entropy that is added", "- 0.01 * ops.mean(entropy)", "+ 0.01 * ops.mean(entropy)"),
    at("pictures in time", "a gate that sees the old state", "self.peep[2] * c)", "self.peep[2] * state[1])", "cell"),
    at("pictures in time", "gates in another order", "i, f, o, g = ops", "i, f, g, o = ops", "cell"),
    at("pictures in time", "frames one step late", "frames[t - 1 :]", "frames[t - 2 : -1]"),
    at("pictures in time", "a future that is not fed back", "frames[-1]", "x[:, t - 1]", NET, "cell"),
    at("waves", "a product without its cross term", "+ mix(b, self.real)", "- mix(b, self.real)", "waves.0"),
    at("waves", "another scale of waves", 'n=x.shape[-1], norm="ortho"', "n=x.shape[-1]", "waves.0"),
    at("waves", "an epsilon of the norm", "eps=1e-4", "eps=1e-5", "norm"),
    at(
        "waves",
        "a place that ends earlier",
        "linspace(0, 1, x.shape[-1])",
        "linspace(0, 1 - 1 / x.shape[-1], x.shape[-1])",
        NET,
        "lift",
    ),
    at("hard triplets", "a sum for a mean", 'mode="mean"', 'mode="sum"', "table"),
    at("hard triplets", "the nearest of all", "masked_fill(alike, 10.0)", "masked_fill(self_pair, 10.0)"),
    at("hard triplets", "a count that moves faster", "(self.seen * 0.9)", "(self.seen * 0.8)", "seen", NET),
    at(
        "hard triplets",
        "centres that are not pulled",
        "self.centres[labels]",
        "ops.stop_gradient(self.centres[labels])",
        "centres",
        NET,
    ),
    at("columns of a table", "a support one too small", "count - 1) - 1) / count", "count - 1) - 1) / (count + 1)"),
    at(
        "columns of a table",
        "a prior that is not kept",
        "prior = prior * (self.reuse - mask)",
        "prior = self.reuse - mask",
    ),
    at("columns of a table", "penalties that are not shared", "penalty / len(self.choose)", "penalty"),
    at("columns of a table", "a norm's epsilon", "eps=1e-3", "eps=1e-5", "norm"),
)


@functools.cache
def converted(network: str) -> Path:
    """The folder with the two projects of a network, for as long as this process runs."""
    from mindferry.convert import convert_project

    folder = Path(tempfile.mkdtemp(prefix="ninth-"))
    (folder / "torch").mkdir()
    (folder / "torch" / "net.py").write_text(HEAD + TEXTS[network][0])
    convert_project(folder / "torch", folder / "mindspore")
    return folder


def compared(network: str, text: str | None = None, seed: int = 0) -> Any:
    """The verdict on the conversion of a network, or on another text in its place."""
    import torch

    from mindferry.verify.live import compare
    from mindferry.verify.named import shake

    folder = converted(network)
    written = (folder / "mindspore" / "net.py").read_text()
    with tempfile.TemporaryDirectory() as place:
        for name in ("torch", "mindspore"):
            for path in (folder / name).glob("*.py"):
                (Path(place) / name).mkdir(exist_ok=True)
                (Path(place) / name / path.name).write_text(path.read_text())
        (Path(place) / "mindspore" / "net.py").write_text(text or written)
        sys.modules.pop("ms_compat", None)
        importlib.invalidate_caches()
        sys.path.insert(0, str(Path(place) / "mindspore"))
        try:
            torch.manual_seed(seed)
            module, cell = (load_module(Path(place) / side / "net.py").Net() for side in ("torch", "mindspore"))
            shake(module, seed)
            return compare(module, cell, TEXTS[network][1], seed=seed, rebuild=type(module))
        finally:
            sys.path.remove(str(Path(place) / "mindspore"))


def planted(fault: Planted) -> tuple[bool, bool, str]:
    """(found, named exactly, what verify said)."""
    text = (converted(fault.network) / "mindspore" / "net.py").read_text()
    assert text.count(fault.before) == 1, f"{fault}: {fault.before!r} is there {text.count(fault.before)} times"
    try:
        comparison = compared(fault.network, text.replace(fault.before, fault.after))
    except Exception as error:
        return True, any(name in str(error) for name in fault.culprits), " ".join(str(error).split())[:200]
    if comparison.outcome != "different":
        gaps = [f"{gap.name}: {gap.why}" for gap in comparison.coverage.gaps if gap.matters]
        return False, False, f"{comparison.outcome}: {'; '.join(gaps)[:300]}"
    return True, comparison.first_divergence in fault.culprits, comparison.first_divergence


def main() -> None:
    parser = argparse.ArgumentParser(description="Faults of the ninth set.")
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    for network in NETWORKS:
        if not names or network in names:
            comparison = compared(network)
            gaps = [f"{gap.name}: {gap.why}" for gap in comparison.coverage.gaps if gap.matters]
            print(f"right {network}: {comparison.outcome} {comparison.first_divergence} {gaps}", flush=True)
        for fault in PLANTED:
            if fault.network == network and (not names or fault.name in names or network in names):
                found, named, said = planted(fault)
                print(f"{fault}: {'named' if named else 'found' if found else 'NOT FOUND'} -> {said}", flush=True)


if __name__ == "__main__":
    main()
