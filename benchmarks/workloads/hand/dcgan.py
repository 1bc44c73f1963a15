"""DCGAN as a MindSpore engineer would write it: PyNative, a gradient function for each network, nn.Adam."""

import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


def up(inside, outside, stride, padding):
    return nn.Conv2dTranspose(inside, outside, 4, stride, pad_mode="pad", padding=padding)


def down(inside, outside, stride, padding):
    return nn.Conv2d(inside, outside, 4, stride, pad_mode="pad", padding=padding)


def generator(latent=64, width=32):
    layers = [up(latent, width * 4, 1, 0), nn.BatchNorm2d(width * 4), nn.ReLU()]
    for size in (width * 4, width * 2):
        layers += [up(size, size // 2, 2, 1), nn.BatchNorm2d(size // 2), nn.ReLU()]
    return nn.SequentialCell([*layers, up(width, 3, 2, 1), nn.Tanh()])


def discriminator(width=32):
    layers = [down(3, width, 2, 1), nn.LeakyReLU(0.2)]
    for size in (width, width * 2):
        layers += [down(size, size * 2, 2, 1), nn.BatchNorm2d(size * 2), nn.LeakyReLU(0.2)]
    return nn.SequentialCell([*layers, down(width * 4, 1, 1, 0), nn.Sigmoid(), nn.Flatten(0)])


def main(steps=8):
    ms.set_seed(0)
    net_g, net_d = generator().set_train(), discriminator().set_train()
    criterion = nn.BCELoss(reduction="mean")
    optimizer_d = nn.Adam(net_d.trainable_params(), 2e-4, 0.5, 0.999)
    optimizer_g = nn.Adam(net_g.trainable_params(), 2e-4, 0.5, 0.999)
    real = Tensor((np.random.rand(16, 3, 32, 32) * 2 - 1).astype(np.float32))
    ones, zeros = ops.ones((16,)), ops.zeros((16,))

    def loss_d(real, fake):
        return criterion(net_d(real), ones) + criterion(net_d(fake), zeros)

    def loss_g(noise):
        fake = net_g(noise)
        return criterion(net_d(fake), ones), fake

    grad_d = ms.value_and_grad(loss_d, None, net_d.trainable_params())
    grad_g = ms.value_and_grad(loss_g, None, net_g.trainable_params(), has_aux=True)
    for step in range(steps):
        start = time.process_time()
        (loss, fake), grads = grad_g(ops.randn(16, 64, 1, 1))
        optimizer_g(grads)
        _, grads = grad_d(real, ops.stop_gradient(fake))
        optimizer_d(grads)
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
