"""Faults of the tenth set, planted in what `mindferry convert` writes from the networks of tenth_networks.py, and right conversions in other words.

python -m tests.verify.tenth_faults [NAME ...]
"""

from __future__ import annotations

import argparse

from . import ninth_faults
from .ninth_faults import at, planted
from .ninth_right import right
from .tenth_networks import TENTH_NETWORKS

TOWERS, BOXES, SCAN, GRAPH = TENTH_NETWORKS
TENTH_PLANTED = (
    at(TOWERS, "a sum of words", 'mode="mean"', 'mode="sum"', "left.bag"),
    at(TOWERS, "another slope below zero", "alpha=0.5", "alpha=1.0", "left.body.1"),
    at(TOWERS, "lengths along the wrong axis", "dim=-1, eps=1e-6", "dim=0, eps=1e-6", "left"),
    at(TOWERS, "scores of one side", "ops.cross_entropy(scores.T, right)", "ops.cross_entropy(scores, right)"),
    at(TOWERS, "ranks that count itself", "scores > ", "scores >= "),
    at(TOWERS, "a temperature that is not exponential", "ops.exp(self.heat)", "(1 + self.heat)"),
    at(BOXES, "rows for columns", "[xs, ys]", "[ys, xs]", "head"),
    at(BOXES, "centres at corners", "place + 0.5", "place + 0.0", "head"),
    at(BOXES, "one stride for both", "self.head(far, 4)", "self.head(far, 2)"),
    at(BOXES, "a smaller epsilon", "eps=1e-3", "eps=1e-5", "near.1"),
    at(BOXES, "fewer groups", "GroupNorm(3", "GroupNorm(2", "far.1"),
    at(BOXES, "a smooth enlargement", 'mode="nearest"', 'mode="bilinear", align_corners=False'),
    at(
        BOXES,
        "scores that start at zero",
        "math.log((1 - 0.01) / 0.01)",
        "math.log((1 - 0.5) / 0.5)",
        "head.score.bias",
    ),
    at(
        SCAN,
        "a mean that is taken off",
        "ops.mean(ops.pow(x, 2), -1, keep_dims=True)",
        "ops.var(x, -1, keepdims=True)",
        "layers.0.norm",
    ),
    at(SCAN, "a look ahead", "(self.reach - 1, 0)", "(0, self.reach - 1)", "layers.0.depth", "layers.0"),
    at(SCAN, "one depth for all", "group=width", "group=1", "layers.0.depth", "layers.0.depth.weight"),
    at(SCAN, "a state that keeps less", "(1 - keep) * step", "step", "layers.0"),
    at(SCAN, "dropout of another rate", "p=0.15", "p=0.3", "drop"),
    at(SCAN, "no dropout in the second layer", "x + self.drop(layer(x) - x)", "layer(x)", "the network", "drop"),
    at(GRAPH, "messages the other way", "0, target, said", "0, source, said", "rounds.0"),
    at(GRAPH, "a slope of another size", "0.2)", "0.01)", "rounds.0"),
    at(GRAPH, "momentum the other way round", "momentum=0.7", "momentum=0.3", "norm", "norm.running_mean"),
    at(GRAPH, "shares along the wrong axis", "dim=0)", "dim=-1)"),
    at(GRAPH, "a sum instead of a mean", "heard / ops.clamp(count, min=1).unsqueeze(-1)", "heard", "rounds.0"),
    at(
        GRAPH,
        "a norm before the sum",
        "self.norm(each(x, source, target)) + x",
        "self.norm(each(x, source, target) + x)",
    ),
)
TENTH_RIGHT = (
    right(
        "a product by einsum",
        TOWERS,
        (
            "self.left(questions) @ self.right(answers).T",
            "ops.matmul(self.left(questions), self.right(answers).swapaxes(0, 1))",
        ),
    ),
    right(
        "a limit by minimum",
        TOWERS,
        ("ops.clamp(ops.exp(self.heat), max=50.0)", "ops.minimum(ops.exp(self.heat), ms.Tensor(50.0))"),
    ),
    right("half of a sum", TOWERS, (" / 2\n", " * 0.5\n")),
    right(
        "places by products",
        BOXES,
        ("ops.stack([xs, ys], axis=-1).view(1, h * w, 2)", "ops.cat([xs.reshape(1, -1, 1), ys.reshape(1, -1, 1)], -1)"),
    ),
    right(
        "parts put together by hand",
        BOXES,
        ("self.score(x).flatten(2).swapaxes(1, 2)", "self.score(x).reshape(b, -1, h * w).transpose(0, 2, 1)"),
    ),
    right(
        "a root of a quotient",
        SCAN,
        (
            "x * ops.rsqrt(ops.mean(ops.pow(x, 2), -1, keep_dims=True) + self.eps)",
            "x / ops.sqrt((x * x).mean(-1, keep_dims=True) + self.eps)",
        ),
    ),
    right(
        "zeros put before",
        SCAN,
        (
            "ms_compat.pad(value.swapaxes(1, 2), (self.reach - 1, 0))",
            "ops.cat([ops.zeros((value.shape[0], value.shape[2], self.reach - 1)), value.swapaxes(1, 2)], 2)",
        ),
    ),
    right("a sum of two for a mixture", SCAN, ("keep * state + (1 - keep) * step", "step + keep * (state - step)")),
    right(
        "a product for a choice",
        GRAPH,
        (
            "ms_compat.leaky_relu(self.say(ops.cat([x[source], x[target]], axis=-1)), 0.2)",
            "nn.LeakyReLU(0.2)(self.say(ops.cat((x[source], x[target]), -1)))",
        ),
    ),
    right("a mean by weights", GRAPH, ("ops.sum((share * x), 0)", "ops.matmul(share.swapaxes(0, 1), x)[0]")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Faults of the tenth set.")
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    for network in TENTH_NETWORKS:
        if not names or network in names:
            _show(f"right {network}", ninth_faults.compared(network))
    for each in TENTH_RIGHT:
        if not names or each.network in names:
            _show(f"right {each}", ninth_faults.compared(each.network, each.text()))
    for fault in TENTH_PLANTED:
        if not names or fault.network in names or fault.name in names:
            found, named, said = planted(fault)
            print(f"{fault}: {'named' if named else 'found' if found else 'NOT FOUND'} -> {said}", flush=True)


def _show(name: str, comparison: object) -> None:
    gaps = [f"{gap.name}: {gap.why}" for gap in comparison.coverage.gaps if gap.matters]  # type: ignore[attr-defined]
    print(f"{name}: {comparison.outcome} {comparison.first_divergence} {gaps}", flush=True)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
