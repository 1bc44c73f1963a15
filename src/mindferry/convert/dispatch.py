"""Methods of values that nothing is known of: asked at run time (`ms_compat.any_size(x, 0)`), unless they mean the same anyway."""

from __future__ import annotations

import ast
import builtins
import re

from .. import findings
from ..apis import Rule
from ..apis._call import Call
from ..apis._lookup import rule_of
from ..apis.quirks import applies
from ..apis.torch._members import member
from ..read.call_results import FOREIGN
from ..read.guesses import looks_like_keeper_of_steps, name_of
from ..read.selections import is_selected
from ..read.tensor_words import meets_tensors
from ..read.types import Type
from ..read.uses import Use
from .context import Context
from .plan import LAYER_PARAMETER
from .render.write_dispatchers import PREFIX, attribute_form, is_dispatched, module_form, tensor_form
from .run_rule import run_rule
from .verdict import Outcome, Verdict

PLAIN = {
    "str": str,
    "list": list,
    "tuple": tuple,
    "size": tuple,
    "dict": dict,
    "set": set,
    "int": int,
    "float": float,
    "bool": bool,
}
OF_ARRAYS = frozenset(
    "all any argmax argmin argpartition argsort astype base byteswap choose clip compress conj conjugate copy ctypes "
    "cumprod cumsum data diagonal dot dtype dump dumps fill flags flat flatten getfield imag item itemset itemsize max "
    "mean min nbytes ndim newbyteorder nonzero partition prod ptp put ravel real repeat reshape resize round "
    "searchsorted setfield setflags shape size sort squeeze std strides sum swapaxes T take tobytes tofile tolist "
    "tostring trace transpose var view".split()
)
# Names that lists, strings, queries, plots and widgets have too: a tensor's only if something else speaks for it.
SHARED = frozenset(
    "add index sort split values indices apply map type new mode where select resize put name names rename solve "
    "record_stream storage is_shared module_load round compile bool int float long double half char byte short "
    "train eval step zero_grad get_lr to forward cross".split()
)
SPEAKING = frozenset("dim keepdim dims dim0 dim1 unbiased descending largest split_size memory_format".split())
TAKES_TEXT = frozenset("to type norm cuda add_module register_buffer register_parameter register_module".split()) | {
    "get_submodule",
    "get_parameter",
    "get_buffer",
}
TAKES_FUNCTIONS = frozenset("apply register_hook".split())
NOT_MODES = frozenset(PLAIN) - {"bool"} | {"instance", "batch", "ndarray"}  # `trainer.train(epoch)`
# What layers of torch's have, and MindSpore's call otherwise or keep elsewhere.
SHAPES = frozenset("shape size dim ndim squeeze view reshape permute transpose t flatten unsqueeze".split())
FACES = frozenset(
    "weight bias running_mean running_var in_features out_features num_embeddings embedding_dim groups".split()
)
_SETTINGS = re.compile(r".*(?:args|cfg|conf|config|opt|opts|option|options|param|params|hparams|setting|settings)")
INSIDES = {f"_{name}": f"compat.{name}_inside" for name in ("buffers", "modules", "parameters")}
DEVICES = ("cpu", "cuda", "mps", "xpu", "npu", "meta")
STATES = frozenset({"state_dict", "load_state_dict"})
SAME_ATTRIBUTES = frozenset("shape dtype ndim T mT itemsize nbytes device data".split())


def judge_call(node: ast.Call, context: Context) -> Verdict | None:
    """What a method call on a receiver of unknown type is; None if no class of torch's has such a method."""
    if not isinstance(node.func, ast.Attribute):
        return None
    name = node.func.attr
    of_tensor, of_module = member("Tensor", name), member("Module", name)
    if name in ("reset_parameters", "reset_running_stats"):
        of_module = member("Module", "children")
    candidates = [each for each in (of_tensor, of_module) if each is not None and each.is_method]
    if not candidates:
        return None
    if not meets_tensors(context.source, context.reading.symbols):
        return Verdict(Outcome.NOT_TORCH, "the file has nothing of torch's", "assumed")
    if not any(each.fits(node) for each in candidates):
        return Verdict(Outcome.NOT_TORCH, "torch's method doesn't take these arguments", "proven")
    given = (*node.args, *(each.value for each in node.keywords))
    is_odd = (
        any(map(_is_text, given))
        if name not in TAKES_TEXT
        else not all(_is_own_text(name, each, context) for each in given)
    )
    if is_odd:
        return Verdict(Outcome.NOT_TORCH, "torch's method takes no text", "proven")
    if name in SHARED and not _speaks_for_torch(node, name, context):
        return Verdict(
            Outcome.NOT_TORCH, f"other things have a {name}() too, and nothing here speaks for torch", "assumed"
        )
    if (
        not module_form(name, context.rules)
        and ((of_tensor is not None and of_tensor.is_same(node)) or _is_unchanged(node, name, context))
        and not _may_add_up_nothing(node.func, context)
    ):
        return Verdict(Outcome.CONVERTED, "means the same in MindSpore")
    if name in STATES and looks_like_keeper_of_steps(name_of(node.func.value)):
        return Verdict(Outcome.CONVERTED, "optimizers and schedules have it too")
    if not is_dispatched(name, context.rules):
        return _undispatched(name, context)
    return Verdict(Outcome.DISPATCHED, "asked at run time")


