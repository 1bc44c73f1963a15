"""The checklist of tricks: what the code does to train, each with its value and its place."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace

from ..artifacts import Trick
from ..read.framework import ListedCall
from ..read.uses import Use
from .epochs import TrainingLoops
from .innovations import recognise
from .listed_arguments import from_arguments
from .scan import CallSite, FileScan, argument, line_of
from .values import CLASSES_OF_SETTINGS, Values

NOT_AUGMENTATION = {
    "Compose",
    "ToTensor",
    "ToTensorV2",
    "ToPILImage",
    "PILToTensor",
    "ConvertImageDtype",
    "ToDtype",
    "ToImage",
    "Identity",
    "InterpolationMode",
    "Transform",
    "Lambda",
    "ToPureTensor",
    "BboxParams",
    "KeypointParams",
}
NOT_OPTIMIZERS = {"Optimizer", "step", "zero_grad", "state_dict", "load_state_dict", "add_param_group"}
SCHEDULE_FUNCTIONS = re.compile(
    r"get_\w*schedule\w*|create_scheduler\w*|get_lr_scheduler|adjust_learning_rate|build_lr_scheduler"
)
SAMPLERS = re.compile(r"(Distributed|WeightedRandom|Random|Sequential|SubsetRandom|Batch)Sampler$")
EPOCH = re.compile(r"(^|_)epochs?($|_)|^ep$", re.IGNORECASE)
STEP_LIMIT = re.compile(
    r"^(max|num|total|n|train)_?(num_|max_)?(train_|training_)?(epochs?|iters?|steps?|iterations)$|^(epochs|iterations|episodes|steps|n?iters)$",
    re.IGNORECASE,
)
TRAINS = re.compile(r"backward\(|\.step\(|\btrain|optimi[sz]e|\.grad\b")  # in a loop's body
WHERE_TRAINED = re.compile(
    r"main|train|fit|run|parse|config|setting|option|arg", re.IGNORECASE
)  # functions whose variables are settings
DISTILLING = re.compile(r"(use_)?distill(ation)?")
ACCUMULATION = re.compile(r"accum", re.IGNORECASE)
BLOCKS = re.compile(
    r"^(Bottleneck|BasicBlock|InvertedResidual\w*|Squeeze(And)?Excit\w*|SE(Block|Layer|Module)|DropPath|StochasticDepth|ResidualBlock|"
    r"Res(Net|net|idual)?(Block|Unit)\w*|ASPP|SPPF?|FPN|PAFPN|\w*DecoupledHead|DenseBlock|MBConv\w*|GhostModule|Focus|CSPLayer|CBAM|"
    r"\w*Position(al)?(Encoding|Embedding)\w*|\w*PosE(mb|nc)\w*|Rotary\w*)$"
)
EMA = re.compile(r"(^|_)ema($|_)|^(Model)?EMA|ExponentialMovingAverage|AveragedModel|ModelEma", re.IGNORECASE)
AUGMENTING = re.compile(r"(^|_|[a-z])[Aa]ugment(ations?|er)?$")
DEPTH = {"drop_connect", "drop_path", "stochastic_depth"}
MIX = re.compile(r"^(mix_?up|cut_?mix|mosaic)(_|$|data|batch|Dataset|Detection)|^Mix[uU]p|^CutMix", re.IGNORECASE)
DEFINITIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), title)
    for pattern, title in (
        (r"gradient_?penalty", "gradient penalty"),
        (r"(^|_)kd($|_)|distill", "distillation"),
        (r"warm_?up", "warm-up"),
    )
)
INITIALISING = re.compile(r".+\.(inits?|initializers?|weight_init)\.[a-z]\w*")  # a project's or package's own
NOT_TRAINED = re.compile(
    r"profil|bench|test|infer|demo|eval|predict|detect|export|visuali", re.IGNORECASE
)  # files with other settings
OF_LAYERS = re.compile(r"\.(weight|bias)(\.data)?$")


SETTINGS = tuple(
    (re.compile(pattern, re.IGNORECASE), topic, name)
    for pattern, topic, name in (
        (r"^(train_?|per_device_train_)?batch_?size$", "batch size", "batch size"),
        (STEP_LIMIT.pattern, "epochs", "epochs"),
        (r"^(base_|init_|initial_)?(lr|learning_rate)$", "learning rate", "initial"),
        (r"^(lr_|n_|num_)?warm_?up(_(iters|steps|epochs|ratio))?$", "training", "warm-up"),
        (r"accum\w*_steps|grad\w*_accum\w*", "training", "gradient accumulation"),
        (r"^patience$", "training", "early stopping"),
        (r"^label_?smooth(ing)?$", "training", "label smoothing"),
        (r"^(model_)?ema(_decay)?$", "training", "EMA"),
        (r"^(enable_)?(mixup|cutmix)(_alpha|_prob)?$", "augmentation", "mixup"),
        (r"^no_?aug(mentation)?_epochs?$", "training", "no augmentation at the end"),
    )
)


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry whose values are followed when all files have been read."""

    topic: str
    name: str
    given: tuple[tuple[str, ast.expr], ...]
    home: str
    path: str
    line: int
    text: str = ""  # the value, if it needs no following
    is_fallback: bool = False  # a setting by its name alone: counts only where nothing else says it


