"""Code to migrate and code to keep: only what touches the device must move."""

from __future__ import annotations

import ast
import re
from collections import Counter

from ..artifacts import CodeClass
from .scan import FUNCTIONS, TORCH, CallSite, FileScan, line_of

MIGRATED = ("execution", "construction", "input", "output")
INPUT = ("torch.utils.data.", "torchvision.transforms.", "torchvision.datasets.", "torchvision.io.")
INPUT_CALLS = {"torch.from_numpy", "torch.load", "torch.as_tensor", "torch.nn.Module.load_state_dict", "torch.hub.load"}
OUTPUT_CALLS = {"torch.save", "torch.nn.Module.state_dict", "torch.onnx.export", "torch.jit.save", "torch.Tensor.item", "torch.Tensor.tolist",
                "torch.Tensor.numpy", "torch.Tensor.cpu", "torch.Tensor.detach", "torch.optim.Optimizer.state_dict"}  # fmt: skip
STEPS = {"torch.Tensor.backward", "torch.optim.Optimizer.step", "torch.optim.Optimizer.zero_grad", "torch.no_grad", "torch.autocast"}
NEUTRAL = ("torch.Tensor.shape", "torch.Tensor.size", "torch.jit.", "torch.compiler.", "torch.fx.", "torch.Tensor@", "torch.Size.")
# Methods of networks, optimizers and tensors that nothing else has, on something that is not known to be one.
DEVICE_METHODS = {".named_parameters", ".parameters", ".state_dict", ".load_state_dict", ".backward", ".zero_grad", ".named_modules",
                  ".named_buffers", ".requires_grad_", ".unscale_"}  # fmt: skip
DRIVEN = re.compile(r"(model|net|network|module|optimi[sz]er|opt|scheduler|scaler)s?$", re.IGNORECASE)
KEPT = {
    "numpy": ("numpy", "scipy", "pandas", "sklearn"),
    "images": ("cv2", "PIL", "skimage", "imageio", "albumentations", "pycocotools"),
    "text": ("tokenizers", "sentencepiece", "nltk", "spacy", "regex", "tiktoken", "re", "unicodedata", "string"),
    "config": ("argparse", "yaml", "json", "configparser", "omegaconf", "hydra", "yacs", "click", "dataclasses", "tomllib", "absl"),
    "logging": ("logging", "tqdm", "wandb", "tensorboardX", "warnings", "rich", "matplotlib", "time"),
    "files": ("os", "pathlib", "shutil", "glob", "pickle", "zipfile", "urllib", "requests", "csv", "h5py", "lmdb"),
}
PACKAGES = {package: kind for kind, packages in KEPT.items() for package in packages}


def code_classes(scan: FileScan) -> list[CodeClass]:
    """One entry for each function, and one for what stands outside of them."""
    touched = _touched(scan)
    entries, inside = [], 0
    for home, node in scan.functions.items():
        start = min([line_of(node), *(line_of(each) for each in getattr(node, "decorator_list", []))])
        lines = (getattr(node, "end_lineno", start) or start) - start + 1
        inside += lines
        role = _role(home, node, scan)
        is_forward = role == "execution" and getattr(node, "name", "") == "forward"
        kind = role if is_forward else _kind(touched.get(home, Counter()), role)
        entries.append(CodeClass(scan.path, home.removeprefix(f"{scan.module}."), line_of(node), lines, kind, kind in MIGRATED))
    total = scan.reading.source.data.count(b"\n")
    if total > inside:
        marks = sum((count for home, count in touched.items() if home not in scan.functions), Counter[str]())
        kind = _kind(marks, "")
        entries.append(CodeClass(scan.path, "", 1, total - inside, kind, kind in MIGRATED))
    return entries


def _role(home: str, node: ast.AST, scan: FileScan) -> str:
    """What a method is for, by the class that it belongs to."""
    symbols, owner = scan.reading.symbols, home.rpartition(".")[0]
    name = getattr(node, "name", "")
    if owner not in symbols.classes:
        return ""
    if symbols.is_module(owner):
        return "construction" if name.startswith(("__init__", "_make", "_build", "build", "init_", "_init", "reset_")) else "execution"
    base = symbols.torch_base(owner)
    if base.startswith(("torch.utils.data.", "torchvision.datasets.")):
        return "input"
    return "execution" if base.startswith(("torch.optim.", "torch.autograd.")) else ""


