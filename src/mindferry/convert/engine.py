"""One file: read it, plan its changes, write them, and make sure that what comes out compiles."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from .. import findings
from ..apis import Form, Rule, table
from ..apis._call import Call
from ..apis._lookup import api_of, rule_for
from ..apis.torch._packages import need_of_torch
from ..artifacts import Finding, Rewrite, Site
from ..layout import ALL_ROOTS
from ..read.fstrings import is_located
from ..read.infer import read
from ..read.observed import ObservedTypes
from ..read.source import Source, Unreadable, is_script
from ..read.symbols import Symbols
from ..read.tensor_words import works_on_tensors
from ..read.types import Provenance
from ..read.uses import Use
from .context import Context
from .dispatch import (
    ask_tensor,
    dispatch_attribute,
    dispatch_call,
    dispatch_face,
    is_defined_here,
    is_only_of_arrays,
)
from .facts import Facts
from .fixers import FIXERS
from .fixers.brought_imports import imported_by_text
from .fixers.setup_requirements import asks_for_torch
from .fixers.tensorflow.graph_code import refuse_graph_code
from .from_observation import mark_observed
from .gather import gather
from .ledger import account
from .module_tables import classes_of
from .older_files import older_findings
from .plan import Plan
from .references import is_type_position, target_of_reference
from .render.comment_out_decorators import comment_out
from .render.comments import keep_comments
from .render.helpers_module import SETTINGS
from .render.imports import HelpersImport, Imports, fill_empty_blocks
from .render.mark_findings import mark_findings
from .render.requote_strings import requote
from .render.split_lines import apart
from .render.write import PlanWriter
from .run_rule import UNBOUND, run_rule
from .settings import Settings, chosen_rules
from .verdict import Outcome, Verdict

PORTABLE = Settings()
IMPORTED = HelpersImport()
CONVERTED = (ast.Call, ast.Attribute)
HELPERS = "compat"  # the module that the helpers are written to, whatever it is called
CONTAINERS = (dict, list, str)
OF_OBJECTS = frozenset("__repr__ __str__ __hash__ __eq__ __ne__ __dir__".split())  # methods that any object has


@dataclass(slots=True)
class FileResult:
    code: str
    rewrites: list[Rewrite]
    findings: list[Finding]
    compat: set[str]
    sites: list[Site] = field(default_factory=list)
    tree: ast.Module | None = None  # of the code, where it was parsed


def convert_file(
    source: Source,
    symbols: Symbols,
    module: str = "__main__",
    is_package: bool = False,
    helpers: HelpersImport | None = IMPORTED,
    settings: Settings = PORTABLE,
    is_notebook: bool = False,
) -> FileResult:
    planned = plan_file(source, symbols, module, is_package, settings, is_notebook)
    result = planned.write(helpers)
    if planned.facts is not None:
        planned.facts.forget()  # without the garbage collector it would stay in memory: what is derived refers to it
    return result


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that was read and planned; it may be written more than once."""

    given: Source
    facts: Facts | None  # None: it stays as it is
    plan: Plan
    lines: list[int]  # where each line stood in what was given, if statements were set apart
    is_plain: bool = False  # nothing in the file speaks of the framework: only what is certainly a tensor's is changed
    refused: tuple[Finding, ...] = ()  # why it stays as it is

    def write(self, helpers: HelpersImport | None = IMPORTED) -> FileResult:
        """With the helpers imported so; None defines them in the file itself."""
        result = self._written(helpers)
        result.findings.extend(older_findings(self.given, self.facts, self.lines))
        return result

    def _written(self, helpers: HelpersImport | None) -> FileResult:
        if self.facts is None:
            return FileResult(self.given.data.decode("utf-8"), [], list(self.refused), set())
        result = _write(self.facts, self.plan, helpers)
        if self.is_plain and not any(_is_of_framework(each.rule) for each in result.rewrites):
            found = [each for each in result.findings if _is_of_framework(each.rule)]
            return FileResult(self.given.data.decode("utf-8"), [], found, set())
        if not self.lines:
            return result
        if not result.rewrites or any(each.code == findings.MF901 for each in result.findings):
            result.code, result.tree = self.given.data.decode("utf-8"), None
        result.rewrites = [replace(each, line=self.lines[each.line - 1]) for each in result.rewrites]
        result.sites = [replace(each, line=self.lines[each.line - 1]) for each in result.sites]
        result.findings = [
            each if each.code == findings.MF901 else replace(each, line=self.lines[each.line - 1])
            for each in result.findings
        ]
        return result


