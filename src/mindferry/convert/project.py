"""A whole project: every file read, converted or copied, and the helpers that it needs written beside it."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..apis import framework, table
from ..artifacts import FileConversion, ProjectConversion, dumps
from ..config import read_config
from ..errors import MindferryError
from ..files import read_regular
from ..layout import (
    LARGEST_CODE,
    SECOND,
    Layout,
    ProjectFile,
    Sources,
    changed_files,
    find_files,
    names_imported,
    read_symbols,
    source_of,
    uses_second,
    uses_torch,
)
from ..library.applications import is_application
from ..observation import Observation
from ..progress import Advance
from ..read.source import Unreadable, is_script
from ..read.symbols import Symbols
from ..suggest import suggest_network
from .brought_libraries import (
    Libraries,
    as_library,
    bring_libraries,
    convert_libraries,
    digest_of,
    plain_files,
    with_applications,
)
from .changes_between_steps import changes_of_project
from .code_words import Text
from .fixers import FIXERS
from .from_observation import with_refusal
from .launch_files import README, SCRIPT, entry_of, is_distributed, launch_script, readme
from .names_in_text import names_in_text
from .one_file import Written, digest, helper_home, helper_name, left_out, text_home, with_key
from .output import previous_conversion as previous_conversion
from .output import write_output
from .own_optimizers import has_optimizers, may_have_exact_optimizers, needs_helpers
from .plain_datasets import has_plain_datasets
from .plain_networks import native_methods
from .pool import convert_files, quietly
from .prefer_native import keeps_own_rates, with_differences
from .render.helper_use import ProjectUse, use_of
from .render.helpers_package import render_files, with_root_first
from .render.imports import COMPAT_MODULE
from .render.short_forms import allows_exact_optimizers
from .render.used_tables import words_of
from .reuse import facts_digest, file_key, inputs_digest, records_of, reusable
from .settings import Settings
from .trainer import NAME as TRAINER
from .trainer import check_own_trainer, trainer_text
from .values_between_steps import gives_values_between_steps

RUNS = re.compile(r"^(?:\w[\w.]* = )?\w+\.(?:fit|evaluate|predict|compile)\(|^(?:for|while) ", re.MULTILINE)
LOOP = re.compile(rb"(?:for|while)\b")
STEP = re.compile(rb"(?:grad_fn|backward|gradients|[oO]ptim\w*)\(")
STATE = re.compile(r"\.(?:load_)?state_dict\(")
STEP_WORDS = (b"grad_fn(", b"backward(", b"gradients(", b"ptim")  # without one of these the text has no such step


def has_training_loop(text: bytes) -> bool:
    """Whether a loop outside of all functions takes a training step: nobody imports such a file for what it defines."""
    if not any(word in text for word in STEP_WORDS) or not STEP.search(text):
        return False
    is_in_loop = False
    for line in text.splitlines():
        if line[:1] in (b" ", b"\t"):
            if is_in_loop and STEP.search(line):
                return True
        elif line and line[:1] != b"#":
            is_in_loop = LOOP.match(line) is not None
    return False


@quietly()
def convert_project(
    path: Path,
    output: Path,
    *,
    check: bool = False,
    advance: Advance | None = None,
    settings: Settings | None = None,
    workers: int = 1,
    texts: dict[str, bytes] | None = None,
    observation: Observation | None = None,
) -> ProjectConversion:
    """Convert a file or a folder into `output`. With `check` nothing is written; `texts` receives what would be, by path.

    What an `observation` showed decides what could not be proven; what it says of a file that has changed is not used.
    `workers` 0 stands for all cores, where there are enough files. More than one needs `if __name__ == "__main__":` in a script.
    """
    path, output, settings = Path(path), Path(output), settings or Settings()
    if observation is not None:
        settings = replace(settings, observed=digest(dumps(observation).encode()))
    settings.check([each.name for each in FIXERS])
    config = read_config(path)
    layout = find_files(path, config.convert.exclude, output)
    if observation is not None:  # what the run wrote is the reference's own, such as its checkpoints
        kept = tuple(file for file in layout.files if file.is_code or file.relative not in observation.written)
        layout = replace(layout, files=kept)
    previous = None if check else previous_conversion(path, output)
    if config.convert.packages:
        settings = replace(settings, packages=tuple(dict.fromkeys((*settings.packages, *config.convert.packages))))
    if config.convert.record_graphs:
        settings = replace(settings, record_graphs=True)
    if not uses_torch(layout) and not uses_second(layout) and not settings.packages:
        raise MindferryError(f"{path} uses no torch: there is nothing to convert")
    sources = Sources()
    if settings.prefer == "native":
        settings = replace(settings, has_native_optimizers=_allows_own(keeps_own_rates, layout, sources))
    elif may_have_exact_optimizers(layout, settings):
        settings = replace(settings, has_exact_optimizers=_allows_own(needs_helpers, layout, sources))
    if not settings.packages and has_plain_datasets(_texts(layout, sources)):
        settings = replace(settings, has_plain_datasets=True)
    settings = replace(settings, native_methods=native_methods(layout, settings, _texts(layout, sources)))
    if settings.jit or settings.jit_auto:
        settings = replace(settings, changes=changes_of_project(_texts(layout, sources)))
    settings = replace(
        settings, texts=names_in_text(layout, partial(_texts, layout, sources), lambda: text_home(layout)[1])
    )
    layout, applications = with_applications(layout, settings)
    libraries = bring_libraries(layout, settings, observation)
    inputs = digest_of(libraries, inputs_digest(layout, settings))
    result = ProjectConversion(str(path.resolve()), str(output.resolve()), (), (), _parameter_names(), inputs)
    symbols, facts = _read(layout, previous, result.inputs, observation, libraries, sources)
    if symbols is not None and symbols.second is not None and applications is not None:
        symbols.second.ported = applications.names
    result = replace(result, facts=facts)
    written = []
    changed = changed_files(layout, observation)
    brought = {file.relative for file in layout.files if file.is_brought}
    reading = (workers, result, previous, observation, libraries, sources)
    settings, converted = _with_optimizers(
        lambda chosen, files: _convert(files, layout, symbols, chosen, *reading), layout, settings
    )
    for each in converted:
        each = with_differences(each) if settings.prefer == "native" else each
        each = as_library(each) if each.record.path in brought else each
        written.append(with_refusal(each) if each.record.path in changed else each)
        if advance:
            advance(each.record.path)
    if libraries is not None:
        written += convert_libraries(libraries, settings, workers)
        layout = replace(layout, files=(*layout.files, *libraries.layout.files))
    before = records_of(previous)
    reused = tuple(
        each.record.path for each in written if each.record.key and before.get(each.record.path) == each.record
    )
    extra = [
        *_helpers(layout, written, settings),
        *_launch_files(written, config.train.script),
        *_trainer(written, settings, config.verify.model or (suggest_network(path) if settings.trainer else "")),
        *map(left_out, layout.left_out),
        *plain_files(libraries, applications),
    ]
    used = tuple(sorted(set().union(*(each.compat for each in written))))
    result = replace(result, files=tuple(each.record for each in (*written, *extra)), helpers=used, reused=reused)
    if texts is not None:
        texts.update({each.record.path: each.content() for each in (*written, *extra) if each.data is not None})
    return result if check else write_output(output, result, [*written, *extra], previous)


def _texts(layout: Layout, sources: Sources) -> Iterator[Text]:
    for file in layout.files:
        if file.is_code:
            with contextlib.suppress(OSError, Unreadable):
                yield read_regular(file.path, LARGEST_CODE), partial(sources.read, file)


def _allows_own(asks_more: Callable[[Iterable[Text]], bool], layout: Layout, sources: Sources) -> bool:
    """Whether MindSpore's own optimizers will do."""
    return not asks_more(_texts(layout, sources)) and not gives_values_between_steps(_texts(layout, sources))