@dataclass(slots=True)
class Checklist:
    drafts: list[Draft] = field(default_factory=list)
    loops: TrainingLoops = field(default_factory=TrainingLoops)

    def collect(self, scan: FileScan) -> None:
        self.loops.collect(scan)
        for topic, name, node in recognise(scan):
            text = "" if topic in ("structure", "augmentation") else scan.text(node)[:80]
            place = (scan.homes[node], scan.path, line_of(node))
            self.drafts.append(Draft(topic, name, (), *place, text, is_fallback=True))
        for call in scan.calls:
            for topic, name, given in (*_from_call(call, scan), *from_arguments(call, scan)):
                self._add(scan, topic, name, call.node, call.home, given)
            if call.last == "add_argument":
                self._from_option(call, scan)
            if (
                call.last == "scale"
                and isinstance(call.node.func, ast.Attribute)
                and scan.text(call.node.func.value).endswith("scaler")
            ):
                self._add_hint(scan, "loss scaling", call.node)
        for node in scan.reading.source.nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                self._from_definition(node, scan)
            elif isinstance(node, ast.For | ast.While):
                self._from_loop(node, scan)
            elif isinstance(node, ast.Assign):
                self._from_assignment(node, scan)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self._from_setting(node.target.id, node.value, node, scan)
            elif isinstance(node, ast.Dict):
                self._from_group(node, scan)
            elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div | ast.Mod):
                self._from_division(node, scan)
            elif isinstance(node, ast.Attribute) and DISTILLING.fullmatch(node.attr):
                self._add_hint(scan, "distillation", node)
            elif (
                isinstance(node, ast.AugAssign)
                and isinstance(node.op, ast.Sub)
                and scan.text(node.value).endswith(".grad")
            ):
                self._add(scan, "optimizer", "by hand", node, scan.homes[node], text=scan.text(node))

    def _add(
        self, scan: FileScan, topic: str, name: str, node: ast.AST, home: str, given: Given = (), text: str = ""
    ) -> None:
        self.drafts.append(Draft(topic, name, tuple(given), home, scan.path, line_of(node), text))

    def _add_hint(self, scan: FileScan, name: str, node: ast.AST, given: Given = ()) -> None:
        """A trick of training that counts where nothing else says it."""
        self.drafts.append(
            Draft("training", name, tuple(given), scan.homes[node], scan.path, line_of(node), is_fallback=True)
        )

    def _from_definition(self, node: ast.ClassDef | ast.FunctionDef, scan: FileScan) -> None:
        home = scan.homes[node]
        if isinstance(node, ast.FunctionDef):
            names = [each.arg for each in node.args.args][len(node.args.args) - len(node.args.defaults) :]
            for name, default in zip(names, node.args.defaults, strict=True):
                owner = home.rpartition(".")[0]
                is_trainer = node.name == "__init__" and not scan.reading.symbols.is_module(owner)
                if owner == scan.module or is_trainer:
                    self._from_setting(name, default, node, scan)
        if isinstance(node, ast.ClassDef):
            if BLOCKS.match(node.name):
                self._add(scan, "structure", node.name, node, home)
            elif re.search(r"label_?smooth", node.name, re.IGNORECASE):
                self._add(scan, "training", "label smoothing", node, home, text=node.name)
        if (named := next((title for pattern, title in DEFINITIONS if pattern.search(node.name)), "")) != "":
            self._add(scan, "training", named, node, home, text=node.name)
        elif EMA.search(node.name):
            self._add(scan, "training", "EMA", node, home, text=node.name)
        elif MIX.search(node.name) or AUGMENTING.search(node.name):
            self._add(scan, "augmentation", node.name, node, home)

    def _from_loop(self, node: ast.For | ast.While, scan: FileScan) -> None:
        home = scan.homes[node]
        if isinstance(node, ast.While):
            match node.test:
                case ast.Compare(
                    ops=[ast.Lt() | ast.LtE()], comparators=[ast.Name(id=limit) | ast.Attribute(attr=limit) as last]
                ) if STEP_LIMIT.match(limit):
                    self._add(scan, "epochs", "epochs" if EPOCH.search(limit) else "steps", node, home, [("", last)])
            return
        call = node.iter
        while (
            isinstance(call, ast.Call)
            and scan.text(call.func).rpartition(".")[2] in ("tqdm", "trange", "enumerate", "track")
            and call.args
        ):
            if scan.text(call.func).endswith("trange"):
                break
            call = call.args[0]
        if isinstance(call, ast.Call) and scan.text(call.func).rpartition(".")[2] in ("range", "trange") and call.args:
            bound = call.args[0] if len(call.args) == 1 else call.args[1]
            target = scan.text(node.target)
            if EPOCH.search(target) or STEP_LIMIT.match(scan.text(_without_one(bound)).rpartition(".")[2]):
                name = "epochs" if EPOCH.search(target) or EPOCH.search(scan.text(bound)) else "steps"
                if name == "steps" and not TRAINS.search(scan.text(node)):
                    return  # iterations of some algorithm
                self._add(
                    scan, "epochs", name, node, home, [("", _without_one(bound) if len(call.args) > 1 else bound)]
                )

    def _from_assignment(self, node: ast.Assign, scan: FileScan) -> None:
        home = scan.homes[node]
        for target in node.targets:
            is_inside = home in scan.functions and not WHERE_TRAINED.search(home.rpartition(".")[2])
            if isinstance(target, ast.Name) and not is_inside:
                self._from_setting(target.id, node.value, node, scan)
            elif isinstance(target, ast.Attribute) and CLASSES_OF_SETTINGS.search(
                home.rpartition(".")[0].rpartition(".")[2]
            ):
                self._from_setting(target.attr, node.value, node, scan)
            match target, node.value:
                case ast.Attribute(attr="requires_grad" | "trainable"), ast.Constant(value=False):
                    self._add(scan, "training", "freezing", node, home, text=scan.text(target.value))
                case ast.Attribute(attr="requires_grad"), ast.Name() as given:
                    self._add(scan, "training", "freezing", node, home, [(FROZEN, given)])
                case ast.Subscript(slice=ast.Constant(value="lr")), _:
                    self._add(scan, "learning rate", "set by hand", node, home, text=scan.text(node.value))
                case ast.Attribute(attr="weight", value=owner), ast.Attribute(attr="weight", value=other) if scan.text(
                    owner
                ) != scan.text(other):
                    self._add(scan, "structure", "tied weights", node, home, text=scan.text(node))

    def _from_option(self, call: CallSite, scan: FileScan) -> None:
        default = argument(call.node, -1, "default")
        flags = [
            each.value for each in call.node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        if default is not None and flags:
            long = next((each for each in flags if each.startswith("--")), flags[0])
            self._from_setting(long.lstrip("-").replace("-", "_"), default, call.node, scan)

    def _from_setting(self, name: str, value: ast.expr, node: ast.AST, scan: FileScan) -> None:
        if not isinstance(value, ast.Constant) or not value.value or NOT_TRAINED.search(scan.path):  # off, or not plain
            return
        for pattern, topic, title in SETTINGS:
            if pattern.search(name):
                self.drafts.append(
                    Draft(topic, title, (("", value),), scan.homes[node], scan.path, line_of(node), is_fallback=True)
                )

    def _from_group(self, node: ast.Dict, scan: FileScan) -> None:
        """A group of parameters with settings of its own: {"params": ..., "weight_decay": 0}."""
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if "params" in keys and len(keys) > 1:
            given = [
                (str(key), value) for key, value in zip(keys, node.values, strict=True) if key not in (None, "params")
            ]
            self._add(scan, "optimizer", "parameter group", node, scan.homes[node], given)

    def _from_division(self, node: ast.BinOp | ast.AugAssign, scan: FileScan) -> None:
        divisor = node.right if isinstance(node, ast.BinOp) else node.value
        dividend = node.left if isinstance(node, ast.BinOp) else node.target
        if ACCUMULATION.search(scan.text(divisor)) and "loss" in scan.text(dividend).lower():
            self._add(scan, "training", "gradient accumulation", node, scan.homes[node], [("", divisor)])
        elif ACCUMULATION.search(scan.text(divisor)) and isinstance(node.op, ast.Mod):
            self._add_hint(scan, "gradient accumulation", node, [("", divisor)])

    def settle(self, values: Values) -> list[Trick]:
        """All entries with their values, the same one at the same value once."""
        drafts = [each for each in self.drafts if not each.is_fallback]
        tricks = [Trick(each.topic, each.name, _value(each, values), each.path, each.line) for each in drafts]
        tricks = [
            each
            for each in tricks
            if UNFOLLOWED not in each.value and not (FROZEN in each.value and "False" not in each.value)
        ]
        tricks = [replace(each, value="") if FROZEN in each.value else each for each in tricks] + _rates(drafts, values)
        said = {(each.topic, each.name if each.topic in ("training", "augmentation") else "") for each in tricks}
        for each in self.drafts:
            if (
                each.is_fallback
                and (each.topic, each.name if each.topic in ("training", "augmentation") else "") not in said
            ):
                tricks.append(Trick(each.topic, each.name, _value(each, values), each.path, each.line))
        if not any(each.topic == "epochs" for each in tricks):
            tricks += self._unnamed_loops(values)
        called = {(each.name, each.path) for each in drafts if each.given}
        tricks = [
            each
            for each in tricks
            if not ((each.name, each.path) in called and any(p.search(each.value) for p, _ in DEFINITIONS))
        ]
        unique: dict[tuple[str, str, str, str], Trick] = {}
        for trick in tricks:
            value = "" if any(trick.name == title for _, title in DEFINITIONS) else trick.value
            unique.setdefault((trick.topic, trick.name, value, trick.path), trick)
        return sorted(unique.values(), key=lambda each: (TOPICS.index(each.topic), each.path, each.line))

    def _unnamed_loops(self, values: Values) -> list[Trick]:
        """`for i in range(90)` around a step, where no name speaks of epochs or steps."""
        return [
            Trick("epochs", name, values.described(_without_one(loop.bound), loop.home), loop.path, loop.line)
            for loop, name in self.loops.around_steps()
            if not ACCUMULATION.search(ast.unparse(loop.bound))
        ]


FROZEN = "<flag>"  # requires_grad is set to what a caller gives
UNFOLLOWED = "<spread>"  # an argument that `**settings` may or may not hold
TOPICS = tuple(
    "augmentation, shuffling, learning rate, optimizer, batch size, epochs, initialisation, structure, training".split(
        ", "
    )
)
Given = list[tuple[str, ast.expr]] | tuple[tuple[str, ast.expr], ...]


def _from_call(call: CallSite, scan: FileScan) -> list[tuple[str, str, Given]]:
    name, last, node = call.name, call.last, call.node
    if scan.uses.has(Use.IMAGE_TRANSFORM, name) and "functional" not in name:
        is_one = last[:1].isupper() or last.startswith(("random_", "stateless_random_"))
        return [("augmentation", last, _arguments(node))] if is_one and last not in NOT_AUGMENTATION else []
    if name == scan.framework.loader:
        return _loader(node)
    if scan.uses.has(Use.SHUFFLE, name):
        return [] if _is_sample(node, scan) else [("shuffling", "by hand", ())]
    if SAMPLERS.search(last) and scan.uses.has(Use.SAMPLER, name):
        return [("shuffling", last, ())]
    if scan.uses.has(Use.SCHEDULER, name):
        if not last[:1].isupper():
            return []
        warm = (
            [("training", "warm-up", _arguments(node, 1))] if last in ("LinearLR", "ConstantLR", "OneCycleLR") else []
        )
        return [("learning rate", last, _arguments(node, scan.framework.leading)), *warm]
    if SCHEDULE_FUNCTIONS.fullmatch(last):
        warm = [("training", "warm-up", _arguments(node, 1))] if "warmup" in last else []
        return [("learning rate", last, _arguments(node, 1)), *warm]
    if (
        scan.uses.has(Use.OPTIMIZER, name)
        and last[:1].isupper()
        and last not in NOT_OPTIMIZERS
        and "swa_utils" not in name
    ):
        return [("optimizer", last, _arguments(node, scan.framework.leading))]
    if _is_foreign_optimizer(call, scan):
        return [("optimizer", last, _arguments(node, 1))]
    return _from_training_call(call, scan)


def _is_foreign_optimizer(call: CallSite, scan: FileScan) -> bool:
    """A class of another package that is given parameters and a learning rate."""
    first = scan.text(call.node.args[0]) if call.node.args else ""
    is_given = (
        first.endswith((".parameters()", "params", "parameters", "param_groups"))
        and argument(call.node, -1, "lr") is not None
    )
    return is_given and call.last[:1].isupper() and "." in call.name and not scan.reading.symbols.is_local(call.name)


def _from_training_call(call: CallSite, scan: FileScan) -> list[tuple[str, str, Given]]:
    name, last, node = call.name, call.last, call.node
    if scan.uses.has(Use.INITIALIZER, name) or (INITIALISING.fullmatch(name) and not scan.framework.has(name)):
        return [("initialisation", last, _arguments(node, scan.framework.leading))]
    is_autocast = scan.uses.has(Use.AUTOCAST, name)
    if re.fullmatch(r"(get_)?auto_?cast", last) and not is_autocast:  # accelerate's, lightning's, the project's
        return [("training", "mixed precision", ())]
    if is_autocast or scan.uses.has(Use.LOSS_SCALER, name):
        kind = "mixed precision" if is_autocast else "loss scaling"
        return [("training", kind, [(k, v) for k, v in _arguments(node) if k in ("enabled", "dtype")])]
    listed = _listed(call, scan)
    if listed is not None:
        value = argument(node, listed.position, listed.argument) if listed.argument else None
        return [("training", listed.title, [("", value)] if value is not None else [])]
    if (
        (scan.uses.has(Use.STARTING_VALUE, name) or scan.uses.has(Use.STARTING_VALUE, scan.framework.tensor + name))
        and isinstance(node.func, ast.Attribute)
        and OF_LAYERS.search(scan.text(node.func.value))
    ):
        return [("initialisation", last, _arguments(node))]
    if (
        last in ("add_", "sub_")
        and scan.framework.is_of_tensor(name)
        and any(scan.text(each).endswith(".grad") for each in node.args)
    ):
        return [("optimizer", "by hand", _arguments(node, 1))]
    if (
        last == "requires_grad_"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value is False
    ):
        return [("training", "freezing", ())]
    if (
        last in ("CrossEntropyLoss", "cross_entropy")
        and (smoothing := argument(node, -1, "label_smoothing")) is not None
    ):
        return [("training", "label smoothing", [("", smoothing)])]
    if last in DEPTH:
        return [("structure", last, [(key, value) for key, value in _arguments(node, 1) if key == "p"])]
    if scan.uses.has(Use.DROPOUT, name):
        rate = argument(node, 0, "p", "rate")
        return [("structure", last, [("p", rate)] if rate is not None else [])]
    if EMA.search(last) and last[:1].isupper() and not scan.reading.symbols.is_local(name):
        return [("training", "EMA", ())]
    return [("augmentation", last, _arguments(node))] if MIX.search(last) and scan.uses.has(Use.MIX, name) else []


def _listed(call: CallSite, scan: FileScan) -> ListedCall | None:
    """By its name; a method that clips gradients, such as an accelerator's, is told by its last part."""
    clips = (name for name in scan.framework.checklist if scan.uses.has(Use.CLIPS, name))
    known = next((name for name in clips if name.rpartition(".")[2] == call.last), call.name)
    return scan.framework.checklist.get(known)


def _is_sample(node: ast.Call, scan: FileScan) -> bool:
    """`order = randperm(n)`, of which only `order[:k]` is used: some elements, in no order."""
    parent = scan.reading.source.parents.get(node)
    function = scan.functions.get(scan.homes[node])
    if not (isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)) or function is None:
        return False
    name = parent.targets[0].id
    for part in ast.walk(function):
        match part:
            case ast.Subscript(value=ast.Name(id=used), slice=ast.Slice(lower=None, upper=ast.expr())) if used == name:
                return True
    return False


