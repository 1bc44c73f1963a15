"""Datasets and collate functions compute with numpy: they run in data workers, where MindSpore operators must not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...apis._lookup import api_of
from ...apis._rule import Rule
from ...apis.torch._members import member
from ...apis.torch.data._numpy import AS_TENSOR, TENSOR_ONLY, array_rule, type_name
from ...read.framework import Role
from ...read.guesses import looks_like_collate
from ...read.handed_functions import given_to_slots, values_for_slots
from ...read.uses import Use
from ..dispatch import OF_ARRAYS, SHARED, SPEAKING
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore, UseRule, claim
from .data_loaders import lambdas_in, makes_arrays, value_of

FLOATS = frozenset(
    "float double half rand randn zeros ones FloatTensor DoubleTensor linspace sqrt exp log sin cos".split()
)
MAKING = frozenset({"__new__", "__init__", "__post_init__"})
OF_FLOATS = frozenset("sqrt exp log log1p sin cos tanh".split())


def plan(facts: Facts) -> Iterator[Change]:
    for zone in facts.derived(data_zones):
        yield from _convert(facts, zone)
    for node in facts.derived(images_made_tensors):
        yield UseRule(node, AS_TENSOR)


def data_zones(facts: Facts) -> list[list[ast.AST]]:
    """The code that runs in data workers: each dataset or collate function, with the functions that only it calls."""
    definitions: list[ast.ClassDef | ast.FunctionDef] = [
        *facts.source.of(ast.ClassDef),
        *facts.source.of(ast.FunctionDef),
    ]
    zones: list[list[ast.AST]] = []
    for root in definitions:
        if isinstance(root, ast.ClassDef) and is_dataset(facts, root):
            zones.append([root, *_helpers(facts, root)])
        elif _is_collate(facts, root):
            zones += [[each, *_helpers(facts, each)] for each in _run_by_loader(root)]
    lambdas = dict.fromkeys(each for value in facts.derived(collate_values) for each in lambdas_in(facts, value))
    return zones + [[root, *_helpers(facts, root)] for root in lambdas]


def is_in_data(facts: Facts, node: ast.AST) -> bool:
    """In a dataset, where numpy's functions stand."""
    return facts.is_within_any(node, {part for zone in facts.derived(data_zones) for part in zone})


def images_made_tensors(facts: Facts) -> list[ast.Call]:
    """Calls that make an array of an image, where torch's code goes on with a tensor: not in data workers."""
    if not any(word in facts.source.data for word in (b"ransform", b"to_tensor", b"ToTensor")):
        return []
    inside = {each for zone in facts.derived(data_zones) for part in zone for each in facts.source.walk(part)}
    return [node for node in facts.source.of(ast.Call) if node not in inside and _is_image_made_array(facts, node)]


def _is_image_made_array(facts: Facts, node: ast.Call) -> bool:
    """transform(image) or to_tensor(image) outside of a dataset, where torch's code goes on with a tensor."""
    if node in facts.derived(_made_of_images):
        return isinstance(node.func, ast.Attribute) and not node.keywords
    if len(node.args) != 1:
        return False
    transform = value_of(facts, node.func) if isinstance(node.func, ast.Name) else node.func
    return isinstance(transform, ast.Call) and makes_arrays(facts, transform)


def _made_of_images(facts: Facts) -> set[ast.Call]:
    return set(facts.calls_for(Use.IMAGE_TO_ARRAY))


def is_dataset(facts: Facts, node: ast.ClassDef) -> bool:
    return facts.reading.symbols.role(facts.reading.owners.get(node, "")) is Role.DATASET


def collate_values(facts: Facts) -> list[ast.expr]:
    """What loaders get to make batches: `DataLoader(..., collate_fn=f)`, or the seventh argument."""
    calls = facts.source.of(ast.Call)
    named = [key.value for call in calls for key in call.keywords if key.arg == "collate_fn"]
    if facts.reading.symbols.collate_slots:
        named += [
            each
            for call in calls
            for each in values_for_slots(call, facts.reading.type(call.func), facts.reading.symbols)
            if each not in named
        ]
    return named + [call.args[6] for call in calls if len(call.args) > 6 and _is_loader(facts, call)]


def _is_loader(facts: Facts, call: ast.Call) -> bool:
    return facts.reading.symbols.framework.role(facts.api(call.func)) is Role.LOADER


