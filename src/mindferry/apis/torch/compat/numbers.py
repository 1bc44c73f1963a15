"""Numbers that are sometimes tensors."""

import mindspore as ms


def plain_number(value):
    """What a format can be given: a tensor's number, anything else as it is."""
    return value.item() if isinstance(value, ms.Tensor) else value
