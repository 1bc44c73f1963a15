"""Every finding that mindferry can make: its code, how grave it is, what it means, and what to do about it.

    context.find(node, findings.MF101, "torch.foo: has no counterpart", "write it by hand")

A new code is one more constant here and one line in tests/test_findings.py; the page docs/reference/findings.md is
written by `python -m mindferry.findings docs/reference/findings.md`.
"""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"  # something was left unconverted, or is wrong until a person acts
    WARNING = "warning"  # converted; a person should look at it
    NOTE = "note"  # for information


class Code(str):
    """'MF101', and what it stands for. It equals the plain string, which is what records and JSON hold."""

    __slots__ = ("advice", "heading", "meaning", "severity")
    severity: Severity  # the usual one; a finding may be made with another
    heading: str
    meaning: str
    advice: str

    def __new__(cls, code: str, severity: Severity, heading: str, meaning: str, advice: str) -> Code:
        self = super().__new__(cls, code)
        self.severity, self.heading, self.meaning, self.advice = severity, heading, meaning, advice
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)

    @property
    def family(self) -> str:
        return self[:3]


FAMILIES = {
    "MF1": "Code that was left, or that needs a look",
    "MF2": "Training",
    "MF3": "Data",
    "MF4": "Weights",
    "MF9": "Files",
}

