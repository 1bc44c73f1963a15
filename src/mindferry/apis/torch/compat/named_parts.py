"""Results with torch's field names: `svd(A).S` as well as `svd(A)[1]`."""

from collections import namedtuple
from functools import wraps


def named_parts(names):
    """What the function returns, under torch's names too."""
    kind = namedtuple("Parts", names)

    def decorate(function):
        @wraps(function)
        def with_names(*args, **kwargs):
            return kind(*function(*args, **kwargs))

        return with_names

    return decorate


def named_part(value, name, number):
    """`result.values`, where `result` may be what max, sort or topk returned, or anything else that has values."""
    return value[number] if type(value) is tuple else getattr(value, name)
