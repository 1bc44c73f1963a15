"""What reading a project needs to know of the framework that it is written for. apis/<name>/ has the facts."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from .types import Type
from .uses import Uses


class Role(Enum):
    """What a class of the framework's is for."""

    NONE = "none"
    NETWORK = "network"
    LOSS = "loss"  # a network without parameters, at the end
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    DATASET = "dataset"
    LOADER = "loader"
    DATA = "data"  # samplers and the like
    TRANSFORM = "transform"
    GRADIENT = "gradient"  # a function with a gradient of its own


@dataclass(frozen=True, slots=True)
class Members:
    """Names of methods and attributes, by what they tell of a receiver that nothing else is known of."""

    attributes: Mapping[str, Type]  # of a tensor -> what they are
    parts: Mapping[str, Type]  # of a result with several tensors, by name -> what they are
    in_place: frozenset[str]  # methods that change their tensor
    distinctive: frozenset[str]  # only tensors have them: a name used with one is a tensor, wherever it came from
    unmistakable: frozenset[str]  # those of them that need no second hint
    of_networks: frozenset[str]  # only networks have them
    shared: frozenset[str]  # networks have them, and other things too: the receiver's name must tell
    parameters: frozenset[str]  # attributes of layers that are tensors
    of_network_tables: frozenset[str]  # of a dictionary of networks; any other attribute is one of its networks
    returning_self: frozenset[str]  # methods of networks
    network_results: Mapping[str, Type]  # methods of networks -> what they return
    of_all_tensors: frozenset[str]  # every method and attribute of a tensor
    of_all_networks: frozenset[str]  # every method and attribute of a network
    parameter_names: frozenset[str]  # methods of networks that make an attribute of the name that they are given


@dataclass(frozen=True, slots=True)
class ListedCall:
    """A call of the checklist that `mindferry analyze` makes."""

    title: str
    position: int = -1  # of the argument that is shown
    argument: str = ""


@dataclass(frozen=True, slots=True)
class ListedArgument:
    """An argument by which a trick is asked for: `clipnorm=1.0` of any optimizer, `epochs=5` of `fit`."""

    topic: str
    title: str
    functions: tuple[
        str, ...
    ] = ()  # last parts of the names that it counts for; all of the framework's, if none is named


@dataclass(frozen=True, slots=True, eq=False)
class Framework:
    name: str
    roots: tuple[str, ...]  # top-level packages whose names stand in the table
    homes: tuple[str, ...]  # where classes of its own are: prefixes
    packages: re.Pattern[str]  # modules that a project imports as a whole
    functional: tuple[str, str]  # the module of functions that take a tensor first: its name, its usual alias
    tensor: str
    tensor_classes: frozenset[str]  # what makes a tensor when called, or promises one in an annotation
    annotations: frozenset[str]  # of these, and of others, what an annotation promises a tensor by
    network: str
    optimizer: str
    loader: str
    dtype: str
    device: str
    dtypes: frozenset[str]
    lists_of_networks: frozenset[str]
    table_of_networks: str
    size: str  # the class of a tensor's shape
    functions: tuple[str, ...]  # modules whose functions take a tensor first: x.foo(y) may follow foo(x, y)
    answering: tuple[tuple[str, str], ...]  # (prefix of a class, the class whose methods' entries answer for it, or '')
    is_lost: Callable[[str, str], bool]  # (class, method): what the helper class for it does not have
    pairs: frozenset[str]  # functions that give values and indices if they are given a dimension
    takes_parameters: tuple[str, ...]  # where functions and classes are that get a network's parameters
    forward: frozenset[str]  # the method that a network computes with, before and after the conversion
    gradient_methods: frozenset[str]  # of a function with a gradient of its own
    saved_tensors: str  # attribute of such a function's context
    gradient: str  # attribute of a parameter
    members: Members
    uses: Uses
    counterparts: Mapping[str, str]  # module -> where a new import line stands best beside it: MindSpore's, or "compat"
    families: tuple[tuple[str, str], ...]  # (prefix, folder of the entries), the longest first
    short: tuple[tuple[str, str], ...]  # prefixes as one writes them in code
    page: str  # where an API is documented, with {api} for its name
    checklist: Mapping[str, ListedCall]  # API -> what it is called there
    roles: tuple[tuple[str, Role], ...]  # (prefix, role), the longest prefix first
    role_homes: tuple[str, ...]  # the prefixes alone: most names are none of them, which must be told fast
    canonical: Callable[[str], str]  # the one name of what it exports in several places
    call_result: Callable[[str, int], Type]  # (API, number of arguments) -> what it returns
    method_result: Callable[[str, int], Type]  # (method of a tensor, number of arguments)
    network_call_result: Callable[..., Type]  # (class of its own, type of the first argument if there is one)
    object_method: Callable[[str, str, int], Type]  # (class, method, number of arguments) of what is no network
    object_attribute: Callable[[str, str], Type]  # (class, attribute)
    typed_tensors: Mapping[str, str] = field(
        default_factory=dict
    )  # class of tensors of one type -> MindSpore's name of that
    tensor_maker: str = ""  # what stands for the tensor class where it is handed on to be called
    listed_arguments: Mapping[str, ListedArgument] = field(default_factory=dict)  # of the checklist, by their names
    leading: int = 1  # arguments of an optimizer or a schedule that are no settings: torch's parameters or optimizer
    helpers: str = "ms_compat"  # what the module is called that its helpers are emitted as
    laid_out: tuple[str, ...] = ()  # beginnings of the names of layers for which it matters where the channels are
    layout: str = ""  # where a converted network has its channels, where that is not MindSpore's own place

    def is_own(self, qual: str) -> bool:
        """Whether a dotted name begins with one of the framework's packages."""
        return qual.partition(".")[0] in self.roots

    def has(self, qual: str) -> bool:
        """Whether it is a name in one of the framework's packages."""
        head, dot, _ = qual.partition(".")
        return bool(dot) and head in self.roots

    def is_of_tensor(self, api: str) -> bool:
        """Whether it is a method or attribute of tensors."""
        return api.startswith(f"{self.tensor}.")

    def is_of_network(self, api: str) -> bool:
        """Whether it is a method or attribute of every network."""
        return api.startswith(f"{self.network}.")

    def is_of_value(self, api: str) -> bool:
        return self.is_of_tensor(api) or self.is_of_network(api)

    def of_tensor(self, name: str) -> str:
        return f"{self.tensor}.{name}"

    def of_network(self, name: str) -> str:
        return f"{self.network}.{name}"

    def is_in_place(self, api: str) -> bool:
        """x.add_, torch.relu_, F.elu_: the value goes into the first argument too. The fixer `in_place` sees to that."""
        home, _, name = api.rpartition(".")
        is_named_so = name.endswith("_") and not name.startswith("_")
        return is_named_so and (home == self.tensor or home in self.functions)

    def of_optimizer(self, name: str) -> str:
        return f"{self.optimizer}.{name}"

    def role(self, qual: str) -> Role:
        """Of a class of the framework's own."""
        return _role(self, qual) if qual.startswith(self.role_homes) else Role.NONE

    def is_network(self, qual: str) -> bool:
        return self.role(qual) in (Role.NETWORK, Role.LOSS)


@functools.cache
def _role(framework: Framework, qual: str) -> Role:
    role = next(role for prefix, role in framework.roles if qual.startswith(prefix))
    return Role.LOSS if role is Role.NETWORK and qual.endswith("Loss") else role
