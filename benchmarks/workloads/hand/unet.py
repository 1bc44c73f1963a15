"""The U-Net as a MindSpore engineer would write it: PyNative, nn.Conv2dTranspose, nn.RMSProp."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


def double_conv(inside, outside):
    return nn.SequentialCell(
        nn.Conv2d(inside, outside, 3, pad_mode="pad", padding=1),
        nn.BatchNorm2d(outside),
        nn.ReLU(),
        nn.Conv2d(outside, outside, 3, pad_mode="pad", padding=1),
        nn.BatchNorm2d(outside),
        nn.ReLU(),
    )


class UNet(nn.Cell):
    def __init__(self, width=16):
        super().__init__()
        self.inc = double_conv(3, width)
        self.down1 = double_conv(width, 2 * width)
        self.down2 = double_conv(2 * width, 4 * width)
        self.pool = nn.MaxPool2d(2, 2)
        self.up1 = nn.Conv2dTranspose(4 * width, 2 * width, 2, 2, pad_mode="pad", has_bias=True)
        self.conv1 = double_conv(4 * width, 2 * width)
        self.up2 = nn.Conv2dTranspose(2 * width, width, 2, 2, pad_mode="pad", has_bias=True)
        self.conv2 = double_conv(2 * width, width)
        self.outc = nn.Conv2d(width, 1, 1, has_bias=True)

    def construct(self, x):
        x1 = self.inc(x)
        x2 = self.down1(self.pool(x1))
        x3 = self.down2(self.pool(x2))
        x = self.conv1(ops.cat([x2, self.up1(x3)], 1))
        x = self.conv2(ops.cat([x1, self.up2(x)], 1))
        return self.outc(x)


def main(steps=10):
    ms.set_seed(0)
    model = UNet().set_train()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = nn.RMSProp(model.trainable_params(), 1e-3, decay=0.99, momentum=0.9, epsilon=1e-8)
    images = Tensor(np.random.randn(4, 3, 64, 64).astype(np.float32))
    masks = Tensor((np.random.rand(4, 1, 64, 64) > 0.5).astype(np.float32))
    grad_fn = ms.value_and_grad(lambda x, y: criterion(model(x), y), None, model.trainable_params())
    for step in range(steps):
        start = time.process_time()
        loss, grads = grad_fn(images, masks)
        optimizer(grads)
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
