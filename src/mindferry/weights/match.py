"""Which tensor of a torch checkpoint goes to which place of a MindSpore model, when the model is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .layers import layer_of
from .transforms import transformed_shape
from .tree import Slot, Tree
from .usermap import UserMap

Shape = tuple[int, ...]
Record = Mapping[str, Mapping[str, str]]

# What data-parallel and compiled models put before every name.
WRAPPERS = ("module.", "_orig_mod.", "model.")
TRAINING_STATE = frozenset(
    {"learning_rate", "momentum", "global_step", "epoch_num", "step_num", "beta1_power", "beta2_power", "weight_decay"}
)


@dataclass(frozen=True, slots=True)
class Move:
    """One tensor's way: usually one source, several where they fold into one (weight norm, spectral norm)."""

    sources: tuple[str, ...]
    target: str  # name in a checkpoint
    shape: Shape  # at the target
    how: str  # exact, cell, record, structure, pattern, map
    fold: str = ""  # weight_norm, spectral_norm, spectral_norm_1, or a user map's transform
    path: str = ""  # the slot, where a model is known


@dataclass(frozen=True, slots=True)
class Plan:
    moves: tuple[Move, ...]
    aliases: tuple[Move, ...] = ()  # second names of a tied tensor: checked against the first, not written again
    dropped: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[str, ...] = ()


def match(tree: Tree, shapes: Mapping[str, Shape], names: UserMap | None = None, record: Record | None = None) -> Plan:
    """Match the checkpoint's `shapes` to the model's slots: user map, then exact names, then the cells' classes."""
    return _Matcher(tree, shapes, names or UserMap(), record or {}).plan()


class _Matcher:
    def __init__(self, tree: Tree, shapes: Mapping[str, Shape], names: UserMap, record: Record) -> None:
        self.tree, self.shapes, self.names, self.record = tree, shapes, names, record
        self.prefix = wrapper_prefix(shapes, [slot.path for slot in tree.slots])
        self.used: set[str] = set()
        self.misfits: set[str] = set()  # slots whose tensor was found and doesn't fit
        self.mismatched: list[str] = []
        self.mapped = self._user_mapped()
        self.claimed = {source for source, _ in self.mapped.values()}

    def plan(self) -> Plan:
        ties: dict[int, list[Slot]] = {}
        for slot in self.tree.slots:
            ties.setdefault(slot.tie, []).append(slot)
        moves: list[Move] = []
        aliases: list[Move] = []
        kept: list[str] = []
        missing: list[str] = []
        for slots in ties.values():
            found = [move for move in map(self._find, slots) if move]
            moves += found[:1]
            aliases += found[1:]
            if not found and not self.misfits.intersection(slot.path for slot in slots):
                (kept if any(map(self._is_optional, slots)) else missing).append(slots[0].path)
        rest = [name for name in self.shapes if name not in self.used]
        dropped = {name for name in rest if is_counter(name, self.shapes) or self.names.drops(name)}
        unexpected = (name for name in rest if name not in dropped)
        return Plan(
            tuple(moves),
            tuple(aliases),
            tuple(name for name in rest if name in dropped),
            tuple(kept),
            tuple(missing),
            tuple(unexpected),
            tuple(self.mismatched),
        )

    def _find(self, slot: Slot) -> Move | None:
        spelled, how = torch_path(slot.path, self.tree, self.record)
        owner = self.tree.cells.get(slot.path.rpartition(".")[0], ())
        widened = slot.path.rpartition(".")[2] in layer_of(owner)[0].widened
        if slot.name in self.mapped or slot.path in self.mapped:
            return self._take_mapped(slot)
        if self._free(slot.path) == slot.shape:
            return self._take(slot, (slot.path,), "exact")
        for name in dict.fromkeys((spelled, *_respelled(slot.path), slot.path)):
            if (shape := self._free(name)) is not None:
                if fits(shape, slot.shape, widened):
                    return self._take(slot, (name,), how)
                self._misfit(slot, self.prefix + name, f"{shape} in the file")
                return None
        return self._fold(slot, spelled, widened, "Transpose" in "".join(owner))

    def _free(self, name: str) -> Shape | None:
        """The shape of a tensor that nothing has taken yet."""
        full = self.prefix + name
        return None if full in self.used or full in self.claimed else self.shapes.get(full)

    def _misfit(self, slot: Slot, source: str, what: str) -> None:
        self.used.add(source)
        self.misfits.add(slot.path)
        self.mismatched.append(f"{slot.path} {slot.shape} in the model, {source} {what}")

    def _fold(self, slot: Slot, name: str, widened: bool, is_transposed: bool) -> Move | None:
        """Weight and spectral norm: torch stores the factors, a plain layer of MindSpore wants their product."""
        owner, dot, local = name.rpartition(".")
        parametrized = f"{owner}{dot}parametrizations.{local}."
        spectral = "spectral_norm_1" if is_transposed else "spectral_norm"
        forms = (
            ("weight_norm", (f"{name}_g", f"{name}_v"), 1),
            ("weight_norm", (f"{parametrized}original0", f"{parametrized}original1"), 1),
            (spectral, (f"{name}_orig", f"{name}_u", f"{name}_v"), 0),
            (spectral, (f"{parametrized}original", f"{parametrized}0._u", f"{parametrized}0._v"), 0),
        )
        for fold, sources, whole in forms:
            shapes = [self._free(source) for source in sources]
            shape = shapes[whole]
            if None not in shapes and shape is not None and fits(shape, slot.shape, widened):
                return self._take(slot, sources, "cell", fold)
        return None

    def _take(self, slot: Slot, names: tuple[str, ...], how: str, fold: str = "") -> Move:
        sources = tuple(self.prefix + name for name in names)
        self.used.update(sources)
        return Move(sources, slot.name, slot.shape, how, fold, slot.path)

    def _user_mapped(self) -> dict[str, tuple[str, str]]:
        mapped = {}
        for source in self.shapes:
            if target := self.names.target(source):
                mapped[target[0]] = (source, target[1])
        return mapped

    def _take_mapped(self, slot: Slot) -> Move | None:
        source, transform = self.mapped[slot.name if slot.name in self.mapped else slot.path]
        if source in self.used:
            return None  # the other place of a tied tensor
        self.used.add(source)
        shape = transformed_shape(transform, self.shapes[source], source)
        if shape != slot.shape:
            self._misfit(slot, source, f"{shape} by the map")
            return None
        return Move((source,), slot.name, slot.shape, "map", transform, slot.path)

    def _is_optional(self, slot: Slot) -> bool:
        if slot.optional:
            return True
        # A norm without bias: MindSpore's keeps its zeros.
        spelled, _ = torch_path(slot.path, self.tree, self.record)
        weight = self.prefix + spelled.removesuffix("bias") + "weight"
        return slot.path.endswith("beta") and spelled.endswith("bias") and self.shapes.get(weight) == slot.shape