MF100 = Code(
    "MF100",
    Severity.ERROR,
    "An API without a rule",
    "The project uses an API of torch that mindferry's table doesn't have. The call stays as it was.",
    "Convert it by hand, or add a rule with `mindferry rules new API`.",
)
MF101 = Code(
    "MF101",
    Severity.ERROR,
    "No counterpart",
    "MindSpore has nothing that does what this API does, or nothing for this form of the call. The call stays as it was.",
    "Do what the finding's own advice says: an equivalent replacement, a wrapper, or a custom operator.",
)
MF102 = Code(
    "MF102",
    Severity.ERROR,
    "A module of torch's as a value",
    "The code hands a whole module of torch's on (`f(torch.nn)`), or chooses from it by a name that is computed "
    "(`getattr(nn, name)`), or by a text that is evaluated or imported when the program runs (`eval(kind)`, "
    "`_target_: torch.foo` in a configuration). Where a table of the possible choices could be written instead, this is a warning; "
    "where nothing says that a text names anything of torch's, a note.",
    "Name what is taken from the module, and convert again; in a table that was written, add what is missing.",
)
MF103 = Code(
    "MF103",
    Severity.WARNING,
    "Left on request",
    "`--only` or `--skip` asked to leave this API as it is.",
    "Nothing, if that is still what you want.",
)
MF104 = Code(
    "MF104",
    Severity.WARNING,
    "Runs on Ascend only",
    "The counterpart has no CPU kernel in MindSpore 2.10, and the output was to be portable.",
    "Give `--target ascend` if that is where the project runs.",
)
MF110 = Code(
    "MF110",
    Severity.NOTE,
    "Converted, with a difference to know of",
    "The call was converted. The finding says in what the counterpart differs from torch.",
    "Check that the difference doesn't matter here.",
)
MF120 = Code(
    "MF120",
    Severity.WARNING,
    "construct without self",
    "`ms.jit` and the export to MindIR need the first argument of `construct` to be named `self`.",
    "Rename the argument.",
)
MF121 = Code(
    "MF121",
    Severity.ERROR,
    "An attribute with several names",
    "The object may be one of several layers, and MindSpore calls this attribute differently in each of them "
    "(BatchNorm's `weight` is `gamma`). The attribute stays as it was.",
    "Test for each layer in a branch of its own.",
)
MF122 = Code(
    "MF122",
    Severity.ERROR,
    "A layer's setting, changed after it was built",
    "MindSpore's layer reads this setting only when it is built, so the change has no effect. "
    "`momentum`, `eps`, `p` and the like are carried through and make no finding.",
    "Give the setting where the layer is built.",
)
MF123 = Code(
    "MF123",
    Severity.WARNING,
    "A method of an unknown object",
    "Nothing tells what the object is. If it is a tensor, this method of it has no counterpart in MindSpore.",
    "Write it in another way; if the object is no tensor, annotate its type.",
)
MF124 = Code(
    "MF124",
    Severity.ERROR,
    "A place that nothing accounts for",
    "The name may be torch's, and no rule and no fixer says what became of it. The code stays as it was.",
    "Look at it, and report it as a gap in mindferry.",
)
MF130 = Code(
    "MF130",
    Severity.NOTE,
    "Data code that computes with MindSpore",
    "A dataset, transform or collate function should compute with numpy, because MindSpore's operators must not run in "
    "worker processes. This one uses an API that has no numpy form, so it gets Tensors and runs in the process that trains.",
    "Nothing, unless reading is too slow: written with numpy, it runs in workers.",
)
MF131 = Code(
    "MF131",
    Severity.ERROR,
    "A function that makes batches, and is not known",
    "A loader hands its batches' samples as arrays, and functions that make batches are converted for that. Which function "
    "this loader gets is decided by a setting or a table that could not be read from the code, so it may still expect tensors.",
    'Name the function where the loader is made, or give it a name with "collate" in it, and convert again.',
)
MF140 = Code(
    "MF140",
    Severity.ERROR,
    "An in-place update that was left",
    "MindSpore's tensors don't change in place, and this update could not be turned into an assignment.",
    "Write it as an assignment: `x = x.add(1)`.",
)
MF141 = Code(
    "MF141",
    Severity.WARNING,
    "An in-place update that another name may share",
    "The update became an assignment. In torch another name, a view or the caller's tensor changes with it; here it "
    "doesn't.",
    "Assign to the other name too, or return the new tensor and use what is returned.",
)
MF142 = Code(
    "MF142",
    Severity.ERROR,
    "The gradient of something that is not a parameter",
    "MindSpore computes gradients as values of a function. Only parameters keep one, and only in a training step.",
    "Take the gradient by `ms.grad(fn, position)(inputs)`.",
)
MF150 = Code(
    "MF150",
    Severity.ERROR,
    "A package that needs torch itself",
    "The file imports a package that is built on torch, so what uses it doesn't run without torch. The file can be imported without; "
    "a placeholder says so where it is used.",
    "Replace the package, or convert the modules that the project uses along with it.",
)
MF151 = Code(
    "MF151",
    Severity.WARNING,
    "A notebook cell that installs torch",
    "A shell line of the notebook still installs torch.",
    "Install mindspore instead.",
)
MF152 = Code(
    "MF152",
    Severity.ERROR,
    "A part of a library was left behind",
    "The project brings a library along, and reaches a part of it that can't be carried: compiled code, too many modules, or another version than is asked for.",
    "Look in ported/NOTICE.md for what pulled it in. Code that uses it raises an error that says so.",
)
MF201 = Code(
    "MF201",
    Severity.ERROR,
    "backward() that was not lifted",
    "MindSpore takes the gradient of a function, so mindferry moves what leads to `loss.backward()` into one. Here it "
    "could not tell what belongs to that function; the finding says why.",
    "Compute the loss in one function of its inputs, as docs/how-to/training.md shows, and convert again; or convert "
    "with `--record-graphs`, if the finding says so.",
)
MF202 = Code(
    "MF202",
    Severity.NOTE,
    "A network that runs a second time",
    "The network runs once where it stood and once more where its gradient is taken. Its batch statistics move once, "
    "but dropout would draw other masks.",
    "Seed the dropout, or compute this loss before the other one.",
)
MF203 = Code(
    "MF203",
    Severity.NOTE,
    "autocast was removed",
    "MindSpore casts networks, not blocks of code. The block runs in float32 now.",
    "For mixed precision on Ascend wrap the network: `amp.auto_mixed_precision(net, 'O2')`.",
)
MF204 = Code(
    "MF204",
    Severity.WARNING,
    "Gradients switched by a statement",
    "`torch.set_grad_enabled(False)` as a statement has no counterpart: in MindSpore nothing records gradients outside "
    "of a training step.",
    "Use the block `with torch.no_grad():`, or `detach()` what is computed without gradients.",
)
MF205 = Code(
    "MF205",
    Severity.ERROR,
    "A gradient that was not lifted",
    "`torch.autograd.grad(y, x)` becomes `ms.grad` of the function that computes `y` from `x`, and here that function "
    "can't be seen.",
    "Compute `y` in the same function in which its gradient is taken, and convert again.",
)
MF206 = Code(
    "MF206",
    Severity.WARNING,
    "A network that takes part in the loss only sometimes",
    "Where the network doesn't run, torch leaves its gradients at None and the optimizer skips its parameters. In the "
    "forms that `--jit` and `--style` ask for the gradients are zeros, and weight decay and momentum still act.",
    "Leave those options out for this script, or give the network an optimizer of its own.",
)
MF207 = Code(
    "MF207",
    Severity.WARNING,
    "SyncBatchNorm over several processes",
    "Each process normalizes by the statistics of its own part of the batch. torch's SyncBatchNorm takes those of all.",
    "Use `mindspore.nn.SyncBatchNorm` on Ascend, or a larger batch a process.",
)
MF208 = Code(
    "MF208",
    Severity.WARNING,
    "A second derivative through a reshape or a sum",
    "The loss holds a gradient (`create_graph=True`), and a network reshapes or sums up between its layers. MindSpore 2.10 "
    "in PyNative mode then gives the layers behind that place a second derivative of zero, without an error.",
    "Compare with `mindferry train`; where it differs, compile the inner gradient: `ms.jit(ms.grad(f))(x)`.",
)
MF209 = Code(
    "MF209",
    Severity.WARNING,
    "backward() along a recorded graph",
    "MindSpore takes the gradient of a function, so mindferry moves what leads to `loss.backward()` into one. Here it "
    "could not tell what belongs to that function; the finding says why. `--record-graphs` was given, so the file "
    "records graphs while it runs, as torch does, and takes gradients along them: the same numbers, in PyNative mode "
    "alone, by functions that MindSpore doesn't document.",
    "Nothing, if that will do. For a step that can be compiled, compute the loss in one function of its inputs, as "
    "docs/how-to/training.md shows, and convert again.",
)
MF210 = Code(
    "MF210",
    Severity.WARNING,
    "A step that keeps the functional form",
    "`--style cell`, `--style model` or `--jit` was asked for, and this step does more than that form can say.",
    "Nothing: the functional form is right. The finding says what stands in the way.",
)
MF211 = Code(
    "MF211",
    Severity.NOTE,
    "MindSpore's own, which is not quite torch's",
    "`--prefer native` was asked for: MindSpore's optimizer, schedule or function stands where the default is a helper "
    "with torch's arithmetic. The note says how far apart they were when that was measured.",
    "Nothing, or leave `--prefer native` out. `mindferry train` shows what it comes to in this project.",
)
MF230 = Code(
    "MF230",
    Severity.ERROR,
    "The converted script fails",
    "The original's command ends well; the same command in the converted project, without torch, raises an error. The "
    "line is that of the converted file.",
    "Mend that line in the converted project, or report it, then run again.",
)
MF231 = Code(
    "MF231",
    Severity.ERROR,
    "The converted script ends otherwise",
    "The converted script made another number of training steps than the original, or did not end.",
    "See what it printed, in `.mindferry/plain.json`.",
)
MF232 = Code(
    "MF232",
    Severity.ERROR,
    "Losses outside of the band",
    "The converted script runs by itself, but its losses lie where none of the original's seeds come.",
    "See `mindferry train`, which shows the first step that differs on the same batches.",
)
MF233 = Code(
    "MF233",
    Severity.ERROR,
    "The converted script prints other numbers",
    "Neither script trains, and a number that the original prints whatever its seeds is another in the conversion.",
    "See `mindferry verify`, which shows the first module that differs on the same inputs; then what the script does around it.",
)
MF234 = Code(
    "MF234",
    Severity.ERROR,
    "The converted script trains at another rate",
    "Both scripts run by themselves, and at some step the learning rate of the conversion is one that the original, whatever its seeds, "
    "does not have there.",
    "Compare what makes and steps the schedule in both scripts: its milestones, and whether it goes by steps or by epochs.",
)
MF250 = Code(
    "MF250",
    Severity.WARNING,
    "--local_rank is not given by msrun",
    "torch's launcher passes `--local_rank`; MindSpore's doesn't. The default stays, and each process may take itself "
    "for the only one.",
    "Read the rank from `mindspore.communication.get_rank()` after `init()`.",
)
MF401 = Code(
    "MF401",
    Severity.NOTE,
    "A checkpoint's name was changed",
    "A file name that ended in .pth or .pt now ends in .ckpt.",
    "Convert existing files with `mindferry weights convert`.",
)
MF900 = Code(
    "MF900",
    Severity.ERROR,
    "A file that can't be read",
    "The file is not valid Python 3, or can't be opened. It was copied as it is, if at all.",
    "Mend the file and convert again.",
)
MF901 = Code(
    "MF901",
    Severity.ERROR,
    "A conversion that would not compile",
    "What mindferry would have written is not valid Python, so the file stays as it was.",
    "Report this as a defect of mindferry, with the file.",
)
MF902 = Code(
    "MF902",
    Severity.NOTE,
    "A file that was not copied",
    "The file is a checkpoint, or larger than 10 MB.",
    "Convert a checkpoint with `mindferry weights convert`; copy or link anything else yourself.",
)
MF903 = Code(
    "MF903",
    Severity.WARNING,
    "Your edit was kept",
    "The file in the output was edited since it was converted, so it was not written again.",
    "Move your changes to the original, or remove the edited file to have it converted anew.",
)
MF904 = Code(
    "MF904",
    Severity.WARNING,
    "Your edit outlived its original",
    "The original of this file is gone. The file was edited since it was converted, so it stays.",
    "Remove the file if it is no longer needed.",
)
MF905 = Code(
    "MF905",
    Severity.WARNING,
    "Requirements that still name torch",
    "A requirements or build file names torch in a form that mindferry doesn't rewrite.",
    "Put mindspore in torch's place.",
)
MF906 = Code(
    "MF906",
    Severity.ERROR,
    "Two changes met",
    "Two parts of mindferry wanted to write the same place, and only one of them could.",
    "Compare this place with the original, and report it as a defect of mindferry.",
)
MF907 = Code(
    "MF907",
    Severity.WARNING,
    "An observation of another version",
    "The file has changed since the run that was observed. What that run showed of this file is not used.",
    "Run `mindferry observe` again.",
)
MF908 = Code(
    "MF908",
    Severity.WARNING,
    "Written for an older Python",
    "The line is not Python 3 as it stands (a print statement, `.cuda(async=True)`, indents of tabs and spaces). It was "
    "read as Python 3 has it, and the conversion is Python 3.",
    "Where the file was written for Python 2, look at its divisions: that of two integers gave an integer there.",
)
MF909 = Code(
    "MF909",
    Severity.WARNING,
    "A launcher of torch's in a shell script or a command",
    "A shell script or a Makefile starts the program by torchrun, accelerate or deepspeed, with options that msrun does not have; or "
    "the code itself does so, by `os.system` or `subprocess`.",
    "Start the program with msrun, which comes with MindSpore, or by `mindferry launch`.",
)

CODES: dict[str, Code] = {str(value): value for value in list(globals().values()) if isinstance(value, Code)}


def page() -> str:
    """The reference page, in Markdown."""
    lines = [
        "# Findings",
        "",
        "What `mindferry convert`, `analyze` and the report call by a code. Made by",
        "`python -m mindferry.findings docs/reference/findings.md`.",
        "",
        "An *error* was left for you, a *warning* was converted and wants a look, a *note* is for information. The",
        "severity below is the usual one; a finding may be milder where less is at stake.",
        "",
    ]
    for family, title in FAMILIES.items():
        codes = [code for code in CODES.values() if code.family == family]
        lines += [f"## {family}xx: {title}", ""] if codes else []
        for code in codes:
            lines += [f"### {code}: {code.heading}", "", f"*{code.severity}*. {code.meaning}", ""]
            lines += [f"**What to do:** {code.advice}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    Path(sys.argv[1]).write_text(page(), "utf-8")
