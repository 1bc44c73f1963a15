"""Writes the support table and one page for each family of rules, from the rules themselves."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from mindferry.apis import Rule, table
from mindferry.files import write_text

KINDS = ("native", "helper", "removed", "missing")
MEANING = {
    "native": "MindSpore's own API, as an engineer would write it",
    "helper": "a function or class written into the converted project's `ms_compat.py`",
    "removed": "has no meaning in MindSpore and goes",
    "missing": "left as it was, with a finding that says why and what to do",
}


def write_rule_pages(folder: Path) -> None:
    """`index.md`, the support table, and one page a family; pages of families that are gone are removed."""
    families: dict[str, list[Rule]] = defaultdict(list)
    for rule in table():
        families[_family(rule.api)].append(rule)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        if old.stem not in {*families, "index"}:
            old.unlink()
    for family, rules in families.items():
        _write(folder / f"{family}.md", _page(family, sorted(rules, key=lambda rule: rule.title)))
    _write(folder / "index.md", _index(families))


def _family(api: str) -> str:
    """torch.nn.functional.relu -> torch.nn.functional; torch.Tensor.view -> torch.Tensor."""
    return api.rpartition(".")[0] or api


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:  # an unchanged page is not built again
        write_text(path, text)


def _index(families: dict[str, list[Rule]]) -> str:
    lines = ["# Rules: what each torch API becomes", ""]
    lines += [f"- **{kind}**: {meaning}" for kind, meaning in MEANING.items()]
    lines += [
        "",
        "`mindferry rules show torch.nn.Conv2d` prints one of them, `mindferry rules check` runs its cases.",
        "",
    ]
    lines += ["| family | rules | native | helper | removed | missing |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for family in sorted(families):
        counts = [sum(rule.kind == kind for rule in families[family]) for kind in KINDS]
        lines.append(f"| [{family}]({family}.md) | {len(families[family])} | " + " | ".join(map(str, counts)) + " |")
    total = [rule for rules in families.values() for rule in rules]
    lines.append(
        f"| all | {len(total)} | " + " | ".join(str(sum(rule.kind == kind for rule in total)) for kind in KINDS) + " |"
    )
    lines += ["", "```{toctree}", ":hidden:", "", *sorted(families), "```", ""]
    return "\n".join(lines)


def _page(family: str, rules: list[Rule]) -> str:
    lines = [f"# {family}", ""]
    for rule in rules:
        lines += [f"## `{rule.title}`", "", f"*{rule.kind}*" + (f": `{rule.to}`" if rule.to else ""), ""]
        lines += [
            f"{text}\n"
            for text in (rule.differs, rule.missing, rule.advice and f"**What to do:** {rule.advice}")
            if text
        ]
        if rule.platforms != ("CPU", "Ascend"):
            lines += [f"Runs on {', '.join(rule.platforms)} only.", ""]
        if rule.cases:
            lines += ["```diff"]
            for case in rule.cases[:2]:
                lines += [f"-{line}" for line in case.before.splitlines()] + [
                    f"+{line}" for line in case.after.splitlines()
                ]
            lines += ["```", ""]
    return "\n".join(lines)
