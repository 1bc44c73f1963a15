"""Gives each network of the converted script the weights that its twin began with."""

from __future__ import annotations

import copy
import sys
import weakref
from typing import Any

from ..errors import MindferryError
from ..frameworks.mindspore_weights import starts_otherwise
from ..weights import load_torch_weights
from ..weights.outcome import WeightsMismatchError
from .conduct import is_being_made, is_of
from .exchange import PASSING, Exchange


class Networks:
    """The networks met so far. One is met before anything can change it: an optimizer, a checkpoint, a copy, its first call."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.parameters: dict[str, Any] = {}  # "root:torch name" -> MindSpore parameter
        self.known: set[int] = set()
        self.taken: set[int] = set()
        self.cells: list[Any] = []  # weak references
        self.roots: dict[int, int] = {}  # network -> its twin's number
        self.is_meeting = False
        self.starts: list[str] = []  # parameters that the script starts otherwise

    def install(self) -> None:
        import mindspore as ms
        from mindspore import nn

        networks, deepcopy = self, copy.deepcopy
        start, load, into = nn.Cell.__init__, nn.Cell.load_state_dict, ms.load_param_into_net
        read = nn.Cell.state_dict

        def cell_start(cell: Any, *args: Any, **kwargs: Any) -> None:
            start(cell, *args, **kwargs)
            networks.cells.append(weakref.ref(cell))

        def cell_load(cell: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_optimizer(cell):
                networks.meet(cell)
            return load(cell, *args, **kwargs)

        def cell_read(cell: Any, *args: Any, **kwargs: Any) -> Any:
            if (
                not networks.is_meeting and not args and not kwargs and not is_optimizer(cell)
            ):  # those of its parts are read with arguments
                networks.meet_owners({id(p) for p in cell.get_parameters()})
            return read(cell, *args, **kwargs)

        def load_into(net: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_optimizer(net):
                networks.meet(net)
            return into(net, *args, **kwargs)

        def copied(value: Any, *args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            is_copied = isinstance(value, nn.Cell) and not (
                is_of("ms_compat", caller) or is_being_made(is_network, caller)
            )
            if is_copied:
                networks.meet(value)
            result = deepcopy(value, *args, **kwargs)
            if is_copied:
                networks.known |= {id(p) for p in result.get_parameters()}
            return result

        nn.Cell.__init__, nn.Cell.load_state_dict, nn.Cell.state_dict = cell_start, cell_load, cell_read
        ms.load_param_into_net = load_into
        copy.deepcopy = copied  # type: ignore[assignment]
        self._watch_parameter_groups()

    def _watch_parameter_groups(self) -> None:
        """An optimizer is known by its parameters, which it keeps in a ParameterTuple."""
        import mindspore as ms

        networks, original = self, ms.ParameterTuple.__new__

        def make(kind: Any, iterable: Any) -> Any:
            result = original(kind, iterable)
            networks.meet_owners({id(p) for p in result})
            return result

        ms.ParameterTuple.__new__ = make

    def meet_owners(self, wanted: set[int]) -> None:
        if wanted <= self.known:
            return
        alive = [
            cell for cell in (reference() for reference in self.cells) if cell is not None and not is_optimizer(cell)
        ]
        inner = {id(child) for cell in alive for child in cell.cells()}
        for cell in alive:
            if id(cell) not in inner and any(id(p) in wanted for p in cell.get_parameters()):
                self.meet(cell, is_required=False)

    def meet_passing(self, cell: Any) -> None:
        """A layer that a network calls and does not own; the reference need not have one, where a helper is made of layers."""
        self.meet(cell, is_required=False, is_passing=True)

    def meet(self, cell: Any, is_required: bool = True, is_passing: bool = False) -> None:
        parameters = {id(p) for p in cell.get_parameters()}
        if parameters <= self.known or is_being_made(is_network, sys._getframe(1)):
            return
        self.is_meeting = True
        try:
            self._find_twin(cell, parameters, is_required, is_passing)
        finally:
            self.is_meeting = False

    def _find_twin(self, cell: Any, parameters: set[int], is_required: bool, is_passing: bool) -> None:
        error: WeightsMismatchError | None = None
        own = {name: each.asnumpy() for name, each in cell.parameters_and_names() if each.requires_grad}
        for root in self._candidates(PASSING if is_passing else type(cell).__name__):
            weights = self.exchange.read_weights(root)
            try:
                report = load_torch_weights(cell, weights)
            except WeightsMismatchError as mismatch:
                error = error or mismatch
                continue
            parts = (
                cell.cells_and_names()
            )  # each by itself: of two names for one parameter, the network tells the first alone
            targets = {
                name: each for path, part in parts for name, each in part.parameters_and_names(path, expand=False)
            }
            self.parameters |= {
                f"{root}:{entry.source}": targets[entry.path] for entry in report.entries if entry.path in targets
            }
            for entry in report.entries:
                told = starts_otherwise(weights[entry.source], own[entry.path]) if entry.path in own else ""
                self.starts += [f"first weights: {entry.source}: {told}"] if told else []
            self.taken.add(root)
            self.roots[id(cell)] = root
            self.known |= parameters
            return
        if is_required and any(p.requires_grad for p in cell.get_parameters()):
            raise error or MindferryError(
                f"the reference has no network that fits {type(cell).__name__}; its weights can't be shared"
            )

    def _candidates(self, kind: str) -> list[int]:
        """Networks of the reference that have no twin yet: those of the same class first; of a passing layer, passing ones alone."""
        kinds = self.exchange.networks()
        free = [root for root in range(len(kinds)) if root not in self.taken]
        if kind == PASSING:
            return [root for root in free if kinds[root] == PASSING]
        return sorted(free, key=lambda root: (kinds[root] != kind, kinds[root] == PASSING))


def is_optimizer(cell: Any) -> bool:
    from mindspore import nn

    return hasattr(cell, "param_groups") or isinstance(cell, nn.Optimizer)


def is_network(value: Any) -> bool:
    """Also while it is under construction, when an optimizer, which is a Cell too, is told by its bases alone."""
    from mindspore import nn

    return isinstance(value, nn.Cell) and not any(base.__name__.endswith("Optimizer") for base in type(value).__mro__)
