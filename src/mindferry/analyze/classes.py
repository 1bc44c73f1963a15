"""Code to migrate and code to keep: only what touches the device must move."""

from __future__ import annotations

import ast
import re
from collections import Counter

from ..artifacts import CodeClass
from ..read.framework import Role
from ..read.uses import Use
from .scan import FUNCTIONS, CallSite, FileScan, line_of
from .special import instead

MIGRATED = ("execution", "construction", "input", "output")
DEVICE = (*MIGRATED, "steps", "saves", "loads")  # marks that mean one of them
KINDS = {
    Use.DRIVES_STEP: "steps",
    Use.INPUT: "input",
    Use.OUTPUT: "output",
    Use.EXECUTION: "execution",
    Use.CONSTRUCTION: "construction",
}
# Methods of networks, optimizers and tensors that nothing else has, on something that is not known to be one.
DEVICE_METHODS = {
    **dict.fromkeys(
        [
            ".named_parameters",
            ".parameters",
            ".backward",
            ".zero_grad",
            ".named_modules",
            ".named_buffers",
            ".requires_grad_",
            ".unscale_",
            ".cuda",
            ".register_forward_hook",
        ],
        "execution",
    ),
    **dict.fromkeys([".cpu", ".detach", ".state_dict", ".export_chrome_trace", ".key_averages"], "output"),
    ".load_state_dict": "input",
}
STORED = {
    ".append",
    ".extend",
    ".add",
    ".update",
    ".get",
    ".setdefault",
    ".insert",
    ".put",
}  # of lists, dictionaries, queues
HANDED_ON = {
    "builtins.len",
    "builtins.isinstance",
    "builtins.print",
    "builtins.str",
    "builtins.hasattr",
    "builtins.type",
    "builtins.id",
}
WRAPPERS = re.compile(r"(^|\.)_?(accelerator|fabric|deepspeed|strategy)$")  # objects of packages that drive the device
SETTINGS = re.compile(
    r"self|cls|torch|th|args?|\w*(cfg|conf|config|opts?|options|params|settings|flags|context|trainer|env|state)",
    re.IGNORECASE,
)
HOST_PARTS = re.compile(
    r"Tokenizer|Config|Processor|FeatureExtractor|Logger"
)  # of packages that need torch, what doesn't
BUILDS = (
    "__init__",
    "from_",
    "_make",
    "_build",
    "build",
    "init",
    "_init",
    "reset_",
    "make_",
    "create_",
    "_create",
    "setup",
    "_setup",
    "get_optim",
    "_get_optim",
)
DRIVEN = re.compile(r"(model|net|network|module|optimi[sz]er|opt|scheduler|scaler)s?$", re.IGNORECASE)
KEPT = {
    "numpy": ("numpy", "scipy", "pandas", "sklearn"),
    "images": ("cv2", "PIL", "skimage", "imageio", "albumentations", "pycocotools"),
    "text": ("tokenizers", "sentencepiece", "nltk", "spacy", "regex", "tiktoken", "re", "unicodedata", "string"),
    "config": (
        "argparse",
        "yaml",
        "json",
        "configparser",
        "omegaconf",
        "hydra",
        "yacs",
        "click",
        "dataclasses",
        "tomllib",
        "absl",
    ),
    "logging": ("logging", "tqdm", "wandb", "tensorboardX", "warnings", "rich", "matplotlib", "time"),
    "files": ("os", "pathlib", "shutil", "glob", "pickle", "zipfile", "urllib", "requests", "csv", "h5py", "lmdb"),
}
PACKAGES = {package: kind for kind, packages in KEPT.items() for package in packages}


def code_classes(scan: FileScan) -> list[CodeClass]:
    """One entry for each function, and one for what stands outside of them."""
    touched = _touched(scan)
    _follow_calls(touched, scan)
    entries, inside = [], 0
    for home, node in scan.functions.items():
        start = min([line_of(node), *(line_of(each) for each in getattr(node, "decorator_list", []))])
        lines = (getattr(node, "end_lineno", start) or start) - start + 1
        inside += lines
        kind = _function_kind(home, node, touched.get(home, Counter()), scan)
        entries.append(
            CodeClass(scan.path, home.removeprefix(f"{scan.module}."), line_of(node), lines, kind, kind in MIGRATED)
        )
    total = scan.reading.source.data.count(b"\n")
    if total > inside:
        marks = sum((count for home, count in touched.items() if home not in scan.functions), Counter[str]())
        kind = _kind(marks, "")
        entries.append(CodeClass(scan.path, "", 1, total - inside, kind, kind in MIGRATED))
    return entries