def _may_add_up_nothing(method: ast.Attribute, context: Context) -> bool:
    """`values[mask].sum()`: the same in MindSpore but for a mask that selects nothing."""
    is_sum = context.framework.uses.has(Use.SUM, context.framework.of_tensor(method.attr))
    return is_sum and applies("sum of nothing", context.settings.target) and is_selected(context.reading, method.value)


def _undispatched(name: str, context: Context) -> Verdict | None:
    if not tensor_form(name, context.rules) and member("Tensor", name) is None:
        return Verdict(
            Outcome.CONVERTED, "MindSpore's networks have it too"
        )  # state_dict, apply, register_forward_hook
    return Verdict(Outcome.LEFT, f"{name}() has no counterpart, if this is a tensor's")


def is_defined_here(node: ast.Call, context: Context) -> bool:
    """Whether a class of the project has a method of that name, so that the receiver may well be one of them."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name != "forward" and any(context.reading.symbols.classes.with_method(name))


def is_only_of_arrays(node: ast.Call) -> bool:
    """`image.transpose(2, 0, 1)`: numpy's method takes these arguments and torch's doesn't, whatever the variable held before."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in OF_ARRAYS or node.keywords:
        return False
    known = member("Tensor", node.func.attr)
    return known is not None and known.most is not None and len(node.args) > known.most and not known.fits(node)


def dispatch_call(node: ast.Call, context: Context) -> None:
    """Write `ms_compat.any_name(receiver, arguments)`, or leave the call, and note which."""
    function = node.func
    if (
        context.framework.name != "torch"
        or not isinstance(function, ast.Attribute)
        or not is_unclear(function, context)
    ):
        return
    verdict, name = judge_call(node, context), function.attr
    if verdict is None:
        return
    api = context.framework.of_tensor(name)
    if verdict.outcome is Outcome.DISPATCHED and not context.settings.applies_to(api, api):
        verdict = Verdict(Outcome.NOT_TORCH, "left as it was, as --only or --skip asked", "assumed")
    context.verdicts[function] = verdict
    if verdict.outcome is Outcome.DISPATCHED:
        before = context.source.text(node)
        call = Call(node, Rule(api), context.reading, context.edits, context.imports, function.value)
        call.use(f"compat.{PREFIX}{name}")
        call.apply()
        context.rewritten(node, api, before, context.edits.text(node))
    elif verdict.outcome is Outcome.LEFT:
        advice = "write it in another way, or annotate the value's type if it is no tensor"
        context.find(node, findings.MF123, f"{context.source.text(function)}: {verdict.why}", advice, rule=api)


def ask_tensor(node: ast.Call, api: str, context: Context) -> bool:
    """A tensor's method whose arguments only the run tells apart, as `ms_compat.tensor_to(x, where)`; False if nothing takes them."""
    form = tensor_form(api.rpartition(".")[2], context.rules) if context.framework.is_of_tensor(api) else ""
    if not form or not isinstance(node.func, ast.Attribute):
        return False
    before = context.source.text(node)
    call = Call(node, Rule(api), context.reading, context.edits, context.imports, node.func.value)
    call.use(form)
    call.apply()
    context.rewritten(node, api, before, context.edits.text(node))
    context.verdicts[node.func] = Verdict(Outcome.DISPATCHED, "its arguments are asked at run time", "proven")
    return True


def is_unclear(node: ast.Attribute, context: Context) -> bool:
    """Whether nothing proves what the receiver of a method or attribute is."""
    kind, symbols = context.reading.type(node.value), context.reading.symbols
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super":
        return False
    if kind.kind == "method" and kind.qual.startswith("."):
        return False
    if kind.kind in ("unknown", "batch", "method", "none"):
        return not context.framework.is_of_value(context.reading.type(node).qual)
    if kind.kind == "ndarray":
        return node.attr not in OF_ARRAYS
    if kind.kind in PLAIN:
        return not hasattr(PLAIN[kind.kind], node.attr)  # it can't be what it seems, so nothing is known of it
    if kind.kind == "ref":
        return _is_unknown_global(kind, context)
    if kind.kind == "instance" and kind.qual in symbols.classes and not symbols.torch_base(kind.qual):
        is_own = symbols.method(kind.qual, node.attr) is not None or symbols.has_attribute(kind.qual, node.attr)
        return not is_own and member("Module", node.attr) is not None  # a mixin's self
    return False


