"""Reads data pipelines ahead of the rules: what each transform is given, and what each loader yields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.framework import Role
from ...read.source import is_script
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, Note

# Loader attributes that a GeneratorDataset has not: where a project reads one, its loaders stay loaders.
LOADER_ATTRIBUTES = frozenset("dataset sampler batch_sampler collate_fn worker_init_fn".split())
SIMPLE_ARGUMENTS = frozenset(
    "batch_size shuffle num_workers pin_memory drop_last persistent_workers prefetch_factor".split()
)
LABELLED = frozenset("CIFAR10 CIFAR100 MNIST FashionMNIST KMNIST EMNIST QMNIST ImageFolder FakeData SVHN STL10".split())
# Those of them whose images are as high as wide, and transforms that keep an image so.
SQUARE = frozenset("CIFAR10 CIFAR100 MNIST FashionMNIST KMNIST EMNIST QMNIST SVHN STL10".split())
KEEP_SHAPE = frozenset(
    "RandomHorizontalFlip RandomVerticalFlip ColorJitter Grayscale RandomGrayscale GaussianBlur".split()
)
CUT = frozenset("RandomCrop CenterCrop Pad Resize".split())  # to or by as much on all sides, if by one number
# Transforms that give one image for one image.
TO_ARRAY = frozenset("ToTensor PILToTensor".split())
PIL_TO_PIL = frozenset(
    "Resize CenterCrop Pad RandomCrop RandomHorizontalFlip RandomVerticalFlip RandomResizedCrop ColorJitter RandomRotation RandomAffine "
    "Grayscale RandomGrayscale RandomPerspective GaussianBlur RandomInvert RandomPosterize RandomSolarize RandomAdjustSharpness "
    "RandomAutocontrast RandomEqualize AutoAugment RandAugment TrivialAugmentWide AugMix ElasticTransform".split()
)
FIXED = frozenset("Resize CenterCrop Pad Grayscale ToTensor PILToTensor ToPILImage Normalize ConvertImageDtype".split())
ARRAY_TO_ARRAY = PIL_TO_PIL | frozenset("Normalize RandomErasing ConvertImageDtype".split())


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.calls_where(lambda api: _transform(facts, api) == "Compose"):
        yield from _note_images(facts, node)
    loader = facts.rules.get(facts.framework.loader)
    for node in facts.calls_where(lambda api: loader is not None and facts.rules.get(api) is loader):
        yield from _note_columns(facts, node)


def _transform(facts: Facts, api: str) -> str:
    """The class's name if it is a transform of the framework's."""
    return api.rpartition(".")[2] if facts.framework.role(api) is Role.TRANSFORM else ""


def _steps(facts: Facts, compose: ast.Call) -> list[tuple[str, ast.expr]]:
    """(transform's name or '', expression) of each part of a literal Compose([...])."""
    values = [*compose.args, *(keyword.value for keyword in compose.keywords)]
    if len(values) != 1 or not isinstance(values[0], ast.List | ast.Tuple):
        return []
    return [
        (_transform(facts, facts.api(each.func)) if isinstance(each, ast.Call) else "", each) for each in values[0].elts
    ]


def _note_images(facts: Facts, compose: ast.Call) -> Iterator[Change]:
    """Before ToTensor there are PIL images (torchvision refuses arrays there), after it arrays, as long as every step is known."""
    steps = _steps(facts, compose)
    at = next((index for index, (name, _) in enumerate(steps) if name in TO_ARRAY), None)
    if at is None:
        return
    given = "pil" if steps[0][0] in PIL_TO_PIL or steps[0][0] == "ToPILImage" else ""
    is_square = _is_for_squares(facts, compose)
    for name, node in steps[:at]:
        if given and name != "ToPILImage":
            yield Note(node, "square" if is_square else "pil")
        is_square = is_square and (name in KEEP_SHAPE or (name in CUT and _has_one_size(node)))
        given = "pil" if (name in PIL_TO_PIL and given) or name == "ToPILImage" else ""
    if given:
        yield Note(steps[at][1], "pil")
    for name, node in steps[at + 1 :]:
        if name not in ARRAY_TO_ARRAY:
            break
        yield Note(node, "array")


def _has_one_size(step: ast.expr) -> bool:
    """RandomCrop(32, padding=4)."""
    values = [*step.args[:1], *(each.value for each in step.keywords)] if isinstance(step, ast.Call) else []
    return bool(values) and all(isinstance(each, ast.Constant) and isinstance(each.value, int) for each in values)


def _is_for_squares(facts: Facts, compose: ast.Call) -> bool:
    """Whether only datasets of square images are given these transforms."""
    parent = facts.parents[compose]
    if not isinstance(parent, ast.Assign):
        return _is_given_squares(facts, parent)
    name = parent.targets[0]
    if len(parent.targets) != 1 or not isinstance(name, ast.Name) or value_of(facts, name) is not compose:
        return False
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef)
    if scope is None and not is_script(facts.source.data):
        return False  # whoever imports the module may give them other images
    within = facts.source.walk(scope or facts.source.tree)
    named = [each for each in within if isinstance(each, ast.Name) and each.id == name.id and each is not name]
    return bool(named) and all(_is_given_squares(facts, facts.parents[each]) for each in named)