def given_as_collate(facts: Facts) -> set[str]:
    """What a loader makes batches by, also by way of `functools.partial(make_batch, 3)` or `Batch(3)`."""
    return given_to_slots(facts.reading.symbols) | {
        name.id
        for value in facts.derived(collate_values)
        if isinstance(value, ast.Name | ast.Call)
        for name in ast.walk(value)
        if isinstance(name, ast.Name)
    }


def _is_collate(facts: Facts, node: ast.FunctionDef | ast.ClassDef) -> bool:
    """A function or class called …collate…, outside of a dataset: what a loader calls with a list of samples."""
    given = facts.derived(given_as_collate) | facts.reading.symbols.collates  # here, or in another file
    if not looks_like_collate(node.name) and node.name not in given:
        return False
    owner = facts.enclosing(node, ast.ClassDef)
    return owner is None or not (isinstance(owner, ast.ClassDef) and is_dataset(facts, owner))


def _run_by_loader(root: ast.ClassDef | ast.FunctionDef) -> list[ast.AST]:
    """All of it; of a batch's own class, `collate_fn=Batch`, what makes one: the rest runs where the batch has arrived."""
    methods = {each.name: each for each in root.body if isinstance(each, ast.FunctionDef)}
    if isinstance(root, ast.FunctionDef) or "__call__" in methods:
        return [root]
    found: dict[str, ast.AST] = {}
    asked = [name for name in methods if name in MAKING]
    while asked:
        name = asked.pop()
        if name in methods and name not in found:
            found[name] = methods[name]
            asked += [each.attr for each in ast.walk(methods[name]) if isinstance(each, ast.Attribute)]
    return list(found.values())


def _helpers(facts: Facts, root: ast.AST) -> list[ast.AST]:
    """Functions of the module that only this code calls."""
    functions, named = facts.derived(_module_functions), facts.source.named
    inside = facts.source.walk(root)
    within = set(inside)
    used = dict.fromkeys(node.id for node in inside if type(node) is ast.Name and node.id in functions)
    alone = [functions[name] for name in used if all(node in within for node in named[name])]
    return [each for each in alone if each is not root]


def _module_functions(facts: Facts) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in facts.source.tree.body if isinstance(each, ast.FunctionDef)}


def _convert(facts: Facts, zone: list[ast.AST]) -> Iterator[Change]:
    """All or nothing: a value is an array everywhere in the class, or nowhere."""
    chosen: dict[ast.Call, Rule] = {}
    told: set[ast.expr] = set()  # tensors, as only what is called of them tells
    for node in (each for root in zone for each in _calls(facts, root)):
        api, receiver, unknown = api_of(node.func, facts.reading, facts.rules)
        if receiver and (unknown in TENSOR_ONLY or (unknown and _is_of_tensor_alone(facts, node, unknown))):
            api = facts.framework.of_tensor(unknown)
            told.add(receiver)
        if not api or facts.uses.has(Use.ARRAY_DATA, api):
            continue
        found = array_rule(api)
        if found is None or not found.accepts(node, facts.framework.is_of_tensor(api)):
            yield facts.found(
                zone[0],
                findings.MF130,
                f"{api} has no numpy form here, so this code computes with MindSpore's operators, and runs in the process "
                "that trains, whatever num_workers says",
                "write it with numpy if reading is too slow: then it runs in workers",
                "note",
                api,
            )
            yield from _mark(facts, zone)
            return
        chosen[node] = found.rule
    yield from _keep_single_precision(facts, zone, told)
    for call, entry in chosen.items():
        yield UseRule(call, entry)
        # a type is written as numpy's, so that nothing imports MindSpore for it
        yield claim(
            *(value for value in ast.iter_child_nodes(call) if isinstance(value, ast.expr) and type_name(value)),
            *(each.value for each in call.keywords if type_name(each.value)),
        )


def _is_of_tensor_alone(facts: Facts, node: ast.Call, name: str) -> bool:
    """`row["x"].ne(0)`, `row["x"].view(2, -1)`: what is in a row is unknown, but an array takes no such call."""
    known = member("Tensor", name)
    given = [*node.args, *(each.value for each in node.keywords)]
    if (
        known is None
        or not known.is_method
        or not known.fits(node)
        or any(facts.reading.symbols.classes.with_method(name))
    ):
        return False
    if any(facts.reading.type(each).kind == "str" for each in given):
        return False
    if (SPEAKING | {"as_tuple"}) & {each.arg for each in node.keywords}:
        return True
    match name, node.args:
        case ("size", _) | ("transpose", [_, _]):  # of a matrix, numpy's `transpose(1, 0)` is torch's too
            return True
        case ("flatten", [_, *_]) | ("repeat", [_, _, _, *_]):
            return True
        case "split", [size, *_]:
            return facts.reading.type(size).kind in ("int", "list")
        case "view", [first, *others]:
            return bool(others) or facts.reading.type(first).kind == "int" or isinstance(first, ast.UnaryOp)
        case (("to" | "type"), [first]):
            return bool(type_name(first))
    return name not in OF_ARRAYS | SHARED