def _is_unknown_global(kind: Type, context: Context) -> bool:
    """A variable of another file, or of a package that nobody reads."""
    symbols, qual = context.reading.symbols, context.reading.symbols.origin(kind.qual)
    head, _, last = qual.rpartition(".")
    if (
        not head
        or qual.partition(".")[0] in {*context.framework.roots, *FOREIGN, "builtins", "numpy"}
        or hasattr(builtins, qual)
    ):
        return False
    is_defined = qual in symbols.classes or qual in symbols.results or qual in symbols.exports
    return not is_defined and symbols.is_local(qual) and not last[:1].isupper()


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr() | ast.Dict() | ast.Lambda():
            return True
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return any(map(_is_text, parts))
    return False


def _is_own_text(name: str, node: ast.expr, context: Context) -> bool:
    """Whether torch's method takes this text, or it is none: `to("cuda:0")`, `norm("fro")`."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return True
    match name:
        case "to" | "cuda":
            return node.value.partition(":")[0] in DEVICES
        case "norm":
            return node.value in ("fro", "nuc")
        case "type":
            return context.framework.has(node.value)
    return True


def _speaks_for_torch(node: ast.Call, name: str, context: Context) -> bool:
    """Whether the call is one that the other things which have such a method don't make."""
    if {each.arg for each in node.keywords} & SPEAKING:
        return True
    is_used = not isinstance(context.parents.get(node), ast.Expr)
    match name:
        case "sort" | "add":  # a list's and a set's return nothing
            return is_used and not any(each.arg in ("key", "reverse") for each in node.keywords)
        case "split":
            return bool(node.args) and context.reading.type(node.args[0]).kind != "str"
        case "float" | "long" | "int" | "double" | "half" | "bool" | "byte" | "short":
            return True
        case "type":
            return _names_type(node, context)
        case "to" | "eval":
            return True
        case "train":  # a trainer's own is found by the run
            given = (*node.args, *(each.value for each in node.keywords))
            return all(context.reading.type(each).kind not in NOT_MODES for each in given)
        case "forward":
            return bool(node.args)
        case "cross":
            return len(node.args) > 1
        case "new":  # `w.data.new(height)`, as torch 0.4 had it
            return not node.keywords
    return False


def _names_type(node: ast.Call, context: Context) -> bool:
    kinds = [context.reading.type(each) for each in node.args]
    return any(context.framework.has(kind.qual) or kind.kind == "method" for kind in kinds)


class _DryWriter:
    """Spells names without importing anything."""

    def spell(self, qual: str) -> str:
        return qual


def _is_unchanged(node: ast.Call, name: str, context: Context) -> bool:
    """Whether the tensor's rule would leave this call as it stands: then it doesn't matter what the receiver is."""
    assert isinstance(node.func, ast.Attribute)
    entry = rule_of(context.framework.of_tensor(name), context.rules)
    if entry is None or entry.missing or not context.framework.is_of_tensor(entry.api):
        return False
    call = Call(node, entry, context.reading, context.edits, _DryWriter(), node.func.value)
    run_rule(call, entry)
    return not call.refusal and (call.is_kept or call.changes_nothing)


def judge_attribute(node: ast.Attribute, context: Context) -> Verdict | None:
    """What an attribute of something unknown is that a tensor has too."""
    found = member("Tensor", node.attr)
    if found is None or found.is_method:
        return None
    if not meets_tensors(context.source, context.reading.symbols):
        return Verdict(Outcome.NOT_TORCH, "the file has nothing of torch's", "assumed")
    if node.attr in SAME_ATTRIBUTES or not isinstance(node.ctx, ast.Load):
        return Verdict(Outcome.CONVERTED, "means the same in MindSpore")
    if attribute_form(node.attr, context.rules):
        return Verdict(Outcome.DISPATCHED, "asked at run time")
    return Verdict(
        Outcome.NOT_TORCH, f"other things have a {node.attr} too, and nothing here speaks for torch", "assumed"
    )


