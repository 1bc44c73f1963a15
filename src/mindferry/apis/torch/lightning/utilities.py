"""Lightning's small things: decorators for the first process, which is the only one, and the names of its types."""

from ... import Case, rule
from ..._call import Call

rule(
    "pytorch_lightning.utilities.rank_zero_only",
    to="compat.undecorated",
    like="compat.undecorated",
    cases=[
        Case(
            "pytorch_lightning.utilities.rank_zero_only(len)",
            "ms_compat.undecorated(len)",
            runs=False,
            why="a function",
        )
    ],
)
for _name in ("rank_zero_info", "rank_zero_warn", "rank_zero_debug"):

    @rule(
        f"pytorch_lightning.utilities.{_name}",
        to="print",
        args="message",
        like="print",
        drop="category stacklevel",
        cases=[Case(f"pytorch_lightning.utilities.{_name}('a')", "print('a')", runs=False, why="it prints")],
    )
    def show(call: Call) -> None:
        call.replace(f"print({call.text('message')})")


for _name in ("STEP_OUTPUT", "TRAIN_DATALOADERS", "EVAL_DATALOADERS", "OptimizerLRScheduler", "LRSchedulerConfig"):
    rule(
        f"pytorch_lightning.utilities.{_name}",
        to="object",
        like="object",
        differs="an annotation",
        cases=[Case(f"pytorch_lightning.utilities.{_name}", "object", runs=False, why="an annotation")],
    )
