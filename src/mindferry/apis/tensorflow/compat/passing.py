"""What is computed within a tape's block and gradients are taken by: it is noted, and zeros are added to it there."""

import contextlib

from mindspore import Tensor

from .tensors import map_structure


class Passing:
    """What layers give while a tape records, in order; what is to be added to some of it."""

    is_on, seen, added = False, [], {}

    @classmethod
    @contextlib.contextmanager
    def watched(cls, added):
        before = cls.is_on, cls.seen, cls.added
        cls.is_on, cls.seen, cls.added = True, [], added
        try:
            yield cls.seen
        finally:
            cls.is_on, cls.seen, cls.added = before

    @classmethod
    def noted(cls, out):
        def one(each):
            if not isinstance(each, Tensor):
                return each
            each = each + cls.added[len(cls.seen)] if len(cls.seen) in cls.added else each
            cls.seen.append(each)
            return each

        return map_structure(one, out)


def noted(value):
    """tape.watch(value), of what the block itself has computed."""
    return Passing.noted(value) if Passing.is_on else value
