"""Right conversions of the ninth set, in other words than `mindferry convert` writes them: none may be called different.

python -m tests.verify.ninth_right [NETWORK ...]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from .ninth_faults import compared, converted

Edit = tuple[str, str]


@dataclass(frozen=True)
class Right:
    name: str
    network: str
    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        return f"{self.network}: {self.name}"

    def text(self) -> str:
        text = (converted(self.network) / "mindspore" / "net.py").read_text()
        for before, after in self.edits:
            assert before in text, (self.name, before)
            text = text.replace(before, after)
        return text


def right(name: str, network: str, *edits: Edit) -> Right:
    return Right(name, network, edits)


RIGHTS = (
    right(
        "factors the other way round",
        "latents",
        ("value * ops.gelu(gate)", "ops.mul(ops.gelu(gate, approximate='none'), value)"),
    ),
    right("a sum over a count", "latents", ("ops.mean(latents, axis=1)", "latents.sum(axis=1) / latents.shape[1]")),
    right(
        "parts put together by hand",
        "latents",
        ("ops.stack(seen, axis=1)", "ops.cat([each.expand_dims(1) for each in seen], axis=1)"),
    ),
    right(
        "a mask by comparison",
        "latents",
        ("ops.eq(ids, 0)", "ids == 0"),
        ("math.sqrt(self.embed.embedding_size)", "self.embed.embedding_size ** 0.5"),
    ),
    right(
        "layers for functions",
        "larger pictures",
        (
            "super().__init__()\n        self.down",
            "super().__init__()\n        self.act, self.gate = nn.ReLU(), nn.HSigmoid()\n        self.down",
        ),
        ("ops.hardsigmoid(self.up(ops.relu(self.down(scale))))", "self.gate(self.up(self.act(self.down(scale))))"),
    ),
    right(
        "a loop for a container",
        "larger pictures",
        ("y = y + self.body(y)", "z = y\n        for block in self.body:\n            z = block(z)\n        y = z + y"),
    ),
    right(
        "a shuffle by hand",
        "larger pictures",
        ("self.shuffle(self.grow(y))", "shuffled(self.grow(y))"),
        (
            "class Net(nn.Cell)",
            "def shuffled(x):\n    b, c, h, w = x.shape\n    return x.reshape(b, c // 4, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(b, c // 4, h * 2, w * 2)\n\n\nclass Net(nn.Cell)",
        ),
    ),
    right(
        "the first of what is sorted",
        "points",
        ("ms_compat.topk(distance, k, dim=-1, largest=False)[1]", "ops.sort(distance, axis=-1)[1][..., :k]"),
    ),
    right("products by matmul", "points", ("ops.bmm(x, matrix)", "ops.matmul(x, matrix)")),
    right(
        "a table of numpy's",
        "a moved picture",
        ("ms.Tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])", "ms.Tensor(np.eye(2, 3, dtype=np.float32))"),
        ("import mindspore as ms\n", "import mindspore as ms\nimport numpy as np\n"),
    ),
    right(
        "a sum of products for einsum",
        "capsules",
        (
            'ms_compat.einsum("bgw,gcwo->bgco", u, self.weight)',
            "ops.matmul(u.expand_dims(2).expand_dims(3), self.weight).squeeze(3)",
        ),
    ),
    right(
        "turns without a condition",
        "capsules",
        (
            "            if not last:\n                logits = logits + ops.sum((still * v.unsqueeze(1)), dim=-1)\n",
            "            logits = logits + ops.stop_gradient(ops.sum((still * v.unsqueeze(1)), dim=-1)) if not last else logits\n",
        ),
    ),
    right(
        "a guess by one-hot",
        "a mixture",
        (
            "mean[ops.arange(len(x)), best]",
            "(mean * (best.expand_dims(-1) == ops.arange(self.parts)).float().expand_dims(-1)).sum(1)",
        ),
    ),
    right("constants worked out", "a mixture", ("0.5 * math.log(2 * math.pi)", "math.log(math.sqrt(2 * math.pi))")),
    right(
        "slices for a split",
        "pictures in time",
        (
            "i, f, o, g = ops.split(self.gates(ops.cat([x, h], axis=1)), self.width, axis=1)",
            "y, w = self.gates(ops.cat((x, h), axis=1)), self.width\n        i, f, o, g = (y[:, k * w : (k + 1) * w] for k in range(4))",
        ),
    ),
    right(
        "a sigmoid's one inside",
        "pictures in time",
        ("ops.sigmoid(f + 1.0 + self.peep[1] * c)", "ops.sigmoid(self.peep[1] * c + (f + 1))"),
    ),
    right(
        "a function for a lambda",
        "waves",
        (
            'mix = lambda u, w: ms_compat.einsum("bim,iom->bom", u, w)',
            "def mix(u, w):\n            return (u.expand_dims(2) * w).sum(1)\n",
        ),
    ),
    right(
        "a place by arange",
        "waves",
        ("ms_compat.linspace(0, 1, x.shape[-1])", "(ops.arange(x.shape[-1]).float() / max(1, x.shape[-1] - 1))"),
    ),
    right(
        "choices for masks",
        "hard triplets",
        ("apart.masked_fill(~alike, -1.0)", "ops.where(alike, apart, ops.full_like(apart, -1.0))"),
        ("apart.masked_fill(alike, 10.0)", "ops.where(alike, ops.full_like(apart, 10.0), apart)"),
    ),
    right(
        "a distance of squares",
        "hard triplets",
        (
            'ms_compat.sum_over(ms_compat.mse_loss(x, self.centres[labels], reduction="none"), 1)',
            "ops.square(x - self.centres[labels]).sum(1)",
        ),
    ),
    right(
        "a gate by hand",
        "columns of a table",
        (
            "h = ms_compat.glu(self.shared(x), dim=-1)",
            "a, b = ops.chunk(self.shared(x), 2, axis=-1)\n        h = a * ops.sigmoid(b)",
        ),
        ("math.sqrt(0.5)", "(0.5 ** 0.5)"),
    ),
    right("a root of a half", "columns of a table", ("math.sqrt(0.5)", "(1 / math.sqrt(2))")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Right conversions of the ninth set.")
    parser.add_argument("networks", nargs="*")
    networks = parser.parse_args().networks
    for each in RIGHTS:
        if networks and each.network not in networks:
            continue
        try:
            comparison = compared(each.network, each.text())
        except Exception as error:
            print(f"{each}: REFUSED {' '.join(str(error).split())[:300]}", flush=True)
            continue
        gaps = [f"[{gap.subject}] {gap.name}: {gap.why}"[:200] for gap in comparison.coverage.gaps if gap.matters]
        print(f"{each}: {comparison.outcome} {comparison.first_divergence} {gaps}", flush=True)


if __name__ == "__main__":
    main()
