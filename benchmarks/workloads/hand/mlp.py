"""The multilayer perceptron as a MindSpore engineer would write it: PyNative, nn.Adam, nn.CrossEntropyLoss."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class Perceptron(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(784, 256), nn.ReLU(), nn.Dense(256, 128), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(128, 10)
        )

    def construct(self, x):
        return self.layers(x.flatten(start_dim=1))


def main(steps=40):
    ms.set_seed(0)
    model = Perceptron().set_train()
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.Adam(model.trainable_params(), 1e-3)
    images = Tensor(np.random.randn(64, 1, 28, 28).astype(np.float32))
    labels = Tensor(np.random.randint(0, 10, 64).astype(np.int32))
    grad_fn = ms.value_and_grad(lambda x, y: criterion(model(x), y), None, model.trainable_params())
    for step in range(steps):
        start = time.process_time()
        loss, grads = grad_fn(images, labels)
        optimizer(grads)
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
