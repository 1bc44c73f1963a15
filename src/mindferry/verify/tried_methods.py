"""Methods that forward does not call (`decode`, `inverse`, `generate`), called on what their module is given or returns: the two sides have to agree.

Only those that compute something and change nothing: a method that saves, trains or loads is nobody's to call but the user's.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from ..artifacts import Gap
from ..frameworks.named_in_code import is_torchs
from ..frameworks.requests import Shortfall
from .golden import Golden, Unrun
from .nested_inputs import call
from .other_sizes import Inputs
from .result import Result
from .seeding import seeded
from .state import same_state
from .unasked_inputs import other_value
from .variants import METHOD, WITHOUT, is_far

FAR_OFF = 0.1  # by how much an output is another number
MOST = 12  # methods
NUMBER = 3  # for an argument that nothing fits: how many to draw, how long to go on
LEAVES = 4  # parts of an output that are tried in turn
PLAIN = (bool, int, float, str)
_PLACE = re.compile(rf"{METHOD}(\w+)(?: of ([\w.]+))?, on .*")
FORBIDDEN = set(  # what is left to the user: files, processes, the network, training, and whatever changes a network
    "open save load system popen Popen remove unlink mkdir makedirs rmtree write writelines dump urlopen download exec exit quit input "
    "sleep backward step fit zero_grad push_to_hub from_pretrained requires_grad requires_grad_ data load_state_dict apply register_buffer "
    "register_parameter register_module add_module setattr delattr append_module os sys shutil subprocess socket requests urllib wandb "
    "pickle Path pathlib optim param_groups".split()
)
CHANGES = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME")
NESTABLE = re.compile(r"[^'{}()\[\]]*")


def place_of(said: str) -> tuple[str, str] | None:
    """(path of the module, method) of a variant that calls one."""
    found = _PLACE.fullmatch(said)
    return (found[2] or "", found[1]) if found is not None else None


@contextlib.contextmanager
def calling(network: Any, modules: Iterable[tuple[str, Any]], said: str, forward: str) -> Iterator[None]:
    """While it is entered, to call the network is to call the method of a variant; what the method itself calls is as it was."""
    place = place_of(said)
    if place is None:
        yield
        return
    plain, method = getattr(network, forward), getattr(dict(modules)[place[0]], place[1])
    entered: list[bool] = []

    def instead(*args: Any, **kwargs: Any) -> Any:
        if entered:
            return plain(*args, **kwargs)
        entered.append(True)
        try:
            return method(*args, **kwargs)
        finally:
            entered.clear()

    vars(network)[forward] = instead
    try:
        yield
    finally:
        del vars(network)[forward]


def tried_methods(model: Any, inputs: Inputs, methods: Mapping[str, Sequence[str]]) -> list[list[tuple[str, Inputs]]]:
    """Groups, as those of variants.py. `methods`: class -> methods that nothing has called."""
    own = {path: module for path, module in model.named_modules() if not is_torchs(module)}
    codes = _codes(own.values())
    places = [
        (next(path for path, module in own.items() if type(module).__name__ == kind), name)
        for kind, names in methods.items()
        if any(type(module).__name__ == kind for module in own.values())
        for name in names
    ]
    places = [(path, name) for path, name in places if only_computes(getattr(own[path], name, None), codes)][:MOST]
    if not places:
        return []
    seen = _seen(model, inputs, {path for path, _ in places})
    groups = []
    for path, name in places:
        where = f"{METHOD}{name}{' of ' if path else ''}{path}"
        candidates = _arguments(getattr(own[path], name), seen[path]) if path in seen else []
        groups.append([(f"{where}, on {said}", given) for said, given in candidates])
        more = _turned_defaults(getattr(own[path], name)) if path in seen else []
        groups.append([(f"{said}, {_listed(more)}", [*given, *more]) for said, given in groups[-1]] if more else [])
    return [group for group in groups if group]


def only_computes(method: Any, codes: Mapping[str, list[CodeType]]) -> bool:
    """Whether it returns something and neither it nor what it calls by name looks as if it changed anything."""
    code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)
    if not isinstance(code, CodeType) or not _returns(code):
        return False
    seen, left = {code}, [code]
    while left:
        each = left.pop()
        if not _is_harmless(each):
            return False
        inner = [constant for constant in each.co_consts if isinstance(constant, CodeType)]
        for found in (*inner, *(one for name in each.co_names for one in codes.get(name, ()))):
            if found not in seen:
                seen.add(found)
                left.append(found)
    return True


def _is_harmless(code: CodeType) -> bool:
    if any(name in FORBIDDEN or (name.endswith("_") and not name.startswith("_")) for name in code.co_names):
        return False
    steps = list(dis.get_instructions(code))
    places = {each.offset: index for index, each in enumerate(steps)}
    backward = [places[each.argval] for each in steps if "JUMP_BACKWARD" in each.opname]
    loops = [next(each.opname for each in steps[place:] if each.opname != "EXTENDED_ARG") for place in backward]
    is_endless = any(not name.startswith("FOR_ITER") for name in loops)  # a `while` may be
    return not is_endless and not any(each.opname in CHANGES for each in steps)


def _returns(code: CodeType) -> bool:
    """Whether anything but None comes back."""
    steps = list(dis.get_instructions(code))
    return any(
        (each.opname == "RETURN_VALUE" and not (before.opname == "LOAD_CONST" and before.argval is None))
        or (each.opname == "RETURN_CONST" and each.argval is not None)
        for before, each in pairwise(steps)
    )


def _codes(modules: Iterable[Any]) -> dict[str, list[CodeType]]:
    """Methods of the network's own classes, but for forward, and functions of their files, by name."""
    found: dict[str, list[CodeType]] = {}
    for kind in {type(module) for module in modules}:
        for base in kind.__mro__:
            if base is object or base.__module__.startswith("torch"):
                continue
            functions = {name: getattr(value, "__func__", value) for name, value in vars(base).items()}
            own = [each for each in functions.values() if isinstance(each, FunctionType)]
            for each in own[:1]:
                functions |= {n: f for n, f in each.__globals__.items() if isinstance(f, FunctionType)}
            for name, value in functions.items():
                value = inspect.unwrap(value) if callable(value) else value
                is_own = isinstance(value, FunctionType) and not value.__module__.startswith("torch")
                if is_own and name not in ("forward", "__init__"):
                    found.setdefault(name, []).append(value.__code__)
    return found


