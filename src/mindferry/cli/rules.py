"""`mindferry rules`: the table of what each torch API becomes."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import click
from rich.table import Table as Grid

from ..apis import SOURCES, Rule, framework, table
from ..apis._lookup import rule_of
from ..errors import MindferryError
from ..frameworks.process import TITLES
from ..progress import progress, stdout


@click.group()
def command() -> None:
    """Look up, check and add rules.

    \b
    mindferry rules list torch.nn
    mindferry rules show torch.nn.Conv2d
    mindferry rules check torch.nn.Conv2d torch.flatten
    mindferry rules new torch.nn.Softsign
    """


@command.command("list")
@click.argument("prefix", default="")
@click.option("--kind", type=click.Choice(["native", "helper", "removed", "missing"]), help="Only these.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def list_rules(prefix: str, kind: str | None, as_json: bool) -> None:
    """List the rules whose name starts with PREFIX.

    \b
    mindferry rules list torch.nn
    mindferry rules list --kind missing
    """
    chosen = sorted(
        (
            rule
            for source in SOURCES
            for rule in table(source)
            if rule.api.startswith(prefix) and kind in (None, rule.kind)
        ),
        key=lambda rule: rule.api,
    )
    if not chosen:
        raise _unknown(prefix)
    if as_json:
        click.echo(
            json.dumps(
                [{"api": rule.api, "to": rule.to, "kind": rule.kind, "differs": rule.differs} for rule in chosen],
                indent=1,
            )
        )
        return
    rows = [(rule.title, rule.to or "-", rule.kind, rule.differs or rule.missing) for rule in chosen]
    if stdout.is_terminal:
        grid = Grid("API", "becomes", "how", "differs")
        for row in rows:
            grid.add_row(*row)
        stdout.print(grid)
    else:  # a line a rule, for grep
        click.echo("\n".join("\t".join(row).rstrip() for row in rows))
    counts = {name: sum(rule.kind == name for rule in chosen) for name in ("native", "helper", "removed", "missing")}
    click.echo(f"{len(chosen)} rules: " + ", ".join(f"{number} {name}" for name, number in counts.items() if number))


@command.command()
@click.argument("api")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(api: str, as_json: bool) -> None:
    """Show what an API becomes, and what differs.

    \b
    mindferry rules show torch.nn.Conv2d
    """
    rule = _find(api)
    facts = {
        "api": rule.api,
        "becomes": rule.to or ("written by the rule's function" if rule.function else ""),
        "how": rule.kind,
        "differs": rule.differs,
        "missing": rule.missing,
        "strategy": rule.strategy,
        "advice": rule.advice,
        "as a value": rule.like,
        "parameters": ", ".join(f"{old} → {new}" for old, new in rule.params.items()),
        "platforms": ", ".join(rule.platforms),
        "tolerance": f"rtol {max((c.rtol for c in rule.cases), default=0):g}, atol {max((c.atol for c in rule.cases), default=0):g}"
        if rule.cases
        else "",
        **_page(rule.api),
        "rule": f"{rule.file}:{rule.line}",
    }
    if as_json:
        cases = [{"before": case.before, "after": case.after} for case in rule.cases]
        click.echo(json.dumps({**facts, "cases": cases}, indent=1, ensure_ascii=False))
        return
    for name, value in facts.items():
        if value:
            click.echo(f"{name:12} {value}")
    for case in rule.cases:
        click.echo(f"\n- {case.before}\n+ {case.after}")


def _page(api: str) -> dict[str, str]:
    """The framework's own page on an API."""
    home = next((each for each in map(framework, SOURCES) if each.has(api)), None)
    return {} if home is None else {f"{TITLES[home.name]}'s page": home.page.format(api=api)}


@command.command()
@click.argument("apis", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def check(apis: tuple[str, ...], as_json: bool) -> None:
    """Run the rules' own cases on this installation.

    Forward and gradient, each against torch. Without a name: all rules, which takes minutes.

    \b
    mindferry rules check torch.nn.Conv2d torch.flatten
    """
    from ..apis.checks.check import check_one
    from ..frameworks.process import Worker
    from ..frameworks.requests import CaseRequest

    chosen = [_find(api) for api in apis] if apis else list(table())
    numbers = [
        (rule, index) for rule in chosen for index, case in enumerate(rule.cases) if case.runs and not rule.missing
    ]
    results = []
    with progress("check", len(numbers)) as advance, Worker("mindspore") as worker:
        for rule, index in numbers:
            advance(rule.api)
            failure = worker.ask(check_one, CaseRequest(rule.title, index))
            results.append({"api": rule.api, "case": rule.cases[index].before, "failure": failure})
    failed = [each for each in results if each["failure"]]
    if as_json:
        click.echo(json.dumps(results, indent=1))
    else:
        for each in failed:
            click.echo(each["failure"])
        click.echo(
            f"{len(results) - len(failed)} of {len(results)} cases right, {len({r.title for r in chosen})} rules"
        )
    raise click.exceptions.Exit(1 if failed else 0)


@command.command()
@click.argument("api")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to write.  [default: beside the rules of its family]"
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def new(api: str, output: Path | None, as_json: bool) -> None:
    """Write a file for a rule that doesn't exist yet.

    Ready to fill in: CONTRIBUTING.md takes you through it.

    \b
    mindferry rules new torch.nn.Softsign
    """
    from ..apis.scaffold import scaffold

    if rule_of(api, table()) is not None:
        raise MindferryError(f"{api} has a rule already: see `mindferry rules show {api}`")
    path = scaffold(api, output)
    test = f"pytest tests/apis -k {api.rpartition('.')[2]}"
    click.echo(
        json.dumps({"wrote": str(path), "test": test}, indent=1)
        if as_json
        else f"wrote {path}\nfill it in, then run: {test}"
    )


def _find(api: str) -> Rule:
    for rules in map(table, SOURCES):
        rule = rule_of(api, rules) or rules.attribute(api)
        if rule is not None:
            return rule
    raise _unknown(api)


def _unknown(api: str) -> MindferryError:
    close = difflib.get_close_matches(api, [rule.api for source in SOURCES for rule in table(source)], 3)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; see `mindferry rules list`"
    return MindferryError(f"no rule for {api}{hint}")
