"""A function's copy, without what the library documents it with."""

import functools
import types


def copy_func(f):
    copied = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    functools.update_wrapper(copied, f)
    copied.__kwdefaults__ = f.__kwdefaults__
    return copied