def _function_kind(home: str, node: ast.AST, marks: Counter[str], scan: FileScan) -> str:
    name, role = getattr(node, "name", ""), _role(home, node, scan)
    if role == "execution" and name == "forward":
        return role
    if scan.reading.symbols.role(home.rpartition(".")[0]) is Role.GRADIENT:
        return "execution"  # all that an autograd function does
    if role != "input" and name.startswith(BUILDS) and marks["construction"]:
        return "construction"
    return _kind(marks, role)


def _role(home: str, node: ast.AST, scan: FileScan) -> str:
    """What a method is for, by the class that it belongs to."""
    symbols, owner = scan.reading.symbols, home.rpartition(".")[0]
    if owner not in symbols.classes:
        return ""
    if symbols.is_module(owner):
        return "construction" if getattr(node, "name", "").startswith(BUILDS) else "execution"
    role = symbols.role(owner)
    if role in (Role.DATASET, Role.LOADER, Role.DATA):
        return "input"
    return "execution" if role in (Role.OPTIMIZER, Role.SCHEDULER, Role.GRADIENT) else ""


def _touched(scan: FileScan) -> dict[str, Counter[str]]:
    """What each function touches, by kind."""
    touched: dict[str, Counter[str]] = {}
    for api, node in scan.apis:
        if not scan.uses.has(Use.NEUTRAL, api) and not _is_annotation(node, scan):
            touched.setdefault(scan.homes[node], Counter())[_api_kind(api, scan)] += 1
    for home, names in scan.tensors.items():
        if names - _annotated(home, scan):  # a type alone touches nothing
            touched.setdefault(home, Counter())["execution"] += 1
    for part in scan.reading.source.nodes:
        if isinstance(part, ast.Attribute) and (
            part.attr == "param_groups" or (part.attr == "device" and _is_device_of_tensor(part, scan))
        ):
            touched.setdefault(scan.homes[part], Counter())["execution"] += 1
    for call in scan.calls:
        kind = _call_kind(call, scan)
        if kind:
            touched.setdefault(call.home, Counter())[kind] += 1
    return touched


def _annotated(home: str, scan: FileScan) -> set[str]:
    function = scan.functions.get(home)
    arguments = function.args if isinstance(function, FUNCTIONS) else None
    return (
        {each.arg for each in (*arguments.args, *arguments.kwonlyargs) if each.annotation is not None}
        if arguments
        else set()
    )


def _call_kind(call: CallSite, scan: FileScan) -> str:
    name = call.name
    symbols, receiver = scan.reading.symbols, scan.reading.type(call.node.func)
    if scan.uses.has(Use.SAVE, name):
        return "saves"
    if scan.uses.has(Use.LOAD, name):
        return "loads"
    if receiver.kind == "instance" and symbols.is_module(receiver.qual):
        return "execution"
    if receiver.kind == "instance" and symbols.framework.role(receiver.qual) is Role.TRANSFORM:
        return "input"
    if _builds_layer(call, scan):
        return "construction"
    if symbols.is_module(name) and not scan.framework.has(name):
        return "construction"
    if name in DEVICE_METHODS:
        return DEVICE_METHODS[name]
    if _is_of_device(call, scan):
        return "execution"
    if (
        not scan.framework.has(name)
        and not symbols.is_local(name)
        and name not in HANDED_ON
        and name not in STORED
        and _handles_tensors(call.node, scan)
    ):
        return "execution"
    if name == "builtins.print":
        return "logging"
    head = name.partition(".")[0]
    if "." in name and instead(head) and not scan.is_own(head) and not HOST_PARTS.search(name):
        return "execution"
    return "config" if call.last in ("add_argument", "parse_args") else PACKAGES.get(name.partition(".")[0], "")


def _builds_layer(call: CallSite, scan: FileScan) -> bool:
    """In a network: `super().__init__(...)`, `cls(...)`, and `self.name = Layer(...)` of a class that is not known here."""
    if not scan.reading.symbols.is_module(call.home.rpartition(".")[0]):
        return False
    match call.node.func, scan.reading.source.parents.get(call.node):
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"), _:
            return True
        case ast.Name(id="cls"), _:
            return True
        case ast.Name(id=name), ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))]):
            return name[:1].isupper()
        case ast.Name(id=name), ast.IfExp():
            return name[:1].isupper()
    return False


