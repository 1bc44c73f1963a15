"""The small GPT as a MindSpore engineer would write it: PyNative, a mask of large numbers, nn.AdamWeightDecay."""

import math
import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class CausalAttention(nn.Cell):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Dense(width, 3 * width)
        self.proj = nn.Dense(width, width)
        self.mask = Tensor(np.triu(np.full((1, 1, length, length), -1e9, np.float32), 1))

    def construct(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = ops.matmul(q, k.swapaxes(2, 3)) / math.sqrt(width // self.heads) + self.mask
        y = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return self.proj(y)


class Block(nn.Cell):
    def __init__(self, width, heads, length):
        super().__init__()
        self.ln_1 = nn.LayerNorm((width,))
        self.attn = CausalAttention(width, heads, length)
        self.ln_2 = nn.LayerNorm((width,))
        self.mlp = nn.SequentialCell(
            nn.Dense(width, 4 * width), nn.GELU(approximate=False), nn.Dense(4 * width, width), nn.Dropout(p=0.1)
        )

    def construct(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Cell):
    def __init__(self, vocabulary=256, width=128, heads=4, layers=4, length=64):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        self.blocks = nn.SequentialCell([Block(width, heads, length) for _ in range(layers)])
        self.ln_f = nn.LayerNorm((width,))
        self.head = nn.Dense(width, vocabulary, has_bias=False)

    def construct(self, tokens, targets):
        x = self.wte(tokens) + self.wpe(ops.arange(tokens.shape[1]))
        logits = self.head(self.ln_f(self.blocks(x)))
        return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def main(steps=10):
    ms.set_seed(0)
    model = GPT().set_train()
    optimizer = nn.AdamWeightDecay(model.trainable_params(), 3e-4, 0.9, 0.95, weight_decay=0.1)
    text = np.random.randint(0, 256, (8, 65)).astype(np.int32)
    tokens, targets = Tensor(text[:, :-1]), Tensor(text[:, 1:])
    grad_fn = ms.value_and_grad(model, None, model.trainable_params())
    for step in range(steps):
        start = time.process_time()
        loss, grads = grad_fn(tokens, targets)
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