def plan_file(
    source: Source,
    symbols: Symbols,
    module: str = "__main__",
    is_package: bool = False,
    settings: Settings = PORTABLE,
    is_notebook: bool = False,
) -> PlannedFile:
    plan = Plan()
    is_plain = _is_without_torch(source, symbols, module) and not works_on_tensors(source, symbols)
    may_matter = not is_plain or _imports_project(source, symbols) or _asks_networks(source, symbols)
    if _is_ported(source, symbols) or not may_matter:
        return PlannedFile(source, None, plan, [])
    framework = symbols.framework.name
    is_torch = framework == "torch"
    set_apart, lines = apart(source, is_notebook) if is_torch and settings.applies("training") else (source, [])
    reading = read(set_apart, symbols, module, is_package, table(framework).is_api, lines)
    if not is_torch and (refused := refuse_graph_code(reading)) is not None:
        return PlannedFile(source, None, plan, [], refused=(refused,))
    facts = gather(reading, chosen_rules(settings, framework), settings, is_notebook)
    for fixer in FIXERS:
        if fixer.source == framework and settings.applies(fixer.name):
            plan.add(fixer.name, fixer.plan(facts))
    return PlannedFile(source, facts, plan, lines, is_plain)


def _write(facts: Facts, plan: Plan, helpers: HelpersImport | None) -> FileResult:
    source, settings = facts.source, facts.settings
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if facts.is_notebook else 0
    context = Context(facts, plan, Imports(facts.reading, helpers, may_be_absent=plan.may_be_absent))
    if settings.is_restricted:
        _keep_names(context)
    writer = PlanWriter(plan, context)
    writer.before_rules()
    handled, waits, types = context.handled, plan.at_node.keys() | plan.kept, context.reading.types
    for node in reversed(source.nodes):  # every node after all of its parts
        kind = type(node)
        if kind is ast.Name:
            known = types.get(node)
            if known is not None and known.kind == "ref" and node not in handled and is_located(node):  # no variable
                _convert_node(node, context)
        elif kind in CONVERTED and node not in handled and is_located(node):
            _convert_node(node, context)
        if node in waits:
            writer.at_node(node)
    comment_out(context)
    mark_findings(context)
    writer.at_end()
    sites = account(context)
    keep_comments(context.edits)
    if context.rewrites and is_script(source.data):
        context.imports.spell(f"compat.{SETTINGS}")
    context.imports.rewrite(context.edits, context.findings)
    fill_empty_blocks(context.edits)
    requote(context.edits)
    code = context.edits.apply()
    try:
        tree = _compiled(code, source.path, flags)
    except (SyntaxError, ValueError) as error:
        _check_compiles(source, flags)
        lineno = getattr(error, "lineno", 1) or 1
        finding = Finding(
            findings.MF901,
            "error",
            source.path,
            lineno,
            1,
            f"the conversion of this file would not compile ({error}), so it stays as it was",
            "please report this as a bug of mindferry, with the file",
        )
        return FileResult(source.data.decode("utf-8"), [], [finding], set())
    met = [
        Finding(findings.MF906, "error", source.path, line, 1, what, findings.MF906.advice)
        for line, what in plan.conflicts
    ]
    found = sorted([*context.findings, *met], key=lambda f: (f.line, f.column, f.code))
    return FileResult(code, mark_observed(context), found, context.imports.compat, sites, tree)


