"""Texts that name layers or functions by what torch calls them, evaluated when the program runs."""

from types import SimpleNamespace


def evaluate(text, variables, named):
    """eval(): what the text may name of torch's stands in a table, under the names that it goes by there ("nn.Upsample")."""
    modules = {}
    for path, value in named.items():
        *owners, name = path.split(".")
        place = modules
        for owner in owners:
            place = vars(place.setdefault(owner, SimpleNamespace()))
        place[name] = value
    return eval(text, {**variables, **modules})
