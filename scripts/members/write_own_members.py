"""Writes apis/torch/own_members.tsv: the members that one class of torch's has beyond Module's, and which are lost in a conversion.

Run it where both frameworks are installed: `python scripts/members/write_own_members.py`. It is measured: a program that
uses every member of an instance of each class (instances.txt) is converted, both are run, and what they give is compared.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import distributions, nn
from torch.utils import data

from mindferry.convert import convert_project

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "mindferry" / "apis" / "torch" / "own_members.tsv"
# Private, and used by public code all the same.
PRIVATE = frozenset(
    "_conv_forward _reset_parameters _qkv_same_embed_dim _flat_weights _all_weights _weights_have_changed _last_lr "
    "_reversed_padding_repeated_twice _fill_padding_idx_with_zero _step_count".split()
)
# What the two frameworks show otherwise, or hold in another order, without a difference for a program; a's and b's of dicts.
EXPECTED = frozenset(
    "extra_repr defaults param_groups state state_dict step generator inplace weight weights name a b collate_fn "
    "num_batches_tracked items values OptimizerPostHook OptimizerPreHook profile_hook_step".split()
)
ARGUMENTS = {
    **dict.fromkeys("keys values items clear popitem copy reset_parameters _reset_parameters".split(), "()"),
    **dict.fromkeys("reset_running_stats flatten_parameters _weights_have_changed zero_grad".split(), "()"),
    **dict.fromkeys("has_uninitialized_params _fill_padding_idx_with_zero sample rsample entropy".split(), "()"),
    **dict.fromkeys("perplexity enumerate_support get_last_lr check_worker_number_rationality".split(), "()"),
    **dict.fromkeys(
        "check_input get_expected_hidden_size get_expected_cell_size".split(), "(torch.ones(2, 5, 3), None)"
    ),
    **dict.fromkeys("get setdefault".split(), "('a')"),
    "fromkeys": "(['a'])",
    "generate_square_subsequent_mask": "(3)",
    "from_pretrained": "(torch.ones(3, 4))",
    "merge_masks": "(None, None, torch.ones(2, 3, 4))",
    "sample_n": "(3)",
    "set_epoch": "(1)",
}
HEAD = "import torch\nfrom torch import distributions, nn\nfrom torch.utils import data\n\n"
RUNNER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import probe
found = {}
for name in [each for each in vars(probe) if each.startswith("Holder")]:
    for method in [each for each in vars(getattr(probe, name)) if each.startswith("ask_")]:
        try:
            found[method] = SHOW(getattr(getattr(probe, name)(), method)())
        except BaseException as error:
            found[method] = "!" + type(error).__name__
json.dump(found, open(sys.argv[2], "w"))
"""
SHOW = """
def SHOW(value):
    if hasattr(value, "asnumpy") or (hasattr(value, "detach") and hasattr(value, "shape")):
        return f"{tuple(value.shape)} {str(value.dtype).lower().rpartition('.')[2]}"
    if isinstance(value, dict):
        return {key if isinstance(key, str) else "?": SHOW(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__name__.endswith(("_keys", "_values", "_items", "View")):
        return [SHOW(each) for each in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:.6g}"
    if isinstance(value, (bool, str)) or value is None:
        return str(value)
    return "object"
"""


def members_of(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The class of an instance, and its own members with the arguments to call them."""
    made = eval(text, {"torch": torch, "nn": nn, "data": data, "distributions": distributions})
    beyond = set(dir(nn.Module())) if isinstance(made, nn.Module) else set(dir(object))
    found = []
    for name in sorted(set(dir(made)) - beyond - {"training"} | {"reset_parameters"} & set(dir(made))):
        if (name.startswith("_") and name not in PRIVATE) or name in EXPECTED:
            continue
        try:
            member = getattr(made, name)
        except Exception:
            continue  # torch's own has none
        is_method = inspect.ismethod(member) or inspect.isfunction(inspect.getattr_static(type(made), name, None))
        if not is_method or name in ARGUMENTS:
            found.append((name, ARGUMENTS.get(name, "") if callable(member) else ""))
    home = text.partition("(")[0]
    qual = {"nn": "torch.nn", "data": "torch.utils.data", "distributions": "torch.distributions"}
    first, _, rest = home.partition(".")
    return f"{qual.get(first, first)}.{rest}", found


def results(folder: Path, output: Path) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-c", SHOW + RUNNER, str(folder), str(output)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    found: dict[str, Any] = json.loads(output.read_text())
    return found


def main() -> None:
    texts = [each for each in (HERE / "instances.txt").read_text().splitlines() if not each.startswith("#")]
    program, asked = [HEAD], dict[str, tuple[str, str]]()
    for number, text in enumerate(texts):
        qual, found = members_of(text)
        base = "nn.Module" if text.startswith("nn.") else "object"
        lines = [f"class Holder{number}({base}):", "    def __init__(self):", "        super().__init__()"]
        lines.append(f"        self.held = {text}")
        for name, arguments in found:
            asked[f"ask_{len(asked)}"] = (qual, name)
            lines += [f"    def ask_{len(asked) - 1}(self):", f"        return self.held.{name}{arguments}"]
        program.append("\n".join(lines))
    with tempfile.TemporaryDirectory() as place:
        source, output = Path(place) / "source", Path(place) / "output"
        source.mkdir()
        (source / "probe.py").write_text("\n\n".join(program) + "\n")
        convert_project(source, output)
        theirs, ours = results(source, Path(place) / "theirs.json"), results(output, Path(place) / "ours.json")
    rows: dict[str, tuple[list[str], list[str]]] = {}
    for key, (qual, name) in asked.items():
        if str(theirs[key]).startswith("!") or ours[key] == "!NotImplementedError":
            continue  # torch has none either, or the class has a finding of its own
        rows.setdefault(qual, ([], []))[ours[key] != theirs[key]].append(name)
    title = "# Written by scripts/members/write_own_members.py: class, members that mean the same here, members that are lost"
    lines = [f"{qual}\t{' '.join(kept)}\t{' '.join(lost)}" for qual, (kept, lost) in rows.items()]
    TARGET.write_text("\n".join([title, *lines]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