def _seen(model: Any, inputs: Inputs, paths: set[str]) -> dict[str, tuple[dict[str, Any], Any]]:
    """Module path -> the arguments of its first call by name, and what it returned."""
    import torch

    found: dict[str, tuple[dict[str, Any], Any]] = {}
    handles = []

    def after(path: str, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if path not in found:
            bound = inspect.signature(module.forward).bind(*args, **kwargs)
            found[path] = (dict(bound.arguments), output)

    for path, module in model.named_modules():
        if path in paths:
            hook = lambda m, a, k, o, path=path: after(path, m, a, k, o)  # noqa: E731
            handles.append(module.register_forward_hook(hook, with_kwargs=True))
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), same_state(model), seeded(0), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            call(model, [value for name, value in inputs if not name], {n: v for n, v in inputs if n})
    except Exception:  # whatever the user's code raises
        return {}
    finally:
        model.train(was_training)
        for handle in handles:
            handle.remove()
    return found


def _arguments(method: Any, seen: tuple[dict[str, Any], Any]) -> Iterator[tuple[str, Inputs]]:
    """What to try in turn for the arguments that have no default; each is given by its name."""
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        return
    wanted = [each for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    if any(each.kind in (each.POSITIONAL_ONLY, each.VAR_POSITIONAL) for each in wanted):
        return
    names, (given, output) = [each.name for each in wanted], seen
    for said, values in _choices(names, given, output):
        laid = [_laid_out(name, value) for name, value in zip(names, values, strict=True)]
        if all(each is not None for each in laid):
            yield said, [item for each in laid if each is not None for item in each]


def _turned_defaults(method: Any) -> Inputs:
    """Another value for each argument that has a plain default, a small number for None: what they decide is met so."""
    parameters = inspect.signature(method).parameters.values()
    plain = [each for each in parameters if each.default is None or isinstance(each.default, bool | int | float)]
    return [(each.name, NUMBER if each.default is None else other_value(each.default)) for each in plain]


def _listed(given: Inputs) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given)