def _loader(node: ast.Call) -> list[tuple[str, str, Given]]:
    size, shuffle = argument(node, 1, "batch_size"), argument(node, 2, "shuffle")
    spread = next((keyword.value for keyword in node.keywords if keyword.arg is None), None)
    if size is None and spread is not None:
        size = ast.Subscript(spread, ast.Constant("batch_size"), ast.Load())
    found: list[tuple[str, str, Given]] = [("batch size", "batch size", [("", size)])] if size is not None else []
    return [*found, ("shuffling", "shuffle", [("", shuffle)])] if shuffle is not None else found


def _arguments(node: ast.Call, skip: int = 0) -> list[tuple[str, ast.expr]]:
    """All but the first `skip` arguments, with their keywords."""
    positional = [("", each) for each in node.args[skip:] if not isinstance(each, ast.Starred)]
    return [
        *positional,
        *(
            (each.arg, each.value)
            for each in node.keywords
            if each.arg and each.arg != "params" and each.arg != "optimizer"
        ),
    ]


def _without_one(bound: ast.expr) -> ast.expr:
    """range(1, epochs + 1) runs `epochs` times."""
    match bound:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)):
            return left
    return bound


def _value(draft: Draft, values: Values) -> str:
    if draft.text:
        return draft.text
    parts = []
    for label, node in draft.given:
        is_spread = isinstance(node, ast.Subscript) and not hasattr(node, "lineno")
        text = (
            UNFOLLOWED if is_spread and values.plain(node, draft.home) is None else values.described(node, draft.home)
        )
        parts.append(f"{label}={text}" if label else text)
    return ", ".join(parts)


def _rates(drafts: list[Draft], values: Values) -> list[Trick]:
    """The learning rate that each optimizer starts from; "fixed" if nothing changes it."""
    is_fixed = not any(each.topic == "learning rate" for each in drafts)
    found = []
    for draft in drafts:
        if draft.topic != "optimizer" or draft.name == "parameter group":
            continue
        rate = next((node for label, node in draft.given if label in ("lr", "learning_rate")), None)
        if rate is None and draft.given and not draft.given[0][0]:
            rate = draft.given[0][1]
        if rate is not None:
            text = values.described(rate, draft.home)
            found.append(Trick("learning rate", "fixed" if is_fixed else "initial", text, draft.path, draft.line))
    return found