def _is_given_squares(facts: Facts, place: ast.AST) -> bool:
    """`MNIST(root, transform=…)`, of torchvision's own images."""
    call = facts.parents.get(place) if isinstance(place, ast.keyword) and place.arg == "transform" else None
    if not isinstance(call, ast.Call):
        return False
    kind, symbols = facts.reading.type(call), facts.reading.symbols
    if kind.kind != "instance" or any(symbols.method(kind.qual, each) for each in ("__getitem__", "__init__")):
        return False
    base = symbols.torch_base(kind.qual)
    return facts.uses.has(Use.READY_DATASET, base) and base.rpartition(".")[2] in SQUARE


def _note_columns(facts: Facts, node: ast.Call) -> Iterator[Change]:
    names = {keyword.arg for keyword in node.keywords}
    if (
        len(node.args) > 2
        or not names <= SIMPLE_ARGUMENTS | {"dataset"}
        or LOADER_ATTRIBUTES & facts.reading.symbols.mentioned
    ):
        return
    values = {keyword.arg: keyword.value for keyword in node.keywords}
    dataset = node.args[0] if node.args else values.get("dataset")
    batch = node.args[1] if len(node.args) > 1 else values.get("batch_size")
    if not isinstance(dataset, ast.Name) or (isinstance(batch, ast.Constant) and not batch.value):
        return
    if not isinstance(values.get("shuffle", ast.Constant(False)), ast.Constant):
        return
    transform = _transform_of(facts, dataset)
    if transform is None or not makes_arrays(facts, transform):
        return
    one_worker = getattr(values.get("num_workers", ast.Constant(0)), "value", 2) in (0, 1)
    if getattr(values.get("shuffle"), "value", False) or one_worker or not _is_random(facts, transform):
        # otherwise the workers of a GeneratorDataset would draw the same numbers every epoch
        yield Note(node, ("image", "label"))


def _is_random(facts: Facts, transform: ast.Call) -> bool:
    return any(name not in FIXED for name, _ in _steps(facts, transform))


def _transform_of(facts: Facts, dataset: ast.Name) -> ast.Call | None:
    """The transform of a dataset of torchvision's that yields images and labels."""
    made = value_of(facts, dataset)
    kind = facts.reading.type(dataset)
    symbols = facts.reading.symbols
    if (
        not isinstance(made, ast.Call)
        or kind.kind != "instance"
        or symbols.method(kind.qual, "__getitem__") is not None
    ):
        return None
    base = symbols.torch_base(kind.qual)
    if not facts.uses.has(Use.READY_DATASET, base) or base.rpartition(".")[2] not in LABELLED:
        return None
    given = {keyword.arg: keyword.value for keyword in made.keywords}
    if None in given or "target_transform" in given:
        return None
    transform = given.get("transform")
    transform = value_of(facts, transform) if isinstance(transform, ast.Name) else transform
    return transform if isinstance(transform, ast.Call) else None


def makes_arrays(facts: Facts, transform: ast.Call) -> bool:
    if _transform(facts, facts.api(transform.func)) in TO_ARRAY:
        return True
    steps = _steps(facts, transform)
    at = next((index for index, (name, _) in enumerate(steps) if name in TO_ARRAY), len(steps))
    return (
        at < len(steps)
        and all(name in PIL_TO_PIL | {"ToPILImage"} for name, _ in steps[:at])
        and all(name in ARRAY_TO_ARRAY for name, _ in steps[at + 1 :])
    )


def value_of(facts: Facts, name: ast.Name) -> ast.expr | None:
    """What the name was assigned, where it is assigned once in its function or module."""
    if name.id not in facts.source.stored:
        return None
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    stored = facts.source.stored_within(name.id, scope)
    parent = facts.parents[stored[0]] if len(stored) == 1 else None
    return parent.value if isinstance(parent, ast.Assign) else None


def lambdas_in(facts: Facts, value: ast.expr, depth: int = 4) -> Iterator[ast.Lambda]:
    """Those that a value may be: it, what its name is bound to, what a table holds."""
    match value:
        case ast.Lambda():
            yield value
            return
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts) | ast.BoolOp(values=parts):
            pass
        case ast.IfExp(body=body, orelse=other):
            parts = [body, other]
        case ast.Subscript(value=held) | ast.Call(func=ast.Attribute(value=held, attr="get")):
            parts = [held]
        case ast.Name():
            bound = value_of(facts, value) or _value_in_module(facts, value)
            parts = [bound] if bound is not None else []
        case _:
            parts = []
    if depth:
        for each in parts:
            yield from lambdas_in(facts, each, depth - 1)


def _value_in_module(facts: Facts, name: ast.Name) -> ast.expr | None:
    for statement in facts.source.tree.body:
        if isinstance(statement, ast.Assign) and any(getattr(each, "id", "") == name.id for each in statement.targets):
            return statement.value
    return None
