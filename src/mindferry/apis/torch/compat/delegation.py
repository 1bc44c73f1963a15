"""Networks that answer for a part of theirs: `def __getattr__(self, name): return getattr(self.module, name)`."""

import sys


def is_asked_by_mindspore():
    """Whether MindSpore's own code looks for the attribute, as Cell.__init__ does for `bprop`: only the cell itself may answer."""
    return sys._getframe(2).f_globals.get("__name__", "").startswith("mindspore.")
