"""What a network or a training does that is known by a name, recognised by the code that does it, however it is called there."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from .scan import FUNCTIONS, FileScan

Recognised = tuple[str, str, ast.AST]  # topic, name, the node that shows it
CLASSIFIES = re.compile(r"(^|_)(cls|class|score|logit)", re.IGNORECASE)
REGRESSES = re.compile(r"(^|_)(reg|box|bbox|loc|delta)", re.IGNORECASE)
ANCHORS = re.compile(r"anchor", re.IGNORECASE)
STRIDES = re.compile(r"stride", re.IGNORECASE)
GAMMA = re.compile(r"gamma|focus", re.IGNORECASE)


def recognise(scan: FileScan) -> Iterator[Recognised]:
    """Each entry once for the function or class that shows it."""
    for node in scan.reading.source.nodes:
        if isinstance(node, ast.ClassDef):
            yield from _in_class(node, scan)
        elif isinstance(node, FUNCTIONS):
            for topic, name, find in IN_FUNCTIONS:
                if (shown := next(find(node, scan), None)) is not None:
                    yield topic, name, shown


def _in_class(node: ast.ClassDef, scan: FileScan) -> Iterator[Recognised]:
    held = {
        target.attr: target
        for each in ast.walk(node)
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    }
    convolves = {name for name in held if re.search(r"conv|stem|tower|subnet|branch", name, re.IGNORECASE)}
    is_two = any(map(CLASSIFIES.search, convolves)) and any(map(REGRESSES.search, convolves))
    if is_two and scan.reading.symbols.is_module(scan.reading.owners.get(node, "")):
        first = next(held[name] for name in held if name in convolves and CLASSIFIES.search(name))
        yield "structure", "decoupled head", first
    is_anchored = any(
        isinstance(each, ast.Name | ast.Attribute) and ANCHORS.search(getattr(each, "attr", getattr(each, "id", "")))
        for each in ast.walk(node)
    )
    if (decoded := next(_decoded_sizes(node, scan), None)) is not None and not is_anchored:
        yield "structure", "anchor-free", decoded


def _decoded_sizes(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """`exp(out[..., 2:4]) * stride`: widths and heights that no anchor scales."""
    for each in ast.walk(node):
        match each:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                sides = [scan.text(left), scan.text(right)]
                is_exp = any(re.search(r"\bexp\(", side) for side in sides)
                if (
                    is_exp
                    and any(STRIDES.search(side) for side in sides)
                    and re.search(r"\[\.\.\.,\s*2", " ".join(sides))
                ):
                    yield each


def _dynamic_k(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """SimOTA: how many boxes a target gets is the sum of its best overlaps; those of the least cost are taken."""
    text = scan.text(node)
    counted = re.search(
        r"\.sum\((dim=)?-?\d\)\s*\.int\(\)|\.sum\((dim=)?-?\d\)\.long\(\)|\.int\(\)\.clamp|clamp\([^)]*\.sum\(", text
    )
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr="topk")) if counted and _is_smallest(each):
                yield each


def _is_smallest(call: ast.Call) -> bool:
    return any(
        each.arg == "largest" and isinstance(each.value, ast.Constant) and each.value.value is False
        for each in call.keywords
    )


AVERAGED = re.compile(r"decay|mom|beta|tau|alpha|ema|polyak|^m$|^d$", re.IGNORECASE)


def _moving_average(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """`kept = decay * kept + (1 - decay) * new`, in place or not, of parameters or of a state dict."""
    about = scan.text(node)
    if not re.search(r"parameters\(|state_dict\(|\.data\b|\.values\(\)", about):
        return
    for each in ast.walk(node):
        match each:
            case ast.Call(
                func=ast.Attribute(attr="add_", value=ast.Call(func=ast.Attribute(attr="mul_"), args=[decay])),
            ) if _is_complement(scan.text(each), scan.text(decay)):
                yield each
            case ast.BinOp(op=ast.Add()) if (weight := _blend(each, scan)) and AVERAGED.search(weight):
                yield each


def _blend(node: ast.BinOp, scan: FileScan) -> str:
    """The weight w of `w * a + (1 - w) * b`, or ''."""
    match node:
        case ast.BinOp(left=ast.BinOp(op=ast.Mult()) as first, right=ast.BinOp(op=ast.Mult()) as second):
            sides = [scan.text(side) for part in (first, second) for side in (part.left, part.right)]
            plain = [side for side in sides if re.fullmatch(r"[\w.]+", side)]
            return next((w for w in plain for text in sides if text != w and _is_complement(text, w)), "")
    return ""


def _is_complement(text: str, weight: str) -> bool:
    """Whether `1 - weight` stands in the text."""
    bare = re.escape(weight.strip("() "))
    return re.search(rf"\b1(\.0?)?\s*-\s*{bare}(?![\w.])", text) is not None


def _mosaic(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """A canvas of twice the size in both directions, filled from four pictures."""
    if not re.search(r"range\(4\)|\b4\b", scan.text(node)):
        return
    for each in ast.walk(node):
        match each:
            case ast.Call(
                func=ast.Attribute(attr="full" | "zeros" | "ones"), args=[ast.Tuple(elts=[first, second, *_]), *_]
            ):
                if _is_doubled(first) and _is_doubled(second):
                    yield each


def _is_doubled(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(isinstance(each, ast.Constant) and each.value == 2 for each in (left, right))
    return False


def _mixup(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """`lam * x + (1 - lam) * x[order]` with a weight from a beta distribution."""
    if not re.search(r"\bbeta\(|Beta\(|betavariate\(", scan.text(node)):
        return
    for each in ast.walk(node):
        match each:
            case ast.BinOp(op=ast.Add()) if _blend(each, scan):
                yield each


def _focal(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """`(1 - p) ** gamma` beside a cross-entropy or a logarithm."""
    if not re.search(r"cross_entropy|\blog\(|logsigmoid|log_softmax|BCE|CrossEntropy", scan.text(node)):
        return
    for each in ast.walk(node):
        match each:
            case ast.BinOp(op=ast.Pow(), right=power) if GAMMA.search(scan.text(power)):
                yield each
            case ast.Call(func=ast.Attribute(attr="pow"), args=[*_, power]) if GAMMA.search(scan.text(power)):
                yield each


def _cosine(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """A rate that goes down by half a cosine, computed by hand."""
    for each in ast.walk(node):
        match each:
            case ast.BinOp(op=ast.Mult()) if re.search(r"\bcos\(.*\bpi\b", scan.text(each)) and re.search(
                r"\b(lr|rate|warm|epoch|step|iter)", scan.text(node)
            ):
                if re.search(r"\b1(\.0)?\s*\+\s*[\w.]*cos\(", scan.text(each)):
                    yield each


def _last_epochs(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """`epoch == max_epoch - no_aug_epochs`, where a loader's mosaic or augmentation is closed."""
    for each in ast.walk(node):
        match each:
            case ast.If(test=ast.Compare() as test, body=body) if re.search(r"epoch", scan.text(test)) and re.search(
                r" - |no_?aug", scan.text(test)
            ):
                if any(re.search(r"mosaic|augment|mixup|no_aug", scan.text(part), re.IGNORECASE) for part in body):
                    yield test


def _stochastic_depth(node: ast.AST, scan: FileScan) -> Iterator[ast.AST]:
    """One random number a sample, of shape (n, 1, 1, ...), that switches the whole branch."""
    text = scan.text(node)
    if not re.search(r"\(1,\)\s*\*\s*\(\w+\.(ndim|dim\(\))\s*-\s*1\)", text):
        return
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr="bernoulli_" | "bernoulli" | "rand" | "floor_" | "floor")):
                yield each


Finder = Callable[[ast.AST, FileScan], Iterator[ast.AST]]
IN_FUNCTIONS: tuple[tuple[str, str, Finder], ...] = (
    ("structure", "SimOTA", _dynamic_k),
    ("structure", "stochastic depth", _stochastic_depth),
    ("training", "EMA", _moving_average),
    ("training", "focal loss", _focal),
    ("training", "no augmentation at the end", _last_epochs),
    ("augmentation", "mosaic", _mosaic),
    ("augmentation", "mixup", _mixup),
    ("learning rate", "cosine by hand", _cosine),
)
