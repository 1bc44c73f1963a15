"""Texts that name torch's layers and functions: `eval("nn.ReLU()")` gets a table of what the text may name, `"torch.optim.Adam"` is renamed.

Whether code evaluates texts, or imports what they name, is known of the whole project (convert/names_in_text.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ... import findings
from ..facts import Facts
from ..module_tables import classes_of
from ..names_in_text import in_text, is_looked_up, target_of
from ..plan import Change, InsertAfter, ReplaceNode, Texts, claim
from . import built_names

ADVICE = "name what the text may hold in the project, as a string or in a configuration, and convert again"
ELSEWHERE = "eval() runs a text that comes from elsewhere: what it names of torch's is not converted"
EXECUTED = "exec() runs a text that names what was torch's: statements in a text are not converted"
HOLE = re.escape(built_names.HOLE)


def plan(facts: Facts) -> Iterator[Change]:
    if facts.source.mentions("eval"):
        for call in facts.source.calls_named("eval"):
            if isinstance(call.func, ast.Name) and not facts.stores("eval") and call.args:
                yield from _evaluate(facts, call)
    if facts.source.mentions("exec"):
        for call in facts.source.calls_named("exec"):
            if isinstance(call.func, ast.Name) and not facts.stores("exec") and call.args:
                yield from _execute(facts, call)
    if facts.settings.texts.helpers:
        for text in facts.source.of(ast.Constant):
            yield from _rename(facts, text)


def _modules(facts: Facts) -> dict[str, str]:
    """What the file imports of torch's, by the names that it gives them."""
    names = facts.reading.scope.names.items()
    return {name: kind.qual for name, kind in names if kind.kind == "ref" and facts.framework.is_own(kind.qual)}


def _execute(facts: Facts, call: ast.Call) -> Iterator[Change]:
    """Statements in a text are not converted; those that name torch fail when they run."""
    modules = facts.derived(_modules)
    patterns = built_names.patterns(facts, call.args[0])
    named = {word for text in patterns or () for word in re.findall(r"[A-Za-z_]\w*", text)}
    if named & {*modules, facts.framework.name}:
        yield facts.found(call, findings.MF102, EXECUTED, "write the statements as code, and convert again", "error")
    elif patterns is None and modules:
        yield facts.found(call, findings.MF102, ELSEWHERE.replace("eval()", "exec()"), ADVICE, "note")


def _evaluate(facts: Facts, call: ast.Call) -> Iterator[Change]:
    """With a table of what the text may name: no name of torch's is left in the file that runs it."""
    modules = facts.derived(_modules)
    if not modules:
        return
    patterns = built_names.patterns(facts, call.args[0])
    words, is_sure = _named(facts, patterns)
    targets = {word: target for word, api in words.items() if (target := target_of(api, facts.rules))}
    helpers = facts.settings.texts.helpers
    if helpers:  # texts name these as they stand in a configuration by then
        targets |= {in_text(target, helpers): target for word, target in targets.items() if facts.framework.has(word)}
    is_elsewhere = patterns is None and not any(facts.rules.is_module(modules[word.split(".")[0]]) for word in words)
    if is_elsewhere:
        yield facts.found(call, findings.MF102, ELSEWHERE, ADVICE, "note")
    if lacking := sorted(words.keys() - targets.keys()):
        said = f"{', '.join(lacking)}, which a text may name that is evaluated here, has no counterpart"
        yield facts.found(call, findings.MF102, said, ADVICE, "error", facts.framework.name)
    if not is_sure:
        said = (
            f"what the text names that is evaluated here can't be told; the table has {', '.join(targets) or 'nothing'}"
        )
        yield facts.found(call, findings.MF102, said, ADVICE, "warning", facts.framework.name)
    if not targets or len(call.args) > 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return

    def table(texts: Texts) -> str:
        named = ", ".join(f"{word!r}: {texts.name(target)}" for word, target in sorted(targets.items()))
        return f", {{**globals(), **locals()}}, {{{named}}}"

    yield claim(call.func)
    yield ReplaceNode(call.func, lambda texts: texts.name("compat.evaluate"))
    yield InsertAfter(call.args[0], table)
    yield facts.record(call, facts.framework.name, facts.source.text(call), "ms_compat.evaluate(…)")


