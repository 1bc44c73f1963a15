"""A network's state with torch's names: weight, not gamma. Shapes are MindSpore's: the weight of a Conv1d has four axes."""

import collections

from mindspore import nn

from .layers_module import RENAMING
from .parts import (
    HAS_FLAT_WEIGHTS,
    HAS_LAZY_LAYERS,
    HAS_LOAD_HOOKS,
    NAMES_ENTRIES,
    OVERRIDES_STATE,
    READS_STATES,
    RENAMES_ENTRIES,
)
from .state_names import TORCH_NAMES, State, other_names


def has_own(cell, name):
    """Whether the network's class has such a method of its own, which then speaks for it."""
    return isinstance(cell, nn.Cell) and getattr(type(cell), name) is not getattr(nn.Cell, name)


def torch_key(cell, key):
    """What torch's state dict calls the entry that MindSpore's calls `key`."""
    path, dot, name = key.rpartition(".")
    owner = getattr(cell, "__self__", cell)  # of super().state_dict() too
    owner = owner.get_sub_cell(path) if path else owner
    if path.endswith("bn2d") and isinstance(owner, nn.BatchNorm2d):  # BatchNorm3d holds one
        path = path[:-4].rstrip(".")
        dot = "." if path else ""
    return path + dot + (TORCH_NAMES.get(name, name) if isinstance(owner, RENAMING) else name)


def state_dict(cell, destination=None, prefix="", keep_vars=False):
    """torch.nn.Module.state_dict. The entries are the network's own, so that writing to one writes to the network."""
    if OVERRIDES_STATE and has_own(cell, "state_dict"):
        return cell.state_dict()
    if not RENAMES_ENTRIES and destination is None and not prefix:
        return collections.OrderedDict(cell.state_dict())
    found = (State() if READS_STATES else collections.OrderedDict()) if destination is None else destination
    entries = list(cell.state_dict().items())
    places = {path: place for place, path in enumerate(dict.fromkeys(key.rpartition(".")[0] for key, _ in entries))}
    entries.sort(
        key=lambda entry: (places[entry[0].rpartition(".")[0]], ".moving_" in f".{entry[0]}")
    )  # those come last
    for key, value in entries:
        found[prefix + torch_key(cell, key)] = value
    return found


class LoadHook:
    """What torch's handle of a hook is: remove() takes it back."""

    def __init__(self, cell, hook, takes_cell):
        self.hook, self.takes_cell = hook, takes_cell
        self.hooks = cell.__dict__.setdefault("load_hooks", [])
        self.hooks.append(self)

    def remove(self):
        if self in self.hooks:
            self.hooks.remove(self)


def register_load_hook(cell, hook, with_module=False):
    """torch.nn.Module._register_load_state_dict_pre_hook: called with a checkpoint's entries before they are loaded."""
    return LoadHook(cell, hook, with_module)


def call_load_hooks(cell, state_dict, strict):
    """The entries after the hooks of all parts have seen and changed them; a copy, as torch makes it."""
    state_dict = dict(state_dict)
    for path, part in cell.cells_and_names():
        for each in part.__dict__.get("load_hooks", ()):
            owner = (part,) if each.takes_cell else ()
            each.hook(*owner, state_dict, f"{path}." if path else "", {}, strict, [], [], [])
    return state_dict


def load_state_dict(cell, state_dict, strict=True, assign=False):
    """torch.nn.Module.load_state_dict, of entries that bear torch's names or MindSpore's."""
    if OVERRIDES_STATE and has_own(cell, "load_state_dict"):
        return cell.load_state_dict(state_dict, strict)
    if HAS_LOAD_HOOKS:
        state_dict = call_load_hooks(cell, state_dict, strict)
    if HAS_LAZY_LAYERS:
        for path, part in cell.cells_and_names():
            if hasattr(part, "build_from"):  # a lazy layer learns its size from what it is given
                start = f"{path}." if path else ""
                part.build_from({key[len(start) :]: each for key, each in state_dict.items() if key.startswith(start)})
    if not RENAMES_ENTRIES and not HAS_FLAT_WEIGHTS:
        return cell.load_state_dict(dict(state_dict), strict)
    left, given = dict(state_dict), {}
    own = {key: torch_key(cell, key) if NAMES_ENTRIES else key for key in cell.state_dict()}
    for key, name in own.items():
        found = next((each for each in (name, key, *other_names(key)) if each in left), None)
        if found is not None:
            value = left.pop(found)
            if HAS_FLAT_WEIGHTS:
                shape = cell.state_dict()[key].shape
                is_flat = len(shape) == 4 and shape[2] == 1 and value.shape == (*shape[:2], shape[3])
                value = value.unsqueeze(2) if is_flat else value  # the weight of a Conv1d
            given[key] = value
    given.update((name, value) for name, value in left.items() if not name.endswith("num_batches_tracked"))
    if not NAMES_ENTRIES:
        return cell.load_state_dict(given, strict)
    result = cell.load_state_dict(given, strict)
    for keys in (result.missing_keys, result.unexpected_keys):
        keys[:] = [own.get(key, key) for key in keys]
    return result
