"""How often the training goes round: the outermost counted loop around a training step, whatever its variable is called."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..read.uses import Use
from .scan import CallSite, FileScan, line_of

STEP = "<step>"  # stands for a call that makes a training step, or a part of one
STEPS = frozenset((STEP, ".backward", ".zero_grad"))  # with such methods of something that is not known
LOOPS = (ast.For, ast.AsyncFor, ast.While)
WRAPPERS = ("tqdm", "trange", "enumerate", "track", "progress_bar", "reversed")


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """`for i in range(n)`: what its body calls, and whether a loop inside it does."""

    bound: ast.expr
    home: str
    path: str
    line: int
    calls: frozenset[str]
    inner_calls: frozenset[str]  # of loops inside it


@dataclass(slots=True)
class TrainingLoops:
    """The counted loops of all files, and what each function calls: a step may be several calls away."""

    loops: list[CountedLoop] = field(default_factory=list)
    called: dict[str, set[str]] = field(default_factory=dict)  # function -> what it calls
    looped: dict[str, set[str]] = field(default_factory=dict)  # function -> what it calls inside of loops

    def collect(self, scan: FileScan) -> None:
        parents = scan.reading.source.parents
        names = {call.node: _name(call, scan) for call in scan.calls}
        for call in scan.calls:
            self.called.setdefault(call.home, set()).add(names[call.node])
            parent = parents.get(call.node)
            while parent is not None and scan.homes.get(parent) == call.home:
                if isinstance(parent, LOOPS):
                    self.looped.setdefault(call.home, set()).add(names[call.node])
                    break
                parent = parents.get(parent)
        for node in scan.reading.source.nodes:
            if isinstance(node, ast.For) and (bound := count_of(node.iter, scan)) is not None:
                calls, inner = _calls(node, names), set[str]()
                for each in node.body:
                    inner |= {
                        name for part in ast.walk(each) if isinstance(part, LOOPS) for name in _calls(part, names)
                    }
                self.loops.append(
                    CountedLoop(bound, scan.homes[node], scan.path, line_of(node), calls, frozenset(inner))
                )

    def around_steps(self) -> list[tuple[CountedLoop, str]]:
        """The outermost loops that reach a step: "epochs" if another loop goes over batches inside, "steps" if not."""
        stepping = self._reaching(self.called)
        batched = {
            home for home, names in self.looped.items() if any(self._is_stepping(name, stepping) for name in names)
        }
        found = [loop for loop in self.loops if any(self._is_stepping(name, stepping) for name in loop.calls)]
        inside = {
            (other.path, other.line)
            for loop in found
            for other in found
            if other is not loop and other.path == loop.path and other.home == loop.home and loop.line < other.line
        }
        outer = [loop for loop in found if (loop.path, loop.line) not in inside]
        reached = {name for loop in outer for name in self._all_reached(loop.calls)}
        return [
            (loop, "epochs" if self._has_batches(loop, stepping, batched) else "steps")
            for loop in outer
            if loop.home not in reached
        ]

    def _has_batches(self, loop: CountedLoop, stepping: set[str], batched: set[str]) -> bool:
        if any(self._is_stepping(name, stepping) for name in loop.inner_calls):
            return True
        return any(self._is_of(name, batched) for name in self._all_reached(loop.calls))

    def _reaching(self, called: dict[str, set[str]]) -> set[str]:
        """Functions that make a step, themselves or by what they call."""
        found = {home for home, names in called.items() if names & STEPS}
        while True:
            more = {home for home, names in called.items() if home not in found and names & found}
            if not more:
                return found
            found |= more

    def _is_stepping(self, name: str, stepping: set[str]) -> bool:
        return name in STEPS or self._is_of(name, stepping)

    def _is_of(self, name: str, homes: set[str]) -> bool:
        """A function of the project; a method of something unknown counts if only one class has it."""
        if name in homes:
            return True
        if not name.startswith(".") or name in (".train", ".step", ".run", ".update", ".fit"):
            return False
        same = [home for home in self.called if home.endswith(name)]
        return len(same) == 1 and same[0] in homes

    def _all_reached(self, names: frozenset[str]) -> set[str]:
        found, waiting = set(names), list(names)
        while waiting:
            for name in self.called.get(waiting.pop(), ()):
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        return found


def count_of(node: ast.expr, scan: FileScan) -> ast.expr | None:
    """`n` of `range(n)`, `range(1, n + 1)`, `tqdm(range(n))`, `trange(n)`."""
    while isinstance(node, ast.Call):
        name = scan.text(node.func).rpartition(".")[2]
        if name in ("range", "trange") and node.args:
            match node.args:
                case [ast.Constant(value=int(first)), ast.Constant(value=int(last)), *_]:
                    return ast.copy_location(ast.Constant(last - first), node)
            return node.args[0] if len(node.args) == 1 else node.args[1]
        if name not in WRAPPERS or not node.args:
            return None
        node = node.args[0]
    return None


def _name(call: CallSite, scan: FileScan) -> str:
    made = scan.uses.of(call.name, (Use.BACKWARD, Use.BACKWARD_FUNCTION, Use.STEP))
    return STEP if made is not None else call.name


def _calls(node: ast.AST, names: dict[ast.Call, str]) -> frozenset[str]:
    return frozenset(names[part] for part in ast.walk(node) if isinstance(part, ast.Call) and names.get(part))
