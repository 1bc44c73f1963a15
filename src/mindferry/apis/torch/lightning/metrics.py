"""torchmetrics' commonest metrics, which Lightning's projects log."""

from ... import Case, rule
from ..._call import Call

WHY = "tests/lightning counts with it"
for _name in ("Accuracy", "F1Score", "Precision", "Recall"):
    _same = f"compat.{_name}"
    rule(
        f"torchmetrics.{_name}",
        to=_same,
        like=_same,
        args="task threshold num_classes num_labels average multidim_average top_k ignore_index validate_args",
        differs="counted with numpy, in one process",
        cases=[
            Case(
                f"torchmetrics.{_name}(task='multiclass', num_classes=3)",
                f"ms_compat.{_name}(task='multiclass', num_classes=3)",
                runs=False,
                why=WHY,
            ),
            Case(
                f"torchmetrics.{_name}('binary', threshold=0.3)",
                f"ms_compat.{_name}('binary', threshold=0.3)",
                runs=False,
                why=WHY,
            ),
        ],
    )
    for _task, _arguments in (
        ("multiclass", "num_classes=3"),
        ("multilabel", "num_labels=3"),
        ("binary", "threshold=0.3"),
    ):

        def narrow(call: Call, task: str = _task) -> None:
            """These take the mean over classes unless told otherwise."""
            call.set(task=repr(task))
            if task != "binary" and not call.has("average"):
                call.set(average="'macro'")

        _first = {"multiclass": "num_classes", "multilabel": "num_labels", "binary": "threshold"}[_task]
        _average = "" if _task == "binary" else ", average='macro'"
        rule(
            f"torchmetrics.classification.{_task.capitalize()}{_name}",
            to=_same,
            args=_first,
            positional=0,
            differs="counted with numpy, in one process",
            cases=[
                Case(
                    f"torchmetrics.classification.{_task.capitalize()}{_name}({_arguments})",
                    f"ms_compat.{_name}({_arguments}, task='{_task}'{_average})",
                    runs=False,
                    why=WHY,
                )
            ],
        )(narrow)

for _name, _arguments in (
    ("MeanMetric", ""),
    ("SumMetric", ""),
    ("MaxMetric", ""),
    ("MinMetric", ""),
    ("MeanSquaredError", "squared=False"),
    ("MeanAbsoluteError", ""),
    ("MetricCollection", "{}, prefix='a'"),
    ("Metric", ""),
):
    if _name == "Metric":
        rule(
            "torchmetrics.Metric",
            missing="a metric of the project's own keeps torch's states",
            strategy="equivalent",
            advice="add the numbers up in the module, and log their mean",
        )
        continue
    rule(
        f"torchmetrics.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        cases=[
            Case(f"torchmetrics.{_name}({_arguments})", f"ms_compat.{_name}({_arguments})", runs=False, why=WHY),
        ],
    )

for _name in ("accuracy", "f1_score"):
    rule(
        f"torchmetrics.functional.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        args="preds target task",
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
