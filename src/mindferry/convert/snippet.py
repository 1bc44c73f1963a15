"""One piece of source text in, a self-contained MindSpore module out."""

from __future__ import annotations

from dataclasses import dataclass

from ..apis import framework, table
from ..artifacts import Finding, Rewrite, Site
from ..layout import source_of
from ..read.infer import read
from ..read.source import Source
from ..read.symbols import Symbols
from .engine import PORTABLE, plan_file
from .render.helpers_module import render
from .render.imports import HelpersImport
from .settings import Settings


@dataclass(frozen=True, slots=True)
class Conversion:
    """`code` runs by itself; `main` is the same without the helpers, which stand in `helpers` as ms_compat.py."""

    code: str
    main: str
    helpers: str
    findings: tuple[Finding, ...]
    rewrites: tuple[Rewrite, ...]
    sites: tuple[Site, ...] = ()  # the ledger: every place that may be torch's, and what became of it


def convert_source(text: str, path: str = "<string>", settings: Settings = PORTABLE) -> Conversion:
    """Convert source text that stands alone. Nothing of it is executed."""
    source = Source(text.encode("utf-8", "surrogateescape"), path)
    written_for = source_of(source.data)
    symbols = Symbols(framework(written_for))
    read(source, symbols, is_api=table(written_for).is_api)
    planned = plan_file(source, symbols, settings=settings)
    result = planned.write(HelpersImport(module=symbols.framework.helpers))
    code, helpers = result.code, ""
    if result.compat:
        helpers = render(result.compat, source=written_for)
        code = planned.write(helpers=None).code
    if planned.facts is not None:
        planned.facts.forget()
    return Conversion(code, result.code, helpers, tuple(result.findings), tuple(result.rewrites), tuple(result.sites))