def _choices(names: list[str], given: dict[str, Any], output: Any) -> Iterator[tuple[str, list[Any]]]:
    if not names:
        yield "nothing", []
        return
    inputs, count = list(given.values()), len(names)
    outputs = (
        list(output.values()) if isinstance(output, dict) else [*output] if isinstance(output, tuple) else [output]
    )
    known = given | (dict(output) if isinstance(output, dict) else {})
    if any(name in known for name in names):
        yield "arguments of these names", [known.get(name, NUMBER) for name in names]
    if len(inputs) >= count:
        yield "the inputs", inputs[:count]
    if len(inputs) == count - 1:
        yield "the inputs and the output", [*inputs, output]
    if count == 1:
        yield "the output", [output]
        yield from ((f"output {index}", [each]) for index, each in enumerate(outputs[:LEAVES]))
    if 1 < count <= len(outputs):
        yield "the outputs", outputs[:count]
    if len(inputs) < count:
        yield "the inputs and small numbers", [*inputs, *[NUMBER] * (count - len(inputs))]
    yield "small numbers", [NUMBER] * count


def _laid_out(name: str, value: Any) -> Inputs | None:
    """A value as inputs are written down, each part by the way to it; None if it can't be."""
    import torch

    if isinstance(value, torch.Tensor):
        return [(name, value.detach().clone())]
    if isinstance(value, PLAIN):
        return [(name, value)]
    if isinstance(value, dict):
        if not value or not all(isinstance(key, str) and NESTABLE.fullmatch(key) for key in value):
            return None
        parts = [_laid_out(f"{name}{{'{key}'}}", each) for key, each in value.items()]
    elif type(value) in (list, tuple) and value:
        brackets = "[]" if isinstance(value, list) else "()"
        parts = [_laid_out(f"{name}{brackets[0]}{index}{brackets[1]}", each) for index, each in enumerate(value)]
    else:
        return None
    return (
        None if any(each is None for each in parts) else [item for each in parts if each is not None for item in each]
    )


