"""transformers.utils.import_utils: the library is not loaded a second time from its folder."""

import sys


def direct_transformers_import(path, file="__init__.py"):
    return sys.modules[__name__.rpartition(".utils.")[0]]
