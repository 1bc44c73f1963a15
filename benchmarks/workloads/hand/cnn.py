"""The small convolutional network as a MindSpore engineer would write it: PyNative, nn.Momentum."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, pad_mode="pad", padding=1, has_bias=True)
        self.conv2 = nn.Conv2d(32, 64, 3, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Dense(64 * 8 * 8, 128)
        self.fc2 = nn.Dense(128, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        return self.fc2(ops.relu(self.fc1(x.flatten(start_dim=1))))


def main(steps=20):
    ms.set_seed(0)
    model = Net().set_train()
    rates = nn.piecewise_constant_lr([10, steps], [0.01, 0.001])
    optimizer = nn.Momentum(model.trainable_params(), rates, 0.9, weight_decay=1e-4)
    images = Tensor(np.random.randn(32, 3, 32, 32).astype(np.float32))
    labels = Tensor(np.random.randint(0, 10, 32).astype(np.int32))
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(model(x), y), None, model.trainable_params())
    for step in range(steps):
        start = time.process_time()
        loss, grads = grad_fn(images, labels)
        optimizer(grads)
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