class Settled:
    """Which of the methods that forward does not call were compared after all."""

    def __init__(self, main: Result) -> None:
        self._main, self._measured = main.golden, main.measured
        self._tried: dict[str, list[Result]] = {}  # Class.method -> what came of each call
        self._said: dict[str, str] = {}
        self._others: list[Result] = []  # the network itself, without an input
        self._moving: set[int] = set()  # outputs

    def note(self, said: str, tried: Result) -> None:
        """What came of a variant that calls a method, or leaves an input to its default."""
        place = place_of(said)
        if place is None:
            self._others += [tried] if tried.golden.is_watched else []
            self._moving |= _moving(self._main, tried.golden) if tried.verdict.passed else set()
            return
        part = self._main.parts.get(place[0])
        name = f"{part.kind if part is not None else ''}.{place[1]}"
        self._tried.setdefault(name, []).append(tried)
        self._said.setdefault(name, said.partition(", on ")[2])

    def watches(self, said: str) -> bool:
        """Whether the lines count that a variant reaches: where some never ran so far, those of any that is judged closely."""
        if place_of(said) is not None or said.startswith(WITHOUT):
            return True
        left = (each for each in self.rest(self._measured.shortfalls) if each.subject == "branch")
        return not is_far(said) and (bool(self.golden().unrun) or any(True for _ in left))

    def golden(self) -> Golden:
        """What was recorded, less the branches that were reached without an input."""
        unrun = [each for each in self._main.unrun if not any(_has_reached(each, other) for other in self._agreeing())]
        return replace(self._main, unrun=tuple(unrun), moving=frozenset(self._moving))

    def _agreeing(self) -> list[Result]:
        """Runs whose lines count: what they gave was compared."""
        told = [each for tried in self._tried.values() if self._is_told(tried) for each in tried]
        return [each for each in (*self._others, *told) if each.verdict.passed]

    def gaps(self) -> Iterator[Gap]:
        for name, tried in self._tried.items():
            failing = [row for each in tried for row in each.verdict.differences if not row.passed]
            if failing:
                off = failing[0].note or f"off by {failing[0].max_rel:.1e} of the largest"
                why = f"forward does not call it; called on {self._said[name]}, its {failing[0].name} is another one ({off})"
                yield Gap("method", name, "not comparable", why)
            elif self._is_told(tried):
                yield from self._unrun(tried)
                yield from self._untold(tried)

    def rest(self, shortfalls: Iterable[Shortfall]) -> Iterator[Shortfall]:
        """Without the methods that were called."""
        for each in shortfalls:
            if each.subject == "branch" and any(_has_reached_here(each, other) for other in self._agreeing()):
                continue
            kind, _, names = each.name.partition(".")
            left = [name for name in names.split(", ") if not self._is_called(f"{kind}.{name}")]
            if each.subject != "method":
                yield each
            elif left:
                yield replace(each, name=f"{kind}.{', '.join(left)}")

    def _is_called(self, name: str) -> bool:
        tried = self._tried.get(name, [])
        return self._is_told(tried) or any(not each.verdict.passed for each in tried)

    def _is_told(self, tried: list[Result]) -> bool:
        """Whether something came back that can be compared, and all of it was."""
        leaves = [leaf for each in tried for mode in each.golden.modes.values() for leaf in mode.structure]
        rows = [row for each in tried for row in each.verdict.differences]
        is_random = any(gap.subject == "random" for each in tried for gap in each.measured.shortfalls)
        is_told = any(leaf.dtype or leaf.value is not None for leaf in leaves)
        return (
            is_told
            and not is_random
            and not any(leaf.opaque for leaf in leaves)
            and not any(row.incomparable for row in rows)
        )

    def _unrun(self, tried: list[Result]) -> Iterator[Gap]:
        """Branches that none of the calls reached, in what the network's own run had not called."""
        places = {each for one in tried for each in one.golden.unrun if each.function not in self._main.ran}
        left = [each for each in places if not any(_has_reached(each, other) for other in self._agreeing())]
        for each in sorted(left, key=lambda each: (each.file, each.line)):
            why = f"never ran: {each.function}, `{each.text}`"
            yield Gap("branch", f"{Path(each.file).name} line {each.line}", "not reached", why)

    def _untold(self, tried: list[Result]) -> Iterator[Gap]:
        """What the conversion's side saw in all of the calls."""
        told = [
            {each for each in one.measured.shortfalls if each.matters and self._is_unsettled(each)} for one in tried
        ]
        for each in sorted(set.intersection(*told), key=lambda each: (each.subject, each.name)):
            yield Gap(each.subject, each.name, each.state, each.why)

    def _is_unsettled(self, each: Shortfall) -> bool:
        """A branch of what the network's own run had called was reached there, or is listed; another run may have reached it."""
        if each.subject != "branch":
            return True
        is_reached = any(_has_reached_here(each, other) for other in self._agreeing())
        return _function(each) not in self._main.ran and not is_reached


def _moving(main: Golden, other: Golden) -> set[int]:
    """Outputs that are of another size there."""
    mode = next((each for each in other.modes if each in main.modes), None)
    pairs = zip(main.modes[mode].outputs, other.modes[mode].outputs, strict=False) if mode is not None else ()
    scales = [[golden.references[key].scale for golden, key in zip((main, other), pair, strict=True)] for pair in pairs]
    return {index for index, (one, two) in enumerate(scales) if not math.isclose(one, two, rel_tol=FAR_OFF)}


def _function(branch: Shortfall) -> str:
    """As the reference calls it."""
    return branch.why.partition("conversion: ")[2].partition(",")[0].replace(".construct", ".forward")


def _has_reached(branch: Unrun, other: Result) -> bool:
    return branch.function in other.golden.ran and branch not in other.golden.unrun


def _has_reached_here(branch: Shortfall, other: Result) -> bool:
    return _function(branch) in other.golden.ran and branch not in other.measured.shortfalls
