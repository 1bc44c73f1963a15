"""The LSTM language model as a MindSpore engineer would write it: PyNative, nn.LSTM, nn.Adam."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class LanguageModel(nn.Cell):
    def __init__(self, vocabulary=200, width=128, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Dense(width, vocabulary)

    def construct(self, tokens, state):
        out, state = self.lstm(self.embedding(tokens), state)
        return self.head(out), state


def main(steps=10):
    ms.set_seed(0)
    model = LanguageModel().set_train()
    optimizer = nn.Adam(model.trainable_params(), 2e-3)
    text = np.random.randint(0, 200, (16, 33)).astype(np.int32)
    tokens, targets = Tensor(text[:, :-1]), Tensor(text[:, 1:])
    state = (ops.zeros((2, 16, 128)), ops.zeros((2, 16, 128)))

    def forward_fn(tokens, targets, state):
        logits, state = model(tokens, state)
        return ops.cross_entropy(logits.reshape(-1, 200), targets.reshape(-1)), state

    grad_fn = ms.value_and_grad(forward_fn, None, model.trainable_params(), has_aux=True)
    for step in range(steps):
        start = time.process_time()
        state = tuple(ops.stop_gradient(each) for each in state)
        (loss, state), grads = grad_fn(tokens, targets, state)
        optimizer(ops.clip_by_global_norm(grads, 0.5))
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