def _read(
    layout: Layout,
    previous: ProjectConversion | None,
    inputs: str,
    observation: Observation | None,
    libraries: Libraries | None,
    sources: Sources,
) -> tuple[Symbols | None, str]:
    """What the project defines, unless nothing changed since it was last read."""
    if previous is not None and previous.inputs == inputs and previous.facts:
        return None, previous.facts
    symbols = _symbols(layout, observation, libraries, sources)
    return symbols, facts_digest(symbols)


def _symbols(layout: Layout, observation: Observation | None, libraries: Libraries | None, sources: Sources) -> Symbols:
    if libraries:
        return libraries.read_project(layout, observation, sources)
    return read_symbols(layout, observation, sources)


def _with_optimizers(
    made: Callable[[Settings, Sequence[ProjectFile]], Iterator[Written]], layout: Layout, settings: Settings
) -> tuple[Settings, Iterable[Written]]:
    """The files, those with optimizers converted again where the whole turns out to need more than MindSpore's own have."""
    if not settings.has_exact_optimizers:
        return settings, made(settings, layout.files)
    first = list(made(settings, layout.files))
    wanted = set().union(*(each.compat for each in first))
    if allows_exact_optimizers(_use(first), wanted):
        return settings, first
    settings = replace(settings, has_exact_optimizers=False)
    files = [file for file, each in zip(layout.files, first, strict=True) if has_optimizers(each)]
    again = dict(zip(files, made(settings, files), strict=True))
    return settings, [again.get(file, each) for file, each in zip(layout.files, first, strict=True)]