def _keep_single_precision(facts: Facts, zone: list[ast.AST], told: set[ast.expr]) -> Iterator[Change]:
    """`labels * 0.5`, `image / 255`, `torch.sqrt(rows)`: of integers, torch makes float32 and numpy float64."""
    for node in (each for root in zone for each in facts.source.walk(root)):
        for value in _made_floats(facts, node):
            if (value in told or facts.reading.type(value).is_tensor) and not _is_float(facts, value):
                yield InsertBefore(value, lambda texts: f"{texts.name('compat.float_operand')}(")
                yield InsertAfter(value, ")")


def _made_floats(facts: Facts, node: ast.AST) -> list[ast.expr]:
    """What an operation makes floats of, whatever it is given."""
    match node:
        case ast.BinOp(left=left, right=right, op=operator):
            is_floating = any(facts.reading.type(each).kind == "float" for each in (left, right))
            return [left, right] if is_floating or isinstance(operator, ast.Div) else []
        case ast.Call(func=ast.Attribute(attr=name, value=owner), args=[other]) if name in ("mul", "add", "sub", "div"):
            return [owner] if name == "div" or facts.reading.type(other).kind == "float" else []
        case ast.Call(func=ast.Attribute(attr=name, value=owner), args=given) if name in OF_FLOATS:
            return [owner if facts.reading.type(owner).is_tensor else value for value in given[:1] or [owner]]
    return []


def _is_float(facts: Facts, node: ast.expr) -> bool:
    """Whether the code itself says that the tensor holds floats."""
    match node:
        case ast.BinOp(op=ast.Div()):
            return True  # by now
        case ast.BinOp(left=left, right=right):
            return any(_is_float(facts, each) or facts.reading.type(each).kind == "float" for each in (left, right))
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
            return _is_float(facts, inner)
        case ast.Call(func=ast.Attribute(attr=name)):
            given = [type_name(each) for each in (*node.args, *(key.value for key in node.keywords))]
            types = [each for each in given if each]
            return any(each.startswith("float") for each in types) if types else name in FLOATS
    return False


def _mark(facts: Facts, zone: list[ast.AST]) -> Iterator[Change]:
    """Say where it stands that it computes with MindSpore; a collate function is told whether it gets Tensors."""
    root = zone[0]
    is_collate = not (isinstance(root, ast.ClassDef) and is_dataset(facts, root))
    mark = "compat.with_tensors" if is_collate and not _takes_arrays(facts, zone) else "compat.in_this_process"
    if isinstance(root, ast.Lambda):
        yield InsertBefore(root, lambda texts: f"{texts.name(mark)}(")
        yield InsertAfter(root, ")")
        return
    yield _decorated(facts, root, mark)
    for each in root.body if isinstance(root, ast.ClassDef) and not is_collate else ():
        if isinstance(each, ast.FunctionDef) and _is_own_collate(facts, each) and not _takes_arrays(facts, [each]):
            yield _decorated(facts, each, "compat.with_tensors")


def _decorated(facts: Facts, root: ast.AST, mark: str) -> Change:
    source, start = facts.source, facts.source.start(root)
    indent = source.data[source.line_start(start) : start].decode("utf-8")
    return InsertBefore(root, lambda texts: f"@{texts.name(mark)}\n{indent}")


def _is_own_collate(facts: Facts, method: ast.FunctionDef) -> bool:
    """`DataLoader(ds, collate_fn=Pairs.make_batch)`: a dataset's method that makes its batches."""
    given = {each.attr for each in facts.derived(collate_values) if isinstance(each, ast.Attribute)}
    return looks_like_collate(method.name) or method.name in given | facts.reading.symbols.collates


def _takes_arrays(facts: Facts, zone: list[ast.AST]) -> bool:
    """A guess: it makes tensors of arrays, or computes with numpy, so its samples hold arrays in torch too."""
    names = [facts.source.text(call.func) for root in zone for call in _calls(facts, root)]
    return any(name.endswith("from_numpy") or name.startswith(("np.", "numpy.")) for name in names)


def _calls(facts: Facts, root: ast.AST) -> Iterator[ast.Call]:
    return (node for node in facts.source.walk(root) if isinstance(node, ast.Call))