def match_reverse(
    tree: Tree, shapes: Mapping[str, Shape], names: UserMap | None = None, record: Record | None = None
) -> Plan:
    """Match a MindSpore checkpoint's `shapes` to the torch model's names. A tied tensor gets all of its names."""
    names = names or UserMap()
    moves = [
        Move((name,), target[0], transformed_shape(target[1], shape, name), "map", target[1])
        for name, shape in shapes.items()
        if (target := names.target(name))
    ]
    seen = {move.sources[0] for move in moves}
    missing, mismatched, dropped = [], [], []
    for slot in tree.slots:
        name = next((name for name in (slot.name, slot.path) if name in shapes), "")
        if name in seen and names.target(name):
            continue
        seen.add(name)
        if slot.optional:
            dropped += [name] if name else []  # torch's layer was built without it
        elif not name:
            missing.append(slot.path)
        elif shapes[name] != slot.shape:
            mismatched.append(f"{slot.path} {slot.shape} in the model, {name} {shapes[name]} in the file")
        else:
            moves.append(_reverse_move(slot, name, tree, record or {}))
    rest = [name for name in shapes if name not in seen]
    dropped += [name for name in rest if is_optimizer_state(name, shapes) or names.drops(name)]
    unexpected = tuple(name for name in rest if name not in dropped)
    return Plan(tuple(moves), (), tuple(dropped), (), tuple(missing), unexpected, tuple(mismatched))


def _reverse_move(slot: Slot, name: str, tree: Tree, record: Record) -> Move:
    owner, _, local = slot.path.rpartition(".")
    is_widened = local in layer_of(tree.cells.get(owner, ()))[0].widened
    shape = (*slot.shape[:2], *slot.shape[3:]) if is_widened else slot.shape
    spelled, how = torch_path(slot.path, tree, record)
    return Move((name,), spelled, shape, "exact" if (spelled, shape) == (name, slot.shape) else how)


def is_optimizer_state(name: str, shapes: Mapping[str, Shape]) -> bool:
    """What ModelCheckpoint saves beside the network: `moments.<parameter>`, the learning rate, step counts."""
    return name.partition(".")[2] in shapes or name in TRAINING_STATE


def torch_path(path: str, tree: Tree, record: Record) -> tuple[str, str]:
    """A slot's path as torch spells it, and whether the cells or the conversion record told."""
    here, spelled, how = "", [], "cell"
    parts = path.split(".")
    for depth, part in enumerate(parts):
        layer, recorded = layer_of(tree.cells.get(here, ()), record)
        names = layer.names if depth == len(parts) - 1 else layer.children
        twin = next((theirs for theirs, ours in names.items() if ours == part), part)
        how = "record" if recorded and twin != part else how
        spelled += [twin] if twin else []
        here = f"{here}.{part}" if here else part
    return ".".join(spelled), how


def fits(source: Shape, target: Shape, widened: bool = False) -> bool:
    """Same shape, or one that differs in a way that changes no value's place."""
    if source == target or {source, target} == {(), (1,)}:
        return True
    return widened and (*source[:2], 1, *source[2:]) == target


def is_counter(name: str, shapes: Mapping[str, Shape]) -> bool:
    """torch's batch norms count batches; MindSpore's have no such thing."""
    owner, dot, local = name.rpartition(".")
    return local == "num_batches_tracked" and f"{owner}{dot}running_mean" in shapes


def wrapper_prefix(names: Iterable[str], paths: Iterable[str] = ()) -> str:
    """The prefix that DataParallel, DDP, torch.compile or a Lightning module put before every name, if one did."""
    names, paths, prefix = list(names), list(paths), ""
    while names:
        found = next((w for w in WRAPPERS if all(name.startswith(prefix + w) for name in names)), None)
        is_ours = found is None or any(path.startswith(found) for path in paths)
        if found is None or is_ours or (found == "model." and not paths):
            break
        prefix += found
    return prefix


def _respelled(path: str) -> list[str]:
    """The parametrized spelling of factors that the cell holds under their older names."""
    owner, dot, local = path.rpartition(".")
    name, _, factor = local.rpartition("_")
    new = {"g": ("original0",), "v": ("original1", "0._v"), "orig": ("original",), "u": ("0._u",)}.get(factor, ())
    return [f"{owner}{dot}parametrizations.{name}.{ending}" for ending in new]
