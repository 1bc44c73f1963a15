"""The names of a network's state: torch's in the code, torch's or MindSpore's in a file."""

import collections

NORM_NAMES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
TORCH_NAMES = {"embedding_table": "weight", "w": "weight", **NORM_NAMES}


def other_names(key):
    """What a norm, an embedding or a PReLU calls the same entry in the other framework."""
    path, dot, name = key.rpartition(".")
    pairs = [pair for own, other in TORCH_NAMES.items() for pair in ((own, other), (other, own))]
    return [f"{path}{dot}{other}" for own, other in pairs if own == name]


class State(collections.OrderedDict):
    """A state dict that finds an entry by either of its names, so that files of both kinds can be compared with a network."""

    def name_of(self, key):
        """The name that the entry has here; `key` itself if there is none."""
        if isinstance(key, str) and not super().__contains__(key):
            return next((name for name in other_names(key) if super(State, self).__contains__(name)), key)
        return key

    def __contains__(self, key):
        return super().__contains__(self.name_of(key))

    def __getitem__(self, key):
        return super().__getitem__(self.name_of(key))

    def __delitem__(self, key):
        super().__delitem__(self.name_of(key))

    def get(self, key, default=None):
        return super().get(self.name_of(key), default)

    def pop(self, key, *default):
        return super().pop(self.name_of(key), *default)

    def update(self, *others, **entries):
        for key, value in dict(*others, **entries).items():
            self[self.name_of(key)] = value


def torch_named(records):
    """A checkpoint's entries, those of norms, embeddings and PReLUs under torch's names."""
    held = collections.defaultdict(set)
    for key in records:
        path, _, name = key.rpartition(".")
        held[path].add(name)
    found = State()
    for key, value in records.items():
        path, dot, name = key.rpartition(".")
        is_norm = {"gamma", "beta"} <= held[path]
        renamed = is_norm or name == "embedding_table" or held[path] == {"w"}
        found[path + dot + TORCH_NAMES.get(name, name) if renamed else key] = value
    return found