def _follow_calls(touched: dict[str, Counter[str]], scan: FileScan) -> None:
    """Handing tensors or networks to a function of the project that moves, or calling one inside a network, is touching the device.

    One that only checks or passes on what it is given, such as `exists(x)`, touches nothing, and so do its callers.
    """
    symbols = scan.reading.symbols
    waiting = [call for call in scan.calls if symbols.is_local(call.name) and not symbols.is_module(call.name)]
    is_changing = True
    while is_changing:
        is_changing = False
        for call in waiting:
            marks = touched.setdefault(call.home, Counter())
            is_known = call.name in scan.functions
            moves = not is_known or any(touched.get(call.name, Counter())[kind] for kind in DEVICE)
            if marks["execution"] or not moves:
                continue
            is_in_network = (
                is_known
                and symbols.is_module(call.home.rpartition(".")[0])
                and (call.name.rpartition(".")[0] == scan.module or _is_of_class(call))
            )
            is_returned = is_known and isinstance(scan.reading.source.parents.get(call.node), ast.Return)
            is_returned = is_returned and touched.get(call.name, Counter())["execution"] > 0
            if is_in_network or is_returned or _handles_tensors(call.node, scan) or _handles_networks(call.node, scan):
                marks["execution"] += 1
                is_changing = True


def _is_of_class(call: CallSite) -> bool:
    """`cls.from_name(...)` in another class method."""
    match call.node.func:
        case ast.Attribute(value=ast.Name(id="cls")):
            return call.name.rpartition(".")[0] == call.home.rpartition(".")[0]
    return False


def _is_of_device(call: CallSite, scan: FileScan) -> bool:
    """`self.model.train()`, `scheduler.step()`, `batch.to(device)`: told by the names, where types don't tell."""
    function = call.node.func
    if not (call.name.startswith(".") and isinstance(function, ast.Attribute)):
        return False
    if WRAPPERS.search(scan.text(function.value)):
        return True
    if function.attr == "to":
        return any("device" in scan.text(each) for each in call.node.args)
    if function.attr == "view":
        return any(scan.text(each) == "-1" for each in call.node.args)
    return function.attr in ("train", "eval", "step") and DRIVEN.search(scan.text(function.value)) is not None


def _handles_tensors(node: ast.Call, scan: FileScan) -> bool:
    """Whether a call of something that is not torch's takes or gives tensors."""
    return any(
        scan.reading.type(each).is_tensor for each in (node, *node.args, *(keyword.value for keyword in node.keywords))
    )


def _handles_networks(node: ast.Call, scan: FileScan) -> bool:
    kinds = [scan.reading.type(each) for each in (*node.args, *(keyword.value for keyword in node.keywords))]
    return any(kind.kind == "instance" and scan.reading.symbols.is_module(kind.qual) for kind in kinds)


def _is_device_of_tensor(node: ast.Attribute, scan: FileScan) -> bool:
    """`self.betas.device`, `next(net.parameters()).device`: read, of something that is no setting; `args.device` is one."""
    is_setting = (
        isinstance(node.value, ast.Name) and SETTINGS.fullmatch(node.value.id) is not None
    )  # self.device, cfg.device
    return isinstance(node.ctx, ast.Load) and not is_setting


def _is_annotation(node: ast.AST, scan: FileScan) -> bool:
    """Types in signatures touch nothing."""
    parents = scan.reading.source.parents
    while (parent := parents.get(node)) is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.arg):
            return True
        node = parent
    if isinstance(parent, FUNCTIONS):
        return node is parent.returns
    return (isinstance(parent, ast.AnnAssign) and node is parent.annotation) or isinstance(
        parent, ast.ImportFrom | ast.Import
    )


def _api_kind(api: str, scan: FileScan) -> str:
    use = scan.uses.of(api, KINDS)
    return KINDS[use] if use is not None else "execution"


def _kind(marks: Counter[str], role: str) -> str:
    device = [kind for kind in DEVICE if marks[kind]]
    if device:
        if marks["saves"] and not marks["steps"]:
            return "output"
        if marks["loads"] and not (marks["steps"] or role):
            return "input"
        if role:
            return role
        if marks["execution"] or marks["steps"]:
            return "execution"
        return max(MIGRATED, key=lambda kind: marks[kind])
    kept = [(number, kind) for kind, number in marks.items() if kind in KEPT]
    return max(kept)[1] if kept else "plain"