def _compiled(code: str, path: str, flags: int) -> ast.Module:
    """The code's tree, which compiles: it is parsed once for this and for what is asked of the tree later."""
    tree: ast.Module = compile(code, path, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    try:
        compile(tree, path, "exec", flags, dont_inherit=True)
    except RecursionError:  # the text may be nested deeper than a tree that is handed over
        compile(code, path, "exec", flags, dont_inherit=True)
    return tree


def _is_ported(source: Source, symbols: Symbols) -> bool:
    """Whether the file is MindSpore code already, such as what a conversion wrote: it imports that or its helpers, and no torch."""
    helpers = symbols.framework.helpers
    if b"mindspore" not in source.data and helpers.encode() not in source.data:
        return False
    names = {alias.name.partition(".")[0] for node in source.of(ast.Import) for alias in node.names}
    for node in source.of(ast.ImportFrom):
        names |= {(node.module or "").partition(".")[0]} if not node.level else {alias.name for alias in node.names}
    return bool(names & {"mindspore", helpers}) and not names & (set(symbols.framework.roots) - symbols.roots)


def _is_without_torch(source: Source, symbols: Symbols, module: str) -> bool:
    """Whether nothing says that the file ever meets a tensor: it does not name torch, and no file that does imports it."""
    if module in symbols.beside or symbols.seen != ObservedTypes() or asks_for_torch(source):
        return False
    own, is_torch = symbols.framework.roots, symbols.framework.name == "torch"
    needs = {name for name in imported_packages(source) if name not in symbols.roots} if is_torch else set()
    if not any(name.encode() in source.data for name in (*own, *symbols.ported)):
        return not any(map(need_of_torch, needs))
    wanted = {*own, *symbols.ported}
    names = {alias.name.partition(".")[0] for node in source.of(ast.Import) for alias in node.names}
    names |= {(node.module or "").partition(".")[0] for node in source.of(ast.ImportFrom)}
    if names & wanted or any(node.id in wanted for node in source.of(ast.Name)):
        return False
    names = {text.partition(".")[0] for text in imported_by_text(source).values()}
    if any(map(need_of_torch, needs)):
        return False
    return not names & wanted  # a docstring or a comment may speak of torch


def imported_packages(source: Source) -> set[str]:
    """The top-level names of what a file imports from outside of its own package."""
    names = {alias.name.partition(".")[0] for node in source.of(ast.Import) for alias in node.names}
    return names | {(node.module or "").partition(".")[0] for node in source.of(ast.ImportFrom) if not node.level}


def _imports_project(source: Source, symbols: Symbols) -> bool:
    """Whether something of the project's own, which may be a network, comes into the file."""
    if any(node.level or (node.module or "").partition(".")[0] in symbols.roots for node in source.of(ast.ImportFrom)):
        return True
    return any(alias.name.partition(".")[0] in symbols.roots for node in source.of(ast.Import) for alias in node.names)


def _asks_networks(source: Source, symbols: Symbols) -> bool:
    """Whether a method is called that only networks have: `thing.named_parameters()` would fail on a Cell, whatever imports the file."""
    names = symbols.framework.members.of_networks
    return any(isinstance(node.func, ast.Attribute) and node.func.attr in names for node in source.of(ast.Call))


def _is_of_framework(rule: str) -> bool:
    return rule.partition(".")[0] in ALL_ROOTS


def _check_compiles(source: Source, flags: int) -> None:
    """Some mistakes are not found by parsing: `return` outside of a function, an argument given twice."""
    try:
        compile(source.data.decode("utf-8"), source.path, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        message, line = (error.msg, error.lineno) if isinstance(error, SyntaxError) else (str(error), 1)
        raise Unreadable(f"not valid Python 3: {message}", line or 1) from None


def _keep_names(context: Context) -> None:
    """Names of torch's that are left alone on request stay imported."""
    for node in (*context.source.of(ast.Name), *context.source.of(ast.Attribute)):
        api, receiver, _ = api_of(node, context.reading, context.rules)
        if (
            api
            and receiver is None
            and (entry := context.rules.get(api)) is not None
            and not context.settings.applies_to(api, entry.api)
        ):
            base: ast.expr = node
            while isinstance(base, ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                context.imports.kept.add(base.id)


def _is_skipped(node: ast.AST, api: str, entry: Rule, context: Context) -> bool:
    if context.settings.applies_to(api, entry.api):
        return False
    if entry.form is not Form.UNKNOWN:
        context.find(node, findings.MF103, f"{api}: left as it was, as --only or --skip asked", rule=api)
    return True


def _note_platform(node: ast.AST, api: str, entry: Rule, context: Context) -> None:
    if context.settings.target == "portable" and "CPU" not in entry.platforms:
        context.find(
            node,
            findings.MF104,
            f"{api}: {entry.to} runs on Ascend only",
            "give --target ascend if that is where it runs",
            "warning",
            api,
        )


def _convert_node(node: ast.AST, context: Context) -> None:
    if type(node) is ast.Call:
        _convert_call(node, context)
    elif (type(node) is ast.Attribute or type(node) is ast.Name) and type(node.ctx) is ast.Load:
        parent = context.source.parents.get(node)
        if type(parent) is ast.Attribute:
            if type(node) is ast.Attribute:
                _convert_inner(node, context)
        elif not (type(parent) is ast.Call and parent.func is node):
            _convert_reference(node, context)


def _convert_call(node: ast.Call, context: Context) -> None:
    found = api_of(node.func, context.reading, context.rules)
    framework, receiver = context.framework, found.receiver
    entry = context.instead.get(node) or rule_for(found, context.rules)
    if not found.api and (entry is None or is_defined_here(node, context)):
        dispatch_call(node, context)
        return
    api = found.api or framework.of_tensor(found.unknown)
    if entry is None:
        name = api.rpartition(".")[2]
        is_container_s = name not in framework.members.of_all_tensors and any(
            hasattr(each, name) for each in CONTAINERS
        )
        if framework.is_of_tensor(api) and is_container_s:  # `batch.items()`
            context.verdicts[node.func] = Verdict(Outcome.NOT_TORCH, "no tensor has such a method", "proven")
        elif framework.is_of_tensor(api):
            is_known = name in framework.members.of_all_tensors and _is_proven(receiver, context)
            _unknown(node, api, context, severity="error" if is_known or framework.is_in_place(api) else "warning")
        elif framework.is_own(api) and not framework.is_of_network(api) and name not in OF_OBJECTS:
            _unknown(node, api, context)
        return
    if _is_skipped(node, api, entry, context):
        return
    if framework.is_of_tensor(api) and is_only_of_arrays(node):
        context.verdicts[node.func] = Verdict(Outcome.NOT_TORCH, "numpy's method takes these arguments", "proven")
        return
    if framework.uses.has(Use.NEEDS_NO_INSTANCE, api):
        receiver = None
    before = context.source.text(node)
    call = Call(node, entry, context.reading, context.edits, context.imports, receiver)
    call.noted = context.notes.get(node, "")
    run_rule(call, entry)
    if call.is_kept or (call.refusal and not found.api):
        context.verdicts.setdefault(node.func, Verdict(Outcome.CONVERTED, "stays as it is", "proven"))
        dispatch_call(node, context)
        return
    if call.is_asked and ask_tensor(node, api, context):
        return
    if call.refusal:
        message, advice = call.refusal
        context.find(node, findings.MF101, f"{api}: {message}", advice, rule=api)
        context.verdicts[node.func] = Verdict(Outcome.LEFT, message, "proven")
        return
    call.apply()
    context.verdicts[node.func] = Verdict(Outcome.CONVERTED, "", "proven" if found.api else "unknown")
    _note_platform(node, api, entry, context)
    if told := call.note or call.warning:
        context.find(node, findings.MF110, f"{api}: {told}", severity="warning" if call.warning else "", rule=api)
    line, column = context.source.position(context.source.start(node))
    context.rewrites.append(Rewrite(line, column + 1, entry.api, before, context.edits.text(node)))


def _is_proven(receiver: ast.expr | None, context: Context) -> bool:
    """Not by what callers give: a function may look at what it got, and go other ways with other things."""
    if receiver is None or context.reading.type(receiver).provenance is Provenance.ASSUMED:
        return False
    function = context.enclosing(receiver, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    given = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)} if function is not None else set()
    return not isinstance(receiver, ast.Name) or receiver.id not in given


def _unknown(node: ast.AST, api: str, context: Context, severity: str = "error") -> None:
    advice = f"convert it by hand, or add a rule: `mindferry rules new {api}`"
    if context.rules.framework.uses.has(Use.READY_MODEL, api):
        library = api.partition(".")[0]
        advice = f"convert with --with {library}, which brings the network along"
    context.find(node, findings.MF100, f"{api} has no rule", advice, severity, api)


def _convert_reference(node: ast.Attribute | ast.Name, context: Context) -> None:
    """A torch name that is not called here: a class as a value, a dtype, a base class, an annotation, a tensor's attribute."""
    api, receiver, _ = api_of(node, context.reading, context.rules)
    if isinstance(node, ast.Attribute) and not api:
        dispatch_attribute(node, context)
        return
    if not api or (receiver is None and context.rules.is_module(api) and context.rules.get(api) is None):
        if api and isinstance(node, ast.Name | ast.Attribute):
            _convert_module(node, api, context)
        return
    if receiver is not None:
        entry = context.rules.attribute(api)
        if entry is not None and isinstance(node, ast.Attribute) and not _is_skipped(node, api, entry, context):
            _convert_attribute(node, entry, receiver, context)
        elif entry is None and isinstance(node, ast.Attribute):
            dispatch_face(node, context)
        return
    entry = context.rules.get(api)
    if entry is None:
        _unknown(node, api, context)
        return
    if _is_skipped(node, api, entry, context):
        return
    target = target_of_reference(node, api, entry, context)
    if entry.missing or not target:
        context.find(
            node, findings.MF101, f"{api}: {entry.missing or 'has no counterpart as a value'}", entry.advice, rule=api
        )
        return
    if target.startswith("."):
        context.find(node, findings.MF101, f"{api}: {UNBOUND[0]}", UNBOUND[1], rule=api)
        return
    _note_platform(node, api, entry, context)
    before, text = context.source.text(node), context.imports.spell(target)
    context.edits.replace_node(node, text)
    line, column = context.source.position(context.source.start(node))
    context.rewrites.append(Rewrite(line, column + 1, entry.api, before, text))


def _convert_module(node: ast.Name | ast.Attribute, api: str, context: Context) -> None:
    """A module of torch's that is neither called into nor looked into here."""
    if is_type_position(node, context) or _is_renaming(node, api, context):  # evaluated, although it means nothing
        home = context.framework.counterparts.get(api, "mindspore")
        if home == HELPERS:  # a module has no name but that of what it holds
            home = context.imports.spell(f"{HELPERS}.prepare_cpu").rpartition(".")[0]
            context.edits.replace_node(node, home)
        else:
            context.edits.replace_node(node, context.imports.spell(home))
    elif classes := classes_of(api, context.rules, context.framework):
        before, spell = context.source.text(node), context.imports.spell
        table = ", ".join(f"{name!r}: {spell(target)}" for name, target in classes.items())
        text = f"type({api.rpartition('.')[2]!r}, (), {{{table}}})"
        context.edits.replace_node(node, text)
        line, column = context.source.position(context.source.start(node))
        context.rewrites.append(Rewrite(line, column + 1, api, before, text))
    else:
        context.find(
            node,
            findings.MF102,
            f"{api} as a value has no counterpart",
            "name what is taken from it, and convert again",
            rule=api,
        )


def _is_renaming(node: ast.expr, api: str, context: Context) -> bool:
    """`layers = tf.keras.layers`, where all that is taken by that name is taken by `layers.…`, and converted there."""
    parent = context.parents.get(node)
    if isinstance(parent, ast.Tuple):
        parent = context.parents.get(parent)
    if context.framework.counterparts.get(api) != HELPERS or not isinstance(parent, ast.Assign):
        return False
    names = {each.id for target in parent.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    uses = [each for each in context.source.of(ast.Name) if each.id in names and isinstance(each.ctx, ast.Load)]
    return bool(names) and all(isinstance(context.parents.get(each), ast.Attribute) for each in uses)


def _convert_attribute(node: ast.Attribute, entry: Rule, receiver: ast.expr, context: Context) -> None:
    """A tensor's attribute: the rule's target is a template with {x} for the tensor, or '.name'."""
    if entry.missing:
        context.find(node, findings.MF101, f"{entry.api}: {entry.missing}", entry.advice, rule=entry.api)
        return
    before = context.source.text(node)
    if entry.to.startswith("."):
        dot = context.source.find_token(b".", context.source.end(receiver), context.source.end(node))
        context.edits.replace(dot, context.source.end(node), entry.to)
    else:
        home = entry.to if "{" not in entry.to and entry.to != "False" else ""
        text = context.edits.text(receiver)
        if home:
            context.edits.replace_node(node, f"{context.imports.spell(home)}({text})")
        else:
            context.edits.replace_node(node, entry.to.replace("{x}", text))
    line, column = context.source.position(context.source.start(node))
    context.rewrites.append(Rewrite(line, column + 1, entry.api, before, context.edits.text(node)))


def _convert_inner(node: ast.Attribute, context: Context) -> None:
    """`x.data.shape`, `torch.float32.itemsize`: the inner part is a value of its own."""
    kind = context.reading.type(node.value)
    if node.attr == "__version__" or kind.is_tensor or kind.kind in ("instance", "unknown"):
        _convert_reference(node, context)
