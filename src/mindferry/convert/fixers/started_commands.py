"""`subprocess.run(["torchrun", "train.py"])`: a launcher of torch's that the code itself starts is named; msrun takes other options."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change
from ..shell_scripts import ADVICE, launcher_in

STARTERS = (
    "system popen run call check_call check_output Popen execvp spawnvp getoutput create_subprocess_shell".split()
)


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named(*STARTERS):
        for command in (each for argument in call.args for each in _commands(facts, argument)):
            if launcher := launcher_in(_words(command)):
                said = f"this starts {launcher}, which comes with torch; the converted script is not started by it"
                yield facts.found(call, findings.MF909, said, ADVICE)
                break


def _commands(facts: Facts, argument: ast.expr) -> Iterator[ast.expr]:
    """The argument, or what the file binds to its name."""
    yield argument
    if isinstance(argument, ast.Name):
        for node in facts.source.of(ast.Assign):
            if any(isinstance(each, ast.Name) and each.id == argument.id for each in node.targets):
                yield node.value


def _words(command: ast.expr) -> str:
    """The command as a shell would have it, as far as it is written out; another part of it is a word that says nothing."""
    match command:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_words(part) for part in parts)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return " ".join(_words(part) for part in parts)
        case ast.BinOp(left=left, right=right):
            return f"{_words(left)} {_words(right)}" if isinstance(left, ast.List) else _words(left) + _words(right)
        case ast.Attribute(attr="executable") | ast.FormattedValue(value=ast.Attribute(attr="executable")):
            return "python"
        case ast.Call(func=ast.Attribute(value=held, attr="format" | "split")):
            return _words(held)
    return "X"
