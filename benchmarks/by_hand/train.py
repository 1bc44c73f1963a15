"""The training step carried over by hand: a function to differentiate, MindSpore's own loss and optimizer."""

import mindspore as ms
from mindspore import nn


def make_step(network, learning_rate, weight_decay=1e-5):
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.Adam(network.trainable_params(), learning_rate=learning_rate, weight_decay=weight_decay)

    def forward_fn(images, labels):
        logits = network(images)
        return criterion(logits, labels), logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    def step(images, labels):
        (loss, _), grads = grad_fn(images, labels)
        optimizer(grads)
        return loss

    return step
