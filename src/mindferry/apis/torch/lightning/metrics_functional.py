"""torchmetrics.functional: the metrics of `metrics.py` for one batch."""

from ... import Case, rule
from ..._call import Call

WHY = "tests/lightning counts with it"
DIFFERS = "counted with numpy"
AVERAGED = (
    "accuracy f1_score precision recall specificity hamming_distance fbeta_score jaccard_index auroc average_precision"
)
OTHERS = "confusion_matrix cohen_kappa matthews_corrcoef"
FIRST = {"multiclass": "num_classes", "multilabel": "num_labels", "binary": ""}

for _name in f"{AVERAGED} {OTHERS}".split():
    _same = f"compat.{_name}"
    rule(
        f"torchmetrics.functional.{_name}",
        to=_same,
        like=_same,
        args="preds target task",
        differs=DIFFERS,
        cases=[
            Case(
                f"torchmetrics.functional.{_name}(x, y, task='binary')",
                f"ms_compat.{_name}(x, y, task='binary')",
                shapes=((2,), (2,)),
                runs=False,
                why=WHY,
            )
        ],
    )
    for _task, _first in FIRST.items():
        if (_name, _task) == ("cohen_kappa", "multilabel"):
            continue

        def narrow(call: Call, task: str = _task, averages: bool = _name in AVERAGED.split()) -> None:
            """These take the mean over classes unless told otherwise."""
            call.set(task=repr(task))
            if task != "binary" and averages and not call.has("average"):
                call.set(average="'macro'")

        _beta = "beta " if _name == "fbeta_score" else ""
        _given = f", {_first}=3" if _first else ", ignore_index=0"
        _average = ", average='macro'" if _first and _name in AVERAGED.split() else ""
        rule(
            f"torchmetrics.functional.{_task}_{_name}",
            to=_same,
            args=f"preds target {_beta}{_first}",
            positional=2,
            differs=DIFFERS,
            cases=[
                Case(
                    f"torchmetrics.functional.{_task}_{_name}(x, y{_given})",
                    f"ms_compat.{_name}(x, y{_given}, task='{_task}'{_average})",
                    shapes=((2,), (2,)),
                    runs=False,
                    why=WHY,
                )
            ],
        )(narrow)

for _name, _args in (
    ("mean_squared_error", "squared num_outputs"),
    ("mean_absolute_error", "num_outputs"),
    ("mean_absolute_percentage_error", ""),
    ("r2_score", "adjusted multioutput"),
    ("pearson_corrcoef", ""),
):
    rule(
        f"torchmetrics.functional.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        args=f"preds target {_args}",
        cases=[
            Case(
                f"torchmetrics.functional.{_name}(x, y)",
                f"ms_compat.{_name}(x, y)",
                shapes=((3,), (3,)),
                runs=False,
                why=WHY,
            )
        ],
    )
