"""Random numbers with torch's arguments."""

import mindspore as ms


class Generator(ms.Generator):
    """torch.Generator: takes a device, which has no meaning here."""

    def __init__(self, device=None):
        super().__init__()
