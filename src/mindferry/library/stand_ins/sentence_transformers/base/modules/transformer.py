"""sentence_transformers.base.modules.transformer: a checkpoint says `"method": "forward"`, which networks call construct here."""

import builtins


def getattr(value, name, *otherwise):
    return builtins.getattr(value, "construct" if name == "forward" else name, *otherwise)
