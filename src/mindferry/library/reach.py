"""From the names that a project uses, by definitions and imports, to what of a package it needs: by symbol, not by module."""

from __future__ import annotations

import ast
import builtins
import re
from collections import deque

from .bases import is_called_by_bases
from .lookup import Lookup
from .names import Definition, annotations_of, attribute_set_by, chain_of, is_hook, own_names, pattern_of_built
from .names import sets_documentation as is_documentation
from .only_for import OnlyFor
from .reached_parts import Left, Reached
from .registries import Registries, gives_old_names, named_places, registered_by
from .sources import Import, Module, Sources, bound_names, inner_imports, is_star_of, root_name

BUILTINS = frozenset(dir(builtins))
# What torch itself calls on objects of a class that derives from one of its own.
HOOKS = frozenset(
    "forward extra_repr train eval named_parameters parameters named_modules modules children named_children buffers "
    "named_buffers state_dict load_state_dict _load_from_state_dict _save_to_state_dict reset_parameters apply "
    "step zero_grad get_lr backward setup_context fget default".split()
)
GETTERS = frozenset({"getattr", "hasattr", "setattr", "attrgetter", "methodcaller", "delattr"})
DOCUMENTING = frozenset(
    {
        "auto_docstring",
        "add_start_docstrings",
        "add_start_docstrings_to_model_forward",
        "replace_return_docstrings",
        "add_end_docstrings",
        "add_code_sample_docstrings",
        "replace_example_docstring",
    }
)