def _convert(
    files: Sequence[ProjectFile],
    layout: Layout,
    symbols: Symbols | None,
    settings: Settings,
    workers: int,
    result: ProjectConversion,
    previous: ProjectConversion | None,
    observation: Observation | None,
    libraries: Libraries | None,
    sources: Sources,
) -> Iterator[Written]:
    """The files in order, those that are as they were taken from the output folder."""
    keys = {file: file_key(file, layout, result.facts, settings) for file in files if file.is_code}
    records, output = records_of(previous), Path(result.output)
    ready = {
        file: found
        for file, key in keys.items()
        if (found := reusable(key, records.get(file.relative), output)) is not None
    }
    waiting = [file for file in files if file not in ready]
    if symbols is None and any(file.is_code for file in waiting):  # one was edited or removed there
        symbols = _symbols(layout, observation, libraries, sources)
    made = convert_files(waiting, layout, symbols or Symbols(framework()), settings, workers, sources)
    for file in files:
        yield ready[file] if file in ready else with_key(next(made), keys.get(file, ""))


def _helpers(layout: Layout, written: list[Written], settings: Settings) -> list[Written]:
    """One ms_compat for each package or script folder that uses helpers."""
    by_source: dict[str, dict[str, set[str]]] = {}
    has_second, has_first = uses_second(layout), uses_torch(layout)
    for file, each in zip(layout.files, written, strict=True):
        if each.compat:
            is_first = not has_second or (file.is_brought and not is_application(file))
            source = framework().name if is_first else source_of(read_regular(file.path), has_first)
            wanted = by_source.setdefault(source, {})
            wanted.setdefault(helper_home(layout, file)[0], set()).update(each.compat)
    result = []
    for source, wanted in sorted(by_source.items()):
        names = set().union(
            *wanted.values()
        )  # of all: a script may bring its own folder and the root's modules together
        use = _use(written) if source != SECOND else _named_use(written)
        if use is not None:
            use.has_exact_optimizers = settings.has_exact_optimizers
        made, name = render_files(names, use, settings.helpers == "package", source), framework(source).helpers
        name = helper_name(layout, name)
        for home in _run_in(layout, wanted) if len(wanted) > 1 else ():
            wanted.setdefault(home, set())
        has_shared = any(not _is_package(layout, home) for home in wanted)
        places = [(Path(folder), *each) for folder in sorted(wanted) for each in made.items()]
        for folder, path, text in places:
            relative = (folder / f"{name}{path}").as_posix()
            is_second = has_shared and _is_package(layout, folder) and path == ".py"
            data = (with_root_first(text, name) if is_second else text).encode("utf-8")
            result.append(Written(FileConversion(relative, "helpers", digest(data)), data, names))
    return result


