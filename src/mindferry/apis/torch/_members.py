"""What torch's classes call their methods and attributes (members.tsv), and whether a call is one that torch's would take."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from importlib.resources import files

UNMISTAKABLE = frozenset(  # a language model has num_parameters() too, anything may check_input()
    "merge_masks get_expected_hidden_size get_expected_cell_size has_uninitialized_params cls_to_become flatten_parameters "
    "activation_relu_or_gelu use_nested_tensor enable_nested_tensor has_enumerate_support".split()
)
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


@dataclass(frozen=True, slots=True)
class Member:
    """A method or attribute of one of torch's classes."""

    owner: str
    name: str
    is_method: bool
    least: int = 0
    most: int | None = None  # None: any number
    names: frozenset[str] = frozenset()  # of its arguments; '*' if any
    same: str = ""  # forms of the call that MindSpore's own method takes with the same meaning: 0, 1, d
    is_held: bool = False  # MindSpore's class has the name too

    def fits(self, call: ast.Call) -> bool:
        """Whether torch's own method takes these arguments, as far as their number and names tell."""
        if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
            return True
        names = {each.arg for each in call.keywords}
        if "*" not in self.names and not names <= self.names | {"out"}:
            return False
        count = len(call.args)
        return count + len(names) >= self.least and (self.most is None or count <= self.most)

    def is_same(self, call: ast.Call) -> bool:
        """Whether MindSpore's method of this name was measured to do the same with such arguments."""
        if call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
            return False
        match call.args:
            case []:
                return "0" in self.same
            case [ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int()))]:
                return "d" in self.same or "1" in self.same
            case [_]:
                return "1" in self.same
        return False


@functools.cache
def members() -> dict[str, dict[str, Member]]:
    """By class, then by name."""
    found: dict[str, dict[str, Member]] = {}
    text = files("mindferry.apis.torch").joinpath("members.tsv").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        owner, name, kind, least, most, names, same, held = line.split("\t")
        limit = None if most in ("", "*") else int(most)
        found.setdefault(owner, {})[name] = Member(
            owner, name, kind == "method", int(least or 0), limit, frozenset(names.split()), same, bool(held)
        )
    return found


def member(owner: str, name: str) -> Member | None:
    return members().get(owner, {}).get(name)


@dataclass(frozen=True, slots=True)
class OwnMembers:
    """What one class has beyond Module, and what of it means the same once its instances are MindSpore's or a helper's."""

    kept: frozenset[str]
    lost: frozenset[str]


@functools.cache
def own_members() -> dict[str, OwnMembers]:
    """By class (own_members.tsv)."""
    text = files("mindferry.apis.torch").joinpath("own_members.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {owner: OwnMembers(frozenset(kept.split()), frozenset(lost.split())) for owner, kept, lost in rows}


@functools.cache
def lost_everywhere() -> frozenset[str]:
    """Names that no class keeps, and that nothing but a class of torch's has."""
    lost = {name for each in own_members().values() for name in each.lost}
    kept = {name for each in own_members().values() for name in each.kept}
    return frozenset(name for name in lost - kept if name.startswith("_") or name in UNMISTAKABLE)


def is_lost_when_sparse(name: str) -> bool:
    """Whether a tensor's method is one that the helper class for sparse tensors does not have."""
    found = member("Tensor", name)
    return found is not None and found.is_method and name not in _methods_when_sparse()


@functools.cache
def _methods_when_sparse() -> frozenset[str]:
    tree = ast.parse(files("mindferry.apis.torch.compat").joinpath("sparse.py").read_text("utf-8"))
    made = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "SparseTensor")
    return frozenset(each.name for each in made.body if isinstance(each, ast.FunctionDef))