class Reach:
    def __init__(self, sources: Sources, left_behind: dict[str, str], limit: int) -> None:
        self.sources, self.limit = sources, limit
        self.lookup = Lookup(sources, left_behind)
        self.modules: dict[str, Reached] = {}
        self.left: dict[str, Left] = {}
        self.lazily: dict[str, dict[str, tuple[str, str]]] = {}  # lazy package -> what is asked of it: (module, name)
        self.mentioned: set[str] = set(HOOKS)
        self._waiting: dict[str, list[tuple[Reached, ast.stmt]]] = {}  # methods, until something mentions them
        self._queue: deque[tuple[Module, ast.AST, frozenset[str]]] = deque()
        self._asked: set[tuple[str, str]] = set()
        self.noted: set[str] = set()  # texts in the code that is reached
        self._entries: list[tuple[str, Module, ast.Name]] = []  # of tables: key, module, value
        self.places: set[tuple[str, str]] = set()  # of tables of names: package, name in it
        self.listed: set[str] = set()  # all packages that such tables name
        self.registries = Registries(sources)
        self.registered: dict[str, set[str]] = {}  # package -> modules of it that register what was asked for by a text
        self.renamed: dict[str, dict[str, dict[str, str]]] = {}  # module -> what registers -> old name: present
        self._patterns: list[re.Pattern[str]] = []  # of methods' names
        self._by = "the project"
        self.only_for = OnlyFor(sources.packages, self.lookup, self.left, self._ask_again)

    def run(self) -> None:
        while self._queue or self._live_entries():
            module, node, local = self._queue.popleft()
            self._by = module.name
            self._follow(module, node, local)

    # what is asked for

    def ask(self, module_name: str, name: str) -> None:
        """A name of a module: its definition, wherever that is."""
        if self.only_for.holds(module_name, name, self._by) or (module_name, name) in self._asked:
            return
        self._asked.add((module_name, name))
        if reason := self.lookup.reason_to_leave(f"{module_name}.{name}"):
            self._leave(f"{module_name}.{name}", reason)
            return
        module = self.sources.module(module_name)
        if module is None:
            self._leave(f"{module_name}.{name}", self._unread(module_name))
            return
        reached = self._module(module)
        if reached is None:
            return
        if self._ask_lazy(module, name):
            return
        reached.names.add(name)
        if name in module.bound:
            for statement in [*module.bound[name], *module.effects.get(name, ())]:
                self._take(reached, statement, name)
            is_compiled = module.is_package and self._is_compiled(f"{module_name}.{name}")
            if is_compiled or self.lookup.is_module(module_name, name):
                self.ask_module(f"{module_name}.{name}")
        elif (star := self.lookup.star_of(module.stars, name)) is not None:
            reached.statements.update(each for each in module.tree.body if is_star_of(module, each, star))
            self.ask(star, name)
        elif self.sources.path(f"{module_name}.{name}") is not None:
            self.ask_module(f"{module_name}.{name}")
        elif "__getattr__" in module.bound:
            self.ask(module_name, "__getattr__")
        elif self._is_compiled(f"{module_name}.{name}"):
            self.ask_module(f"{module_name}.{name}")

    def ask_module(self, name: str) -> None:
        """A module itself, with nothing of it yet."""
        if self.only_for.holds(name, "", self._by):
            return
        if self.lookup.reason_to_leave(name):
            self._leave(name, self.lookup.reason_to_leave(name))
        elif (module := self.sources.module(name)) is not None:
            self._module(module)
        elif self._is_compiled(name):
            self._leave(name, self._unread(name))

    def _leave(self, name: str, why: str) -> None:
        self.left.setdefault(name, Left(name, why, self._by))

    def _ask_again(self, module_name: str, name: str, by: str) -> None:
        here, self._by = self._by, by
        if name:
            self.ask(module_name, name)
        else:
            self.ask_module(module_name)
        self._by = here

    def _ask_lazy(self, module: Module, name: str) -> bool:
        """Of a package that gives its names on demand."""
        found = module.lazy.get(name) or module.lazy.get(name.removesuffix("Fast"))  # as transformers 5 answers
        if found is None and self.sources.path(f"{module.name}.{name}") is not None:
            return False
        for each in (name, name.removesuffix("Fast")):
            if found is None and (star := self.lookup.star_of(module.lazy_stars, each)) is not None:
                found = (star, each)
        if found is None:
            return False
        self.lazily.setdefault(module.name, {})[name] = found
        self.ask(*self.lookup.origin(*found))  # not through the packages that only pass it on
        return True

    def is_carried(self, home: str, name: str) -> bool:
        """Whether a name that a module has was asked for and found."""
        place, original = self.lookup.origin(home, name)
        reached = self.modules.get(place)
        return reached is not None and (original in reached.names or original in self.lazily.get(place, {}))

    def _is_compiled(self, name: str) -> bool:
        return name.rpartition(".")[2] in self.sources.packages[name.partition(".")[0]].compiled

    def _unread(self, name: str) -> str:
        if self._is_compiled(name):
            return "it is compiled code"
        return "it can't be read" if self.sources.path(name) is not None else "there is no such module"

    def _module(self, module: Module) -> Reached | None:
        if module.name not in self.modules:
            if len(self.modules) >= self.limit:
                self._leave(module.name, "too many modules")
                return None
            self.modules[module.name] = Reached(module, pulled_by=self._by)
            parent = module.name.rpartition(".")[0]
            if parent and (above := self.sources.module(parent)) is not None:
                self._module(above)
            for statement in module.tree.body:
                if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                    self.modules[module.name].statements.add(statement)
                self._entries += [(text, module, value) for text, value in registered_by(statement)]
        return self.modules[module.name]

    def _take(self, reached: Reached, statement: ast.stmt, name: str) -> None:
        module = reached.module
        if statement in reached.statements and not isinstance(statement, ast.Import | ast.ImportFrom):
            return
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._conditions(module, statement)
            reached.statements.add(statement)
            self._import(module, statement, name)
            return
        if isinstance(statement, ast.Expr | ast.For | ast.While | ast.With) and not self._is_effect(module, statement):
            return
        if (attribute := attribute_set_by(statement)) and attribute not in self.mentioned and not is_hook(attribute):
            self._waiting.setdefault(attribute, []).append((reached, statement))
            return
        reached.statements.add(statement)
        found = set(named_places(statement, module, self.sources))
        self.places |= found
        self.listed.update(place for place, _ in found)
        self._conditions(module, statement)
        if isinstance(statement, ast.ClassDef):
            self._class(reached, statement)
        elif (
            not isinstance(statement, ast.FunctionDef)
            or self.sources.condition(module, ast.Name(statement.name)) is None
        ):
            self._queue.append((module, statement, frozenset()))

    def _conditions(self, module: Module, statement: ast.stmt) -> None:
        for test in module.conditions.get(statement, ()):
            self._queue.append((module, test, frozenset()))

    def _is_effect(self, module: Module, statement: ast.stmt) -> bool:
        """Whether a call that stands alone changes what this module defines, and not only an import or a logger.

        `register_method("lora", LoraConfig, LoraModel)` does, whoever defines these: it is made for what it registers.
        """
        if statement in module.fillers:
            return True
        if is_documentation(statement):
            return False
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            called = getattr(function, "attr", getattr(function, "id", ""))
            if called.startswith("register_") and self._is_imported(module, root_name(function)):
                return not gives_old_names(statement)
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        defined = [
            each
            for name in names
            for each in module.bound.get(name, [])
            if not isinstance(each, ast.Import | ast.ImportFrom | ast.FunctionDef) and each is not statement
        ]
        return (bool(defined) and "logger" not in names) or any(name in bound_names(statement) for name in names)

    def _import(self, module: Module, statement: Import, name: str = "") -> None:
        """The alias of this name, or all of them."""
        for alias in statement.names:
            plain = alias.name if isinstance(statement, ast.ImportFrom) else alias.name.partition(".")[0]
            if name and (alias.asname or plain) != name:
                continue
            if isinstance(statement, ast.ImportFrom):
                home = module.resolve(statement)
                if self.sources.is_ours(home) and alias.name != "*":
                    self.ask(home, alias.name)
            elif self.sources.is_ours(alias.name):
                self.ask_module(alias.name)

    def _class(self, reached: Reached, node: ast.ClassDef) -> None:
        module = reached.module
        for part in (*self.kept_decorators(module, node), *node.bases, *(each.value for each in node.keywords)):
            self._queue.append((module, part, frozenset()))
        is_called_by_others = is_called_by_bases(self.sources, module, node)
        for statement in node.body:
            if isinstance(statement, Definition) and not is_called_by_others and self._can_wait(statement.name):
                self._waiting.setdefault(statement.name, []).append((reached, statement))
            else:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    self.only_for.call(statement.target.id, self._by)
                self._method(reached, statement)

    def _can_wait(self, method: str) -> bool:
        return (
            not is_hook(method)
            and method not in self.mentioned
            and not any(pattern.fullmatch(method) for pattern in self._patterns)
        )

    def _method(self, reached: Reached, statement: ast.stmt) -> None:
        if statement not in reached.methods:
            reached.methods.add(statement)
            self._queue.append((reached.module, statement, frozenset()))

    def mention(self, name: str) -> None:
        """An attribute of this name is read or called somewhere: whichever class has such a method may be meant."""
        self.only_for.call(name, self._by)
        if name not in self.mentioned:
            self.mentioned.add(name)
            for reached, statement in self._waiting.pop(name, []):
                if isinstance(statement, Definition):
                    self._method(reached, statement)
                else:
                    self._take(reached, statement, name)

    def _expect(self, pattern: re.Pattern[str]) -> None:
        """A name is put together from parts."""
        self._patterns.append(pattern)
        for name in [each for each in self._waiting if pattern.fullmatch(each)]:
            self.mention(name)

    # what a piece of code uses

    def kept_decorators(self, module: Module, node: ast.ClassDef | Definition) -> list[ast.expr]:
        return [each for each in node.decorator_list if not self.is_dropped(module, each)]

    def is_dropped(self, module: Module, decorator: ast.expr) -> bool:
        """A decorator that only documents, or that stands in a part which is left behind."""
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        root, last = root_name(function), getattr(function, "attr", getattr(function, "id", ""))
        if last in DOCUMENTING:
            return True
        for statement in module.bound.get(root, []):
            if isinstance(statement, ast.ImportFrom):
                home = module.resolve(statement)
                for alias in statement.names:
                    if (alias.asname or alias.name) == root and self.sources.is_ours(home):
                        place = self.lookup.origin(home, alias.name)
                        return bool(
                            self.lookup.reason_to_leave(".".join(place))
                            or self.lookup.reason_to_leave(f"{home}.{alias.name}")
                        )
        return False

    def _follow(self, module: Module, node: ast.AST, local: frozenset[str]) -> None:
        if isinstance(node, Definition | ast.Lambda):
            self._function(module, node, local)
        elif isinstance(node, ast.ClassDef):  # inside of a function
            for child in (*self.kept_decorators(module, node), *node.bases, *node.keywords, *node.body):
                self._follow(module, child, local)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(module, node)
        elif isinstance(node, ast.If):
            self._branches(module, node, local)
        elif isinstance(node, ast.Attribute):
            self._attribute(module, node, local)
        elif isinstance(node, ast.AnnAssign) and local:  # in a function, where annotations are not evaluated
            for part in filter(None, (node.target, node.value)):
                self._follow(module, part, local)
        elif isinstance(node, ast.Name):
            if node.id not in local and isinstance(node.ctx, ast.Load):
                self._name(module, node.id)
        elif isinstance(node, ast.Dict) and self._is_table(module, node, local):
            self._table(module, node)
        else:
            self._hint(module, node)
            for child in ast.iter_child_nodes(node):
                self._follow(module, child, local)

    def _hint(self, module: Module, node: ast.AST) -> None:
        """Calls and texts that may name what is chosen when it runs."""
        if isinstance(node, ast.Call):
            self._call(module, node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._note(node.value)
        if (pattern := pattern_of_built(node)) is not None:
            self._expect(pattern)

    def _branches(self, module: Module, node: ast.If, local: frozenset[str]) -> None:
        """Of a condition whose answer is known, the branch that is taken."""
        answer = self.sources.condition(module, node.test)
        self._follow(module, node.test, local)
        for child in (*(node.body if answer is not False else ()), *(node.orelse if answer is not True else ())):
            self._follow(module, child, local)

    def _is_table(self, module: Module, node: ast.Dict, local: frozenset[str]) -> bool:
        """`{"ForCausalLM": ForCausalLMLoss, …}` with functions and classes of other modules."""
        imported = [
            value
            for value in node.values
            if isinstance(value, ast.Name) and value.id not in local and self._is_imported(module, value.id)
        ]
        return len(imported) > 2 and all(isinstance(each, ast.Constant) for each in node.keys)

    def _is_imported(self, module: Module, name: str) -> bool:
        statements = module.bound.get(name, [])
        return bool(statements) and all(
            isinstance(each, ast.ImportFrom) and self.sources.is_ours(module.resolve(each)) for each in statements
        )

    def _table(self, module: Module, node: ast.Dict) -> None:
        """What is imported for an entry is carried along once something names the entry, or a class whose name has it inside."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(value, ast.Name) and self._is_imported(module, value.id) and isinstance(key, ast.Constant):
                self._entries.append((str(key.value), module, value))
            else:
                self._follow(module, value, frozenset())

    def _note(self, text: str) -> None:
        if len(text) < 60:
            self.only_for.call(text, self._by)
            self.noted.add(text)

    def _live_entries(self) -> bool:
        """Follow the entries that are named by now."""
        waiting, self._entries = self._entries, []
        classes = {name for reached in self.modules.values() for name in reached.names}
        for key, module, value in waiting:
            if key in self.noted or any(
                key in name for name in classes if name[:1].isupper() and name not in (value.id,)
            ):
                self._queue.append((module, value, frozenset()))
            else:
                self._entries.append((key, module, value))
        for place, name in sorted(self.places):
            if place in self.modules and self.lookup.gives(place, name):
                self.places.discard((place, name))
                self.ask(place, name)
        self.only_for.call_for_networks({name: each.names for name, each in self.modules.items()}, self.sources)
        return bool(self._queue)

    def _call(self, module: Module, node: ast.Call) -> None:
        if getattr(node.func, "attr", getattr(node.func, "id", "")) in GETTERS:
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    for part in argument.value.split("."):
                        self.mention(part)
                else:
                    self._mention_listed(module, argument)

    def _mention_listed(self, module: Module, argument: ast.expr) -> None:
        """`getattr(self, METHODS[mode])`: all texts of that table are names of methods."""
        for name in [each.id for each in ast.walk(argument) if isinstance(each, ast.Name)]:
            for statement in module.bound.get(name, ()):
                value = getattr(statement, "value", None)
                for each in ast.walk(value) if isinstance(value, ast.Dict | ast.List | ast.Tuple) else ():
                    if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isidentifier():
                        self.mention(each.value)

    def _function(self, module: Module, node: Definition | ast.Lambda, local: frozenset[str]) -> None:
        arguments = node.args
        outer: list[ast.AST] = [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
        if not isinstance(node, ast.Lambda):
            outer += self.kept_decorators(module, node)
        for each in outer:
            self._follow(module, each, local)
        for annotation in annotations_of(node):
            self._annotation(module, annotation)
        inner = local | own_names(node)
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self._follow(module, child, inner)

    def _annotation(self, module: Module, annotation: ast.expr) -> None:
        """What is imported from elsewhere for it stays; for an annotation alone nothing of these packages comes along."""
        for node in ast.walk(annotation):
            if isinstance(node, ast.Name) and node.id in module.bound:
                statements = module.bound[node.id]
                homes = [
                    module.resolve(each) if isinstance(each, ast.ImportFrom) else each.names[0].name
                    for each in statements
                    if isinstance(each, ast.Import | ast.ImportFrom)
                ]
                if len(homes) == len(statements) and not any(self.sources.is_ours(home) for home in homes):
                    self._name(module, node.id)

    def _attribute(self, module: Module, node: ast.Attribute, local: frozenset[str]) -> None:
        chain = chain_of(node)
        if chain and chain[0] in local:
            for home in self._modules_of(module, chain[0], inner_imports(module)):
                self._module_attribute(home, chain[1:])
        if chain and chain[0] not in local and (homes := self._modules_of(module, chain[0])):
            self._name(module, chain[0])
            for home in homes:
                self._module_attribute(home, chain[1:])
            return
        if not (chain and chain[0] not in local and self._is_foreign_module(module, chain[0])):
            self.mention(node.attr)
        self._follow(module, node.value, local)

    def _module_attribute(self, home: str, rest: list[str]) -> None:
        """`module.submodule.name.attribute`."""
        for index, part in enumerate(rest):
            inner = f"{home}.{part}"
            passed = self.lookup.origin(home, part)
            if self.lookup.is_module(home, part):
                self.ask(home, part)  # what imports it
                home = inner
                self.ask_module(home)
            elif self.sources.path(".".join(passed)) is not None and passed != (home, part):
                self.ask(home, part)
                home = ".".join(passed)
            else:
                self.ask(home, part)
                for each in rest[index + 1 :]:
                    self.mention(each)
                return

    def _modules_of(self, module: Module, name: str, imports: dict[str, list[ast.stmt]] | None = None) -> list[str]:
        """The modules of these packages that a name stands for, by the imports outside of functions or by those given."""
        found = []
        for statement in (module.bound if imports is None else imports).get(name, []):
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    if bound == name and self.sources.is_ours(alias.name):
                        found.append(alias.name if alias.asname else bound)
            elif isinstance(statement, ast.ImportFrom):
                home = module.resolve(statement)
                for alias in statement.names:
                    if (alias.asname or alias.name) == name and self.sources.is_ours(home):
                        inner = f"{home}.{alias.name}"
                        place = ".".join(self.lookup.origin(home, alias.name))
                        for each in dict.fromkeys((place, inner)):
                            if self.sources.path(each) is not None and (
                                each == place or self.lookup.is_module(home, alias.name)
                            ):
                                found.append(each)
                                break
        return found

    def _is_foreign_module(self, module: Module, name: str) -> bool:
        statements = module.bound.get(name, [])
        return bool(statements) and all(
            isinstance(each, ast.Import) and not self.sources.is_ours(each.names[0].name) for each in statements
        )

    def _name(self, module: Module, name: str) -> None:
        if not self.sources.is_ours(module.name):
            return
        if name in module.bound or (name not in BUILTINS and self._has(module, name)):
            self.ask(module.name, name)

    def _has(self, module: Module, name: str) -> bool:
        return name in module.lazy or self.lookup.star_of(module.stars, name) is not None