def _touched(scan: FileScan) -> dict[str, Counter[str]]:
    """What each function touches, by kind."""
    touched: dict[str, Counter[str]] = {}
    for api, node in scan.apis:
        if not api.startswith(NEUTRAL) and not _is_annotation(node, scan):
            touched.setdefault(scan.homes[node], Counter())[_torch_kind(api)] += 1
    for home, names in scan.tensors.items():
        if names:
            touched.setdefault(home, Counter())["execution"] += 1
    for part in scan.reading.source.nodes:
        if isinstance(part, ast.Attribute) and part.attr == "param_groups":
            touched.setdefault(scan.homes[part], Counter())["execution"] += 1
    for call in scan.calls:
        marks = touched.setdefault(call.home, Counter())
        head = call.name.partition(".")[0]
        kind = scan.reading.type(call.node.func)
        if kind.kind == "instance" and scan.reading.symbols.is_module(kind.qual):
            marks["execution"] += 1
        elif scan.reading.symbols.is_module(call.name) and not call.name.startswith(TORCH):
            marks["construction"] += 1
        elif (
            call.name in DEVICE_METHODS
            or _is_of_device(call, scan)
            or (not call.name.startswith(TORCH) and _handles_tensors(call.node, scan))
        ):
            marks["execution"] += 1
        elif head in PACKAGES:
            marks[PACKAGES[head]] += 1
        elif call.name == "builtins.print":
            marks["logging"] += 1
    return touched


def _is_of_device(call: CallSite, scan: FileScan) -> bool:
    """`self.model.train()`, `scheduler.step()`, `batch.to(device)`: told by the names, where types don't tell."""
    function = call.node.func
    if not (call.name.startswith(".") and isinstance(function, ast.Attribute)):
        return False
    if function.attr == "to":
        return any("device" in scan.text(each) for each in call.node.args)
    if function.attr == "view":
        return any(scan.text(each) == "-1" for each in call.node.args)
    return function.attr in ("train", "eval", "step") and DRIVEN.search(scan.text(function.value)) is not None


def _handles_tensors(node: ast.Call, scan: FileScan) -> bool:
    """Whether a call of something that is not torch's takes or gives tensors."""
    return any(scan.reading.type(each).is_tensor for each in (node, *node.args, *(keyword.value for keyword in node.keywords)))


def _is_annotation(node: ast.AST, scan: FileScan) -> bool:
    """Types in signatures touch nothing."""
    parents = scan.reading.source.parents
    while (parent := parents.get(node)) is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.arg):
            return True
        node = parent
    if isinstance(parent, FUNCTIONS):
        return node is parent.returns
    return (isinstance(parent, ast.AnnAssign) and node is parent.annotation) or isinstance(parent, ast.ImportFrom | ast.Import)


def _torch_kind(api: str) -> str:
    if api in STEPS:
        return "execution"
    if api.startswith(INPUT) or api in INPUT_CALLS:
        return "input"
    if api in OUTPUT_CALLS:
        return "output"
    if api.startswith("torch.nn.Module."):
        return "execution" if api.endswith((".train", ".eval", ".__call__", ".forward")) else "construction"
    if api.startswith("torch.nn.") and not api.startswith(("torch.nn.functional.", "torch.nn.utils.clip")):
        return "construction"
    return "construction" if api.startswith(("torch.optim.", "torchvision.models.", "torch.device", "torch.cuda")) else "execution"


def _kind(marks: Counter[str], role: str) -> str:
    device = [kind for kind in MIGRATED if marks[kind]]
    if device:
        if role:
            return role
        if marks["execution"]:
            return "execution"
        return max(device, key=lambda kind: marks[kind])
    kept = [(number, kind) for kind, number in marks.items() if kind in KEPT]
    return max(kept)[1] if kept else "plain"
