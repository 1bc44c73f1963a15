"""Training scripts with one planted bottleneck each, and what it has to be called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

BASE = """\
import time
import numpy as np
import mindspore as ms
from mindspore import nn, ops
import mindspore.dataset as ds

ms.set_seed(0)
rng = np.random.default_rng(0)


class Rows:
    def __init__(self, n, shape, cost=0.0, ragged=False):
        self.images = rng.normal(size=(n, *shape)).astype(np.float32)
        self.labels = rng.integers(0, 10, n).astype(np.int32)
        self.cost, self.ragged = cost, ragged

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        if self.cost:
            time.sleep(self.cost)
        return self.images[index], self.labels[index]


class Net(nn.Cell):
    def __init__(self, inputs=64, width=512):
        super().__init__()
        self.fc1, self.fc2, self.out = nn.Dense(inputs, width), nn.Dense(width, width), nn.Dense(width, 10)

    def construct(self, x):
        return self.out(ops.relu(self.fc2(ops.relu(self.fc1(x)))))


def batches(rows, size):
    return ds.GeneratorDataset(rows, ["image", "label"], shuffle=False, num_parallel_workers=1).batch(size, drop_remainder=True)


def train(net, loader, after=lambda loss, grads: None, optimizer=None, epochs=20):
    optimizer = optimizer or nn.SGD(net.trainable_params(), 0.01)
    criterion = nn.CrossEntropyLoss()

    def forward_fn(image, label):
        return criterion(net(image), label)

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
    for epoch in range(epochs):
        for image, label in loader:
            loss, grads = grad_fn(image, label)
            optimizer(grads)
            after(loss, grads)
"""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    name: str
    code: str  # what the first diagnosis has to be
    body: str
    is_counted: bool = False  # found by counts alone, however busy the machine is

    def write(self, folder: Path) -> Path:
        project = folder / self.name.replace(" ", "_")
        project.mkdir(parents=True)
        (project / "train.py").write_text(f"{BASE}\n\n{self.body}")
        return project


PLANTED: tuple[Bottleneck, ...] = (
    Bottleneck("slow loader", "slow-loader", "train(Net(), batches(Rows(640, (64,), cost=0.004), 32))\n"),
    Bottleneck(
        "changing shapes",
        "recompiling",
        """net = Net()

optimizer = nn.SGD(net.trainable_params(), 0.01)


def forward_fn(x):
    return net(x).mean()


grad_fn = ms.jit(ms.value_and_grad(forward_fn, None, optimizer.parameters))
for step in range(60):
    x = ms.Tensor(rng.normal(size=(8 + step, 64)).astype(np.float32))
    loss, grads = grad_fn(x)
    optimizer(grads)
""",
        is_counted=True,
    ),
    Bottleneck(
        "compiled in the loop",
        "recompiling",
        """net = Net()
optimizer = nn.SGD(net.trainable_params(), 0.01)
x = ms.Tensor(rng.normal(size=(16, 64)).astype(np.float32))


def forward_fn(x):
    return net(x).mean()


for step in range(60):
    grad_fn = ms.jit(ms.value_and_grad(forward_fn, None, optimizer.parameters))
    loss, grads = grad_fn(x)
    optimizer(grads)
""",
    ),
    Bottleneck(
        "number compiled in",
        "recompiling",
        """net = Net()
optimizer = nn.SGD(net.trainable_params(), 0.01)
x = ms.Tensor(rng.normal(size=(16, 64)).astype(np.float32))


def forward_fn(x, weight):
    return net(x).mean() * weight


grad_fn = ms.jit(ms.value_and_grad(forward_fn, None, optimizer.parameters))
for step in range(60):
    loss, grads = grad_fn(x, 1.0 / (step + 1))
    optimizer(grads)
""",
    ),
    Bottleneck(
        "casts everywhere",
        "cast-heavy",
        """class Mixed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(256, 256) for _ in range(6)])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x.astype(ms.float16).astype(ms.float32))
            x = ops.relu(x.astype(ms.float16)).astype(ms.float32)
        return x[:, :10]


train(Mixed(), batches(Rows(2048, (256,)), 256))
""",
        is_counted=True,
    ),
    Bottleneck(
        "Python between steps",
        "host-bound",
        """history = []


