"""ResNet-18 as a MindSpore engineer would write it: PyNative, nn.Momentum."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class BasicBlock(nn.Cell):
    def __init__(self, inside, outside, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(outside)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(outside)
        self.downsample = None
        if stride != 1 or inside != outside:
            self.downsample = nn.SequentialCell(nn.Conv2d(inside, outside, 1, stride), nn.BatchNorm2d(outside))

    def construct(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + identity)


class ResNet(nn.Cell):
    def __init__(self, layers, classes=100):
        super().__init__()
        self.inside = 64
        self.conv1 = nn.Conv2d(3, 64, 7, 2, pad_mode="pad", padding=3)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, pad_mode="same")
        self.layer1 = self.stage(64, layers[0])
        self.layer2 = self.stage(128, layers[1], 2)
        self.layer3 = self.stage(256, layers[2], 2)
        self.layer4 = self.stage(512, layers[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Dense(512, classes)

    def stage(self, outside, blocks, stride=1):
        layers = [BasicBlock(self.inside, outside, stride)]
        self.inside = outside
        layers += [BasicBlock(outside, outside) for _ in range(1, blocks)]
        return nn.SequentialCell(layers)

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(start_dim=1))


def main(steps=8):
    ms.set_seed(0)
    model = ResNet([2, 2, 2, 2]).set_train()
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(model.trainable_params(), 0.05, 0.9, weight_decay=1e-4)
    images = Tensor(np.random.randn(8, 3, 64, 64).astype(np.float32))
    labels = Tensor(np.random.randint(0, 100, 8).astype(np.int32))
    grad_fn = ms.value_and_grad(lambda x, y: criterion(model(x), y), None, model.trainable_params())
    for step in range(steps):
        start = time.process_time()
        loss, grads = grad_fn(images, labels)
        optimizer(grads)
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
