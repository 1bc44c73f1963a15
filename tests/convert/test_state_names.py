"""State dicts bear torch's names in the converted code, and take both frameworks' names when they are loaded."""

from __future__ import annotations

import pytest
from two_frameworks import Both, same

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.line = nn.Conv1d(1, 2, 3)
        self.table = nn.Embedding(5, 4)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.PReLU()) for _ in range(2)])

ARRAYS = np.random.default_rng(5)

def filled():
    net = Net()
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.tensor(ARRAYS.standard_normal(tuple(p.shape)).astype("float32")))
    return net
"""
USES = {
    "names and shapes": """
def run():
    return sorted([k, list(v.shape)] for k, v in Net().state_dict().items() if "tracked" not in k and k != "line.weight")
""",
    "loaded from arrays under torch's names": """
def run():
    net = Net()
    shapes = {"norm.weight": (6,), "norm.running_var": (6,), "table.weight": (5, 4), "blocks.1.1.bias": (4,),
              "blocks.0.2.weight": (1,), "line.weight": (2, 1, 3), "norm.num_batches_tracked": ()}
    arrays = {k: ARRAYS.standard_normal(s).astype("float32") for k, s in shapes.items()}
    found = net.load_state_dict({k: torch.from_numpy(np.asarray(v)) for k, v in arrays.items()}, strict=False)
    left = sorted(k for k in found.missing_keys if "tracked" not in k)
    return [plain(net.norm.weight), plain(net.norm.running_var), plain(net.table.weight), plain(net.blocks[1][1].bias),
            plain(net.line.weight.reshape(-1)), left, list(found.unexpected_keys)]
""",
    "a layer that has a weight and a gamma of its own": """
import copy

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.gamma = nn.Parameter(torch.full((2,), 3.0)), nn.Parameter(torch.full((2,), 5.0))

def run():
    net, other = Scaled(), Scaled()
    other.gamma.data.fill_(7.0)
    kept = copy.deepcopy(other.state_dict())
    net.load_state_dict(kept)
    return [sorted(kept), plain(net.weight), plain(net.gamma), len(net.state_dict())]
""",
    "unknown and missing names are told": """
def run():
    try:
        Net().load_state_dict({"norm.weights": torch.zeros(6)})
    except RuntimeError as error:
        return ["norm.weights" in str(error), "Missing" in str(error)]
""",
    "copied entry by entry, the network learns of it": """
def copy_into(model, state):
    own = model.state_dict()
    for name, value in state.items():
        if name in own and "tracked" not in name:
            own[name].copy_(value)
    own["norm.bias"].zero_().add_(2)

def run():
    net, other = Net(), filled()
    copy_into(net, other.state_dict())
    return [plain(net.norm.weight), plain(net.norm.bias), plain(net.table.weight), plain(net.blocks[0][0].weight)]
""",
    "only what fits is taken": """
def run():
    net, other = Net(), filled()
    own = net.state_dict()
    fitting = {k: v for k, v in other.state_dict().items() if k in own and v.shape == own[k].shape and "blocks.1" not in k}
    own.update(fitting)
    net.load_state_dict(own)
    return [plain(net.norm.weight), plain(net.table.weight), plain(net.blocks[0][1].weight),
            sorted(k for k in fitting if "tracked" not in k)]
""",
    "a class that renames for itself": """
class Wrapped(Net):
    def state_dict(self, *args, **kwargs):
        return {"net." + k: v for k, v in super().state_dict(*args, **kwargs).items()}
    def load_state_dict(self, state, strict=True):
        return super().load_state_dict({k[4:]: v for k, v in state.items()}, strict)

def run():
    net, other = Wrapped(), Wrapped()
    other.norm.weight.data.fill_(3.0)
    net.load_state_dict(other.state_dict())
    return [plain(net.norm.weight), sorted(k for k in net.state_dict() if "tracked" not in k)]
""",
    "through a file, with a prefix taken off": """
import os, tempfile

def run():
    net, other = Net(), filled()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "whole.pth")
        torch.save(other.state_dict(), path)
        state = torch.load(path)
        names = sorted(k for k in state if "tracked" not in k)
        net.load_state_dict({("module." + k)[7:]: v for k, v in state.items()})
        first = plain(net.norm.weight)
        torch.save({"model": other.state_dict(), "epoch": 3}, path)
        kept = torch.load(path)
        fresh = Net()
        fresh.load_state_dict(kept["model"])
    return [names, first, plain(fresh.table.weight), plain(state["norm.running_mean"]), kept["epoch"]]
""",
}


@pytest.mark.parametrize("name", USES)
def test_a_state_dict_means_what_torchs_means(both: Both, name: str) -> None:
    theirs, ours = both(NET + USES[name])
    assert theirs and same(ours, theirs), (theirs, ours)
