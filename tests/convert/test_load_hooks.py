"""Hooks that rename a checkpoint's entries before a network loads them, as libraries have them for their older files."""

from __future__ import annotations

from two_frameworks import Both, same


def test_a_hook_changes_the_entries_before_they_are_loaded(both: Both) -> None:
    theirs, ours = both("""
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 3)
        self._register_load_state_dict_pre_hook(self.rename)
        self.seen = []

    def rename(self, state_dict, prefix, *args):
        self.seen.append(prefix)
        for key in list(state_dict):
            if key.startswith(prefix + "old."):
                state_dict[prefix + "line." + key.rpartition(".")[2]] = state_dict.pop(key)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Part(), Part()
        self.handle = self.register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: state.pop("extra", None))


def run():
    torch.manual_seed(0)
    net = Net()
    entries = {f"{part}.old.weight": torch.full((3, 4), float(k)) for k, part in enumerate(("first", "second"))}
    entries.update({f"{part}.old.bias": torch.full((3,), k + 0.5) for k, part in enumerate(("first", "second"))})
    entries["extra"] = torch.ones(1)
    kept = sorted(entries)
    found = net.load_state_dict(entries)
    net.handle.remove()
    left = net.load_state_dict(entries, strict=False)
    return [
        plain(net.first.line.weight.sum()), plain(net.second.line.weight.sum()), plain(net.second.line.bias.sum()),
        len(found.missing_keys), len(left.unexpected_keys), net.first.seen, sorted(entries) == kept,
    ]
""")
    assert str(ours) == str(theirs) or same(ours, theirs)
    assert theirs[0] == 0.0
    assert theirs[1] == 12.0