def _run_in(layout: Layout, homes: Iterable[str]) -> list[str]:
    """Folders whose scripts may bring several packages with helpers together: Python looks for ms_compat there first."""
    packages = {Path(home).name for home in homes if _is_package(layout, home)}
    found = [
        str(Path(file.relative).parent)
        for file in layout.python
        if str(Path(file.relative).parent) in layout.script_folders and names_imported(file.path) & packages
    ]
    scripts = {file.relative for file in layout.python if "/" not in file.relative} - {"setup.py", "conftest.py"}
    return [*found, "."] if scripts and not layout.is_package else found


def _is_package(layout: Layout, folder: str | Path) -> bool:
    """Whether files of a folder import their helpers through its name, and not by the bare one."""
    return (layout.root / folder / "__init__.py").is_file() and (str(folder) != "." or layout.is_package)


def _is_python(each: Written) -> bool:
    """A file without an ending that was read as Python is converted or unchanged; any other is copied."""
    name = each.record.path.rpartition("/")[2]
    return name.endswith(".py") or ("." not in name and each.record.status in ("converted", "unchanged"))


def _use(written: list[Written]) -> ProjectUse | None:
    """What the project uses of the helpers; None where not all of it can be read."""
    if any(each.record.path.endswith(".ipynb") for each in written):
        return None
    texts = [(each.use, each.content()) for each in written if _is_python(each)]
    texts += [(None, _asked_by_text(each)) for each in written if each.compat and not _is_python(each)]
    is_library = not any(is_script(text) or has_training_loop(text) for _, text in texts)
    use = use_of((known or text.decode("utf-8", "replace") for known, text in texts), COMPAT_MODULE, is_library)
    use.networks = {
        STATE.split(rewrite.before)[0]
        for each in written
        for rewrite in each.record.rewrites
        if rewrite.rule.endswith((".Module.state_dict", ".Module.load_state_dict"))
    }
    return use


def _asked_by_text(each: Written) -> bytes:
    """What a configuration names of the helpers, as code would: nobody can tell with which options."""
    return "\n".join(f"{COMPAT_MODULE}.{name}" for name in sorted(each.compat)).encode()


def _named_use(written: list[Written]) -> ProjectUse | None:
    """What a project from Keras uses: methods, and what it asks for by name; None where not all of it can be read."""
    if any(each.record.path.endswith(".ipynb") for each in written):
        return None
    texts = [each.content().decode("utf-8", "replace") for each in written if _is_python(each)]
    try:
        trees = [ast.parse(text) for text in texts]
    except (SyntaxError, ValueError, RecursionError):
        return None
    is_library = not any(is_script(text.encode()) or RUNS.search(text) for text in texts)
    use = use_of(texts, framework(SECOND).helpers, is_library)
    use.words = words_of(trees)
    return use


def _launch_files(written: list[Written], script: str) -> list[Written]:
    """The launch script of a distributed project, and its README with lines about it."""
    records = [each.record for each in written]
    if not is_distributed(records) or any(record.path == SCRIPT for record in records):
        return []
    texts = {
        each.record.path: each.content() for each in written if _is_python(each) or each.record.path.endswith(README)
    }
    entry = entry_of(records, texts, script)
    if not entry:
        return []
    files = {SCRIPT: launch_script(entry), README: readme(texts.get(README, b""), entry)}
    written[:] = [each for each in written if each.record.path != README]
    return [Written(FileConversion(path, "launch", digest(data)), data, set()) for path, data in files.items()]


def _trainer(written: list[Written], settings: Settings, model: str) -> list[Written]:
    if not settings.trainer:
        return []
    check_own_trainer([each.record for each in written])
    data = trainer_text(model)
    return [Written(FileConversion(TRAINER, "trainer", digest(data)), data, set())]


def _parameter_names() -> dict[str, dict[str, str]]:
    return {entry.to: dict(entry.params) for entry in table() if entry.params and entry.to.startswith("mindspore.")}