def _named(facts: Facts, patterns: set[str] | None) -> tuple[dict[str, str], bool]:
    """(what a text may name, as it spells it, with torch's own name; whether that is all)."""
    modules = facts.derived(_modules)
    found = {name: qual for name, qual in modules.items() if facts.rules.get(qual) is not None}
    if patterns is None:
        return found | facts.derived(_in_all_texts), True
    is_sure, texts = True, [each for each in patterns if built_names.HOLE not in each]
    for each in patterns - set(texts):
        more, is_whole = _filled(facts, modules, each)
        found |= more
        is_sure = is_sure and is_whole
    return found | _in_texts(facts, texts), is_sure


def _in_all_texts(facts: Facts) -> dict[str, str]:
    """Of the project's texts and the file's: looked through once, for all that is evaluated here. Not all of them is code."""
    found = _in_texts(facts, [*facts.settings.texts.words, *_mentioned(facts)])
    return {word: api for word, api in found.items() if facts.rules.get(api) is not None}


def _in_texts(facts: Facts, texts: Iterable[str]) -> dict[str, str]:
    modules = facts.derived(_modules)
    aliases = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, modules))})((?:\.\w+)+)")
    found = {
        f"{match[1]}{match[2]}": f"{modules[match[1]]}{match[2]}" for text in texts for match in aliases.finditer(text)
    }
    return {
        word: api for word, api in found.items() if facts.rules.get(api) is not None or not facts.rules.is_module(api)
    }


def _filled(facts: Facts, modules: dict[str, str], pattern: str) -> tuple[dict[str, str], bool]:
    """`f"nn.{name}()"`: the names that fit, of those that this file mentions where nothing else is known."""
    found: dict[str, str] = {}
    is_whole = True
    for alias, qual in modules.items():
        for match in re.finditer(rf"(?<![\w.]){re.escape(alias)}((?:\.\w+)*)\.([\w{HOLE}]*{HOLE}[\w{HOLE}]*)", pattern):
            home, tail = f"{qual}{match[1]}", match[2]
            names = list(classes_of(home, facts.rules, facts.framework))
            if tail.strip(built_names.HOLE):
                names = built_names.names_like(tail, _held(facts, home))
            elif not names:
                names, is_whole = [name for name in _held(facts, home) if name in facts.derived(_mentioned)], False
            found |= {f"{alias}{match[1]}.{name}": f"{home}.{name}" for name in names}
    return found, is_whole


def _held(facts: Facts, home: str) -> list[str]:
    prefix = facts.framework.canonical(f"{home}.")
    tails = (each.api[len(prefix) :] for each in facts.rules if each.api.startswith(prefix))
    return sorted(name for name in tails if name.isidentifier())


def _mentioned(facts: Facts) -> set[str]:
    return {each.value for each in facts.source.of(ast.Constant) if isinstance(each.value, str)}


def _rename(facts: Facts, text: ast.Constant) -> Iterator[Change]:
    """`"torch.optim.Adam"`, of which code imports what it names."""
    api, parent = text.value, facts.parents.get(text)
    if not isinstance(api, str) or not is_looked_up(api, facts.rules) or isinstance(parent, ast.Expr | ast.JoinedStr):
        return
    target = target_of(api, facts.rules)
    if not target:
        said = f"{api} is named in a text, is looked up when the program runs, and has no counterpart"
        yield facts.found(text, findings.MF102, said, findings.MF102.advice, "error", api)
        return

    def spelled(texts: Texts) -> str:
        if target.startswith("compat."):
            texts.name(target)  # it has to be among the helpers
        return repr(in_text(target, facts.settings.texts.helpers))

    yield claim(text)
    yield ReplaceNode(text, spelled)
    yield facts.record(text, api, repr(api), spelled)