def dispatch_face(node: ast.Attribute, context: Context) -> bool:
    """`m.weight`, `layers[-1].in_features`, `cls.forward` of something that may be any layer; whether it is one of these."""
    if (
        context.framework.name != "torch"
        or not meets_tensors(context.source, context.reading.symbols)
        or not _may_be_layer(node, context)
    ):
        return False
    before, owner = context.source.text(node), context.edits.text(node.value)
    if node.attr == "forward":
        new = f"getattr({owner}, {context.imports.spell('compat.forward_name')}({owner}))"
    elif node.attr == "weight" and is_asked_for_shape(context.parents.get(node)):
        new = f"{context.imports.spell('compat.shaped_weight')}({owner})"
    else:
        new = f"{context.imports.spell(LAYER_PARAMETER)}({owner}, '{node.attr}')"
        context.called[node] = LAYER_PARAMETER
    context.edits.replace_node(node, new)
    context.verdicts[node] = Verdict(Outcome.DISPATCHED, "asked at run time")
    context.rewritten(node, context.framework.network, before, new)
    return True


def is_asked_for_shape(parent: ast.AST | None) -> bool:
    """`m.weight.size(2)`, `m.weight.squeeze(1)`: where the axis that MindSpore's Conv1d has more would count."""
    return isinstance(parent, ast.Attribute) and parent.attr in SHAPES


def _may_be_layer(node: ast.Attribute, context: Context) -> bool:
    """Whether nothing tells which layer it is, and it may be one: settings of a script have a `bias` too."""
    kind, symbols = context.reading.type(node.value), context.reading.symbols
    if not isinstance(node.ctx, ast.Load) or (node.attr not in FACES and not _is_class_forward(node, context)):
        return False
    if not is_named_like_layer(node.value):
        return False
    if kind.kind == "instance":
        return kind.qual == symbols.framework.network
    return kind.kind in ("unknown", "method") and not kind.qual.startswith(".")


def is_named_like_layer(owner: ast.expr) -> bool:
    """Neither the network itself, which knows its own attributes, nor settings of a script."""
    is_self = isinstance(owner, ast.Name) and owner.id == "self"
    return not is_self and _SETTINGS.fullmatch(_last_word(owner).lower()) is None


def _is_class_forward(node: ast.Attribute, context: Context) -> bool:
    """`original = cls.forward`: the method itself, not a call of it."""
    parent = context.parents.get(node)
    return node.attr == "forward" and not (isinstance(parent, ast.Call) and parent.func is node)


def _last_word(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _dispatch_place(node: ast.Attribute, context: Context) -> bool:
    """`self.device.type` where nothing tells what the device is: MindSpore's is a text, which has no type; whether it is one of these."""
    is_read = isinstance(node.ctx, ast.Load) and getattr(context.parents.get(node), "func", None) is not node
    if node.attr != "type" or not is_read or _last_word(node.value) != "device":
        return False
    if not meets_tensors(context.source, context.reading.symbols) or context.reading.type(node.value).kind != "unknown":
        return False
    before = context.source.text(node)
    new = f"{context.imports.spell('compat.device_type')}({context.edits.text(node.value)})"
    context.edits.replace_node(node, new)
    context.verdicts[node] = Verdict(Outcome.DISPATCHED, "asked at run time")
    context.rewritten(node, context.framework.device, before, new)
    return True


def _dispatch_insides(node: ast.Attribute, context: Context) -> bool:
    """`m._modules["0"]` of something that may be a network; whether it is one of these."""
    if node.attr not in INSIDES or not isinstance(node.ctx, ast.Load) or not is_unclear(node, context):
        return False
    if not meets_tensors(context.source, context.reading.symbols):
        return False
    before, new = (
        context.source.text(node),
        f"{context.imports.spell(INSIDES[node.attr])}({context.edits.text(node.value)})",
    )
    context.edits.replace_node(node, new)
    context.verdicts[node] = Verdict(Outcome.DISPATCHED, "asked at run time")
    context.rewritten(node, context.framework.network, before, new)
    return True


def _is_written_through(node: ast.Attribute, context: Context) -> bool:
    """`p.grad` in `p.grad.data += d`: what is left of it is assigned to, and nothing can be assigned to a helper's result."""
    parent = context.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr == "data" and not isinstance(parent.ctx, ast.Load)


def dispatch_attribute(node: ast.Attribute, context: Context) -> None:
    """`x.real` of something unknown."""
    if context.framework.name != "torch" or (node.attr not in FACES and _is_written_through(node, context)):
        return
    if dispatch_face(node, context) or _dispatch_place(node, context) or _dispatch_insides(node, context):
        return
    verdict = judge_attribute(node, context) if is_unclear(node, context) else None
    if verdict is None:
        return
    context.verdicts[node] = verdict
    if verdict.outcome is Outcome.DISPATCHED:
        before = context.source.text(node)
        new = f"{context.imports.spell(f'compat.{PREFIX}{node.attr}')}({context.edits.text(node.value)})"
        context.edits.replace_node(node, new)
        context.rewritten(node, context.framework.of_tensor(node.attr), before, new)