def bookkeeping(loss, grads):
    table = {}
    for number in range(120_000):
        table[number % 977] = table.get(number % 977, 0) + number * 0.5
    history.append(sum(table.values()))


train(Net(), batches(Rows(640, (64,)), 32), bookkeeping)
""",
    ),
    Bottleneck("two rows a batch", "tiny-batches", "train(Net(64, 64), batches(Rows(256, (64,)), 2))\n"),
    Bottleneck(
        "gradients read back",
        "sync-every-step",
        """norms = []


def watch(loss, grads):
    norms.append([float(np.linalg.norm(grad.asnumpy())) for grad in grads] + [loss.item()])


class Deep(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(512, 512) for _ in range(4)])

    def construct(self, x):
        for layer in self.layers:
            x = ops.relu(layer(x))
        return x[:, :10]


train(Deep(), batches(Rows(2048, (512,)), 256), watch)
""",
    ),
    Bottleneck(
        "update written out",
        "slow-optimizer",
        """class ByHand(nn.Optimizer):
    def __init__(self, parameters):
        super().__init__(0.001, parameters)
        self.first = self.parameters.clone(prefix="first", init="zeros")
        self.second = self.parameters.clone(prefix="second", init="zeros")

    def construct(self, gradients):
        for weight, first, second, gradient in zip(self.parameters, self.first, self.second, gradients):
            ops.assign(first, 0.9 * first + 0.1 * gradient)
            ops.assign(second, 0.999 * second + 0.001 * gradient * gradient)
            ops.assign(weight, weight - 0.001 * first / (ops.sqrt(second) + 1e-8))
        return True


net = Net(64, 1024)
train(net, batches(Rows(640, (64,)), 16), optimizer=ByHand(net.trainable_params()))
""",
    ),
    Bottleneck(
        "loop over samples",
        "sample-loop",
        """class OneByOne(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Net(64, 64)

    def construct(self, x):
        return ops.stack([self.net(x[i : i + 1])[0] for i in range(x.shape[0])])


train(OneByOne(), batches(Rows(640, (64,)), 16))
""",
    ),
    Bottleneck(
        "gradient of each sample",
        "sample-loop",
        """net = Net(64, 64)
optimizer = nn.SGD(net.trainable_params(), 0.01)
criterion = nn.CrossEntropyLoss()


def forward_fn(image, label):
    return criterion(net(image), label)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
for epoch in range(20):
    for image, label in batches(Rows(256, (64,)), 16):
        total = None
        for i in range(16):
            loss, grads = grad_fn(image[i : i + 1], label[i : i + 1])
            total = grads if total is None else [a + b for a, b in zip(total, grads)]
        optimizer(tuple(total))
""",
    ),
    Bottleneck(
        "normalisation by hand",
        "unfused",
        """class Norm(nn.Cell):
    def construct(self, x):
        for _ in range(6):
            mean = ops.ReduceMean(True)(x, -1)
            centred = x - mean
            variance = ops.ReduceMean(True)(centred * centred, -1)
            x = centred / ops.sqrt(variance + 1e-5)
            x = 0.5 * x * (1.0 + ops.tanh(0.79788 * (x + 0.044715 * x * x * x)))
        return x


class ByHand(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.out = nn.Dense(256, 512), Norm(), nn.Dense(512, 10)

    def construct(self, x):
        return self.out(self.norm(self.fc(x)))


train(ByHand(), batches(Rows(2048, (256,)), 256))
""",
    ),
    Bottleneck(
        "reference convolution",
        "reference-convolution",
        """class Conv(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(16, 64, 3, pad_mode="pad", padding=1)
        self.c2 = nn.Conv2d(64, 64, 3, pad_mode="pad", padding=1)
        self.out = nn.Dense(64, 10)

    def construct(self, x):
        return self.out(ops.relu(self.c2(ops.relu(self.c1(x)))).mean(axis=(2, 3)))


train(Conv(), batches(Rows(128, (16, 12, 12)), 8))
""",
    ),
    Bottleneck("nothing planted", "", "train(Net(1024, 1024), batches(Rows(1024, (1024,)), 256))\n"),
)
