"""torchmetrics' commonest metrics, which Lightning's projects log."""

from ... import Case, rule
from ..._call import Call

WHY = "tests/lightning counts with it"
COUNTED = "threshold num_classes num_labels average multidim_average top_k ignore_index validate_args"
TAKES = {  # what each takes besides the task
    "Accuracy": COUNTED,
    "F1Score": COUNTED,
    "Precision": COUNTED,
    "Recall": COUNTED,
    "Specificity": COUNTED,
    "HammingDistance": COUNTED,
    "FBetaScore": f"beta {COUNTED}",
    "ConfusionMatrix": "threshold num_classes num_labels normalize ignore_index validate_args",
    "JaccardIndex": "threshold num_classes num_labels average ignore_index validate_args",
    "CohenKappa": "threshold num_classes weights ignore_index validate_args",
    "MatthewsCorrCoef": "threshold num_classes num_labels ignore_index validate_args",
    "AUROC": "thresholds num_classes num_labels average max_fpr ignore_index validate_args",
    "AveragePrecision": "thresholds num_classes num_labels average ignore_index validate_args",
}
FIRST = {"multiclass": "num_classes", "multilabel": "num_labels", "binary": "threshold"}
DIFFERS = "counted with numpy, in one process"
for _name, _takes in TAKES.items():
    _same = f"compat.{_name}"
    _beta = "beta=2.0, " if _name == "FBetaScore" else ""
    rule(
        f"torchmetrics.{_name}",
        to=_same,
        like=_same,
        args=f"task {_takes}",
        differs=DIFFERS,
        cases=[
            Case(
                f"torchmetrics.{_name}(task='multiclass', {_beta}num_classes=3)",
                f"ms_compat.{_name}(task='multiclass', {_beta}num_classes=3)",
                runs=False,
                why=WHY,
            ),
            Case(
                f"torchmetrics.{_name}('binary', {_beta}ignore_index=0)",
                f"ms_compat.{_name}('binary', {_beta}ignore_index=0)",
                runs=False,
                why=WHY,
            ),
        ],
    )
    for _task in FIRST:
        if _task == "multilabel" and "num_labels" not in _takes:
            continue

        def narrow(call: Call, task: str = _task, averages: bool = "average" in _takes) -> None:
            """These take the mean over classes unless told otherwise."""
            call.set(task=repr(task))
            if task != "binary" and averages and not call.has("average"):
                call.set(average="'macro'")

        _first = FIRST[_task] if FIRST[_task] in _takes.split() else "max_fpr" if "max_fpr" in _takes else "thresholds"
        _first = f"beta {_first}" if _beta else _first
        _given = f"{_beta}{FIRST[_task]}=3" if _task != "binary" else f"{_beta}ignore_index=0"
        _average = ", average='macro'" if _task != "binary" and "average" in _takes else ""
        rule(
            f"torchmetrics.classification.{_task.capitalize()}{_name}",
            to=_same,
            args=_first,
            positional=0,
            differs=DIFFERS,
            cases=[
                Case(
                    f"torchmetrics.classification.{_task.capitalize()}{_name}({_given})",
                    f"ms_compat.{_name}({_given}, task='{_task}'{_average})",
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
    ("MeanAbsolutePercentageError", ""),
    ("R2Score", ""),
    ("PearsonCorrCoef", ""),
    ("MetricCollection", "{}, prefix='a'"),
):
    rule(
        f"torchmetrics.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        cases=[
            Case(f"torchmetrics.{_name}({_arguments})", f"ms_compat.{_name}({_arguments})", runs=False, why=WHY),
        ],
    )

rule(
    "torchmetrics.Metric",
    to="compat.OwnMetric",
    like="compat.OwnMetric",
    differs="states are kept in one process",
    cases=[Case("torchmetrics.Metric()", "ms_compat.OwnMetric()", runs=False, why=WHY)],
)
