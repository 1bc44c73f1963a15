"""OUT/ported/NOTICE.md: which packages were carried along, under which licence, what of them, and what was left behind."""

from __future__ import annotations

from .packages import Package
from .reach import Reach


def notice_text(packages: list[Package], reach: Reach, framework: str = "PyTorch") -> str:
    lines = [
        "# Libraries that this project carries along",
        "",
        f"mindferry cut these parts out of the packages named below and converted them from {framework} to MindSpore.",
        "They are changed copies: each stays under its own licence, whose text stands beside it.",
    ]
    for package in packages:
        modules = sorted(name for name in reach.modules if name.partition(".")[0] == package.name)
        left = sorted(
            (each for each in reach.left.values() if each.name.partition(".")[0] == package.name),
            key=lambda one: one.name,
        )
        texts = ", ".join(f"[{path.name}]({package.name}/{path.name})" for path in package.licence_files)
        lines += [
            "",
            f"## {package.distribution} {package.version}".rstrip(),
            "",
            f"Licence: {package.licence or 'see its text'}. {f'Text: {texts}.' if texts else 'It comes without a licence text.'}",
            "",
            f"{len(modules)} modules:",
            "",
            *(f"- `{name}`" for name in modules),
        ]
        if left:
            lines += ["", "Left behind, and raising an error where it is used:", ""]
            lines += [f"- `{each.name}`: {each.why} (used by {each.pulled_by})" for each in left]
    return "\n".join(lines) + "\n"
