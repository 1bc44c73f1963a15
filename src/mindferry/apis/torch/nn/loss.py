"""Losses. The plain ones are native; the rest take helpers that accept int64 labels and torch's reductions."""

from ... import Case, rule
from ..._call import Call
from .._selections import is_loss_of_selections

OLD = "size_average reduce reduction"
PAIR = ((4, 5), (4, 5))


def _native(name: str, args: str, cases: list[Case], **options: str) -> None:
    """Native while the older arguments are not used (size_average and reduce have no counterpart) and there is something to add up."""

    @rule(
        f"torch.nn.{name}",
        to=f"mindspore.nn.{name}",
        args=args,
        positional=0,
        like=f"compat.{name}",
        only={"size_average": "None", "reduce": "None", "weight": "None", "pos_weight": "None"},
        cases=cases,
        defaults=options,
    )
    def loss(call: Call) -> None:
        if is_loss_of_selections(call):
            call.use_like()


_native(
    "L1Loss",
    OLD,
    [
        Case("nn.L1Loss()", "nn.L1Loss()", shapes=PAIR),
        Case("nn.L1Loss(reduction='sum')", "nn.L1Loss(reduction='sum')", shapes=PAIR),
        Case("nn.L1Loss(reduction='none')", "nn.L1Loss(reduction='none')", shapes=PAIR),
        Case("nn.L1Loss(False)", "ms_compat.L1Loss(False)", shapes=PAIR),
    ],
)
_native(
    "MSELoss",
    OLD,
    [
        Case("nn.MSELoss()", "nn.MSELoss()", shapes=PAIR),
        Case("nn.MSELoss(reduction='sum')", "nn.MSELoss(reduction='sum')", shapes=PAIR),
        Case("nn.MSELoss(reduction='none')", "nn.MSELoss(reduction='none')", shapes=PAIR),
        Case("nn.MSELoss(reduce=False)", "ms_compat.MSELoss(reduce=False)", shapes=PAIR),
    ],
)
_native(
    "SmoothL1Loss",
    f"{OLD} beta",
    [
        Case("nn.SmoothL1Loss()", "nn.SmoothL1Loss(reduction='mean')", shapes=PAIR),
        Case("nn.SmoothL1Loss(beta=0.5, reduction='sum')", "nn.SmoothL1Loss(beta=0.5, reduction='sum')", shapes=PAIR),
        Case("nn.SmoothL1Loss(None, None, 'none', 0.3)", "nn.SmoothL1Loss(reduction='none', beta=0.3)", shapes=PAIR),
        Case("nn.SmoothL1Loss(size_average=False)", "ms_compat.SmoothL1Loss(size_average=False)", shapes=PAIR),
    ],
    reduction="'mean'",
)
_native(
    "HuberLoss",
    "reduction delta",
    [
        Case("nn.HuberLoss(delta=0.5)", "nn.HuberLoss(delta=0.5)", shapes=PAIR),
        Case("nn.HuberLoss('sum')", "nn.HuberLoss(reduction='sum')", shapes=PAIR),
        Case("nn.HuberLoss(*['none'])", "ms_compat.HuberLoss(*['none'])", shapes=PAIR),
    ],
)
UNIT = ("float32[4,5](0.05,0.95)", "float32[4,5](0,1)")
rule(
    "torch.nn.BCELoss",
    to="compat.BCELoss",
    args=f"weight {OLD}",
    like="compat.BCELoss",
    differs="torch's logarithms end at -100, MindSpore's at -27.6: a sure and wrong answer costs less there",
    cases=[
        Case("nn.BCELoss()", "ms_compat.BCELoss()", inputs=UNIT),
        Case("nn.BCELoss(reduction='none')", "ms_compat.BCELoss(reduction='none')", inputs=UNIT),
        Case(
            "nn.BCELoss()(x.round(), y)", "ms_compat.BCELoss()(ms_compat.round_to(x), y)", inputs=UNIT, gradient=False
        ),
        Case(
            "nn.BCELoss(z, reduction='sum')(x, y)",
            "ms_compat.BCELoss(z, reduction='sum')(x, y)",
            inputs=(*UNIT, "float32[4,5](0,2)"),
            gradient=False,
        ),
        Case("nn.BCELoss(size_average=True)", "ms_compat.BCELoss(size_average=True)", inputs=UNIT),
    ],
)
LOGITS = ("float32[4,5]", "float32[4,5](0,1)")
_native(
    "BCEWithLogitsLoss",
    f"weight {OLD} pos_weight",
    [
        Case("nn.BCEWithLogitsLoss()", "nn.BCEWithLogitsLoss()", inputs=LOGITS),
        Case(
            "nn.BCEWithLogitsLoss(pos_weight=z, reduction='none')(x, y)",
            "ms_compat.BCEWithLogitsLoss(pos_weight=z, reduction='none')(x, y)",
            inputs=(*LOGITS, "float32[5](0.5,2)"),
            gradient=False,
        ),
        Case(
            "nn.BCEWithLogitsLoss(z)(x, y)",
            "ms_compat.BCEWithLogitsLoss(z)(x, y)",
            inputs=(*LOGITS, "float32[5](0.5,2)"),
            gradient=False,
        ),
        Case("nn.BCEWithLogitsLoss(reduce=True)", "ms_compat.BCEWithLogitsLoss(reduce=True)", inputs=LOGITS),
    ],
)


def _helper(name: str, args: str, *cases: tuple[str, tuple[str, ...]], gradient: bool = True) -> None:
    """`cases` are argument texts with inputs; a text that names an input is applied to x and y at once."""
    written = []
    for text, inputs in cases:
        apply = (
            f"({', '.join('xyzw'[: 2 if len(inputs) < 4 else 3])})"
            if "z" in text.replace("size", "").replace("zero", "")
            else ""
        )
        written.append(
            Case(
                f"nn.{name}({text}){apply}",
                f"ms_compat.{name}({text}){apply}",
                inputs=inputs,
                gradient=gradient and not apply,
            )
        )
    rule(f"torch.nn.{name}", to=f"compat.{name}", args=args, like=f"compat.{name}", cases=written)


LABELS = ("float32[6,5]", "int64[6](0,5)")
IMAGE = ("float32[2,5,3,4]", "int64[2,3,4](0,5)")
_helper(
    "CrossEntropyLoss",
    "weight size_average ignore_index reduce reduction label_smoothing",
    ("", LABELS),
    ("", IMAGE),
    ("ignore_index=2", LABELS),
    ("label_smoothing=0.1", LABELS),
    ("reduction='sum'", LABELS),
    ("reduction='none'", IMAGE),
    ("z", (*LABELS, "float32[5](0.5,2)")),
    ("weight=z, label_smoothing=0.2, ignore_index=1", (*LABELS, "float32[5](0.5,2)")),
    ("", ("float32[6,5]", "float32[6,5](0,1)")),
    ("label_smoothing=0.1, reduction='none'", ("float32[6,5]", "float32[6,5](0,1)")),
    ("", ("float32[5]", "int64[](0,5)")),
    ("size_average=False", LABELS),
)
_helper(
    "NLLLoss",
    "weight size_average ignore_index reduce reduction",
    ("", LABELS),
    ("", IMAGE),
    ("ignore_index=2, reduction='sum'", LABELS),
    ("reduction='none'", IMAGE),
    ("weight=z", (*LABELS, "float32[5](0.5,2)")),
)
SHARES = ("float32[4,5](-3,0)", "float32[4,5](0.05,1)")
_helper(
    "KLDivLoss",
    f"{OLD} log_target",
    ("", SHARES),
    ("reduction='batchmean'", SHARES),
    ("reduction='sum'", SHARES),
    ("reduction='none'", SHARES),
    ("reduction='batchmean', log_target=True", ("float32[4,5](-3,0)", "float32[4,5](-3,0)")),
)
SIGNS = ("float32[4,5]", "int64[4,5](-1,2)")
_helper("SoftMarginLoss", OLD, ("", SIGNS), ("reduction='none'", SIGNS))
_helper(
    "MultiLabelSoftMarginLoss",
    f"weight {OLD}",
    ("", LOGITS),
    ("reduction='none'", LOGITS),
    ("z", (*LOGITS, "float32[5](0.5,2)")),
)
_helper(
    "HingeEmbeddingLoss",
    f"margin {OLD}",
    ("", ("float32[4,5]", "int64[4,5](-1,1)")),
    ("margin=0.5, reduction='sum'", ("float32[4,5]", "int64[4,5](-1,1)")),
)
_helper(
    "MarginRankingLoss",
    f"margin {OLD}",
    ("", ("float32[6]", "float32[6]", "int64[6](-1,2)")),
    ("margin=0.3, reduction='none'", ("float32[6]", "float32[6]", "int64[6](-1,2)")),
)
_helper(
    "CosineEmbeddingLoss",
    f"margin {OLD}",
    ("", ("float32[6,5]", "float32[6,5]", "int64[6](-1,2)")),
    ("margin=0.3, reduction='none'", ("float32[6,5]", "float32[6,5]", "int64[6](-1,2)")),
)
_helper(
    "MultiLabelMarginLoss",
    OLD,
    ("", ("float32[3,4]", "int64[3,4](-1,4)")),
    ("reduction='none'", ("float32[3,4]", "int64[3,4](-1,4)")),
    ("", ("float32[4]", "int64[4](-1,4)")),
)
_helper(
    "MultiMarginLoss",
    f"p margin weight {OLD}",
    ("", LABELS),
    ("p=2, margin=0.5, reduction='none'", LABELS),
    ("weight=z", (*LABELS, "float32[5](0.5,2)")),
)
_helper(
    "PoissonNLLLoss",
    "log_input full size_average eps reduce reduction",
    ("", ("float32[4,5]", "float32[4,5](0,5)")),
    ("full=True, reduction='none'", ("float32[4,5]", "float32[4,5](0,5)")),
    ("log_input=False", ("float32[4,5](0.1,3)", "float32[4,5](0,5)")),
)
_helper(
    "GaussianNLLLoss",
    "",
    ("", ("float32[4,5]", "float32[4,5]", "float32[4,5](0.1,2)")),
    ("full=True, eps=0.01, reduction='none'", ("float32[4,5]", "float32[4,5]", "float32[4](0.1,2)")),
)
THREE = ("float32[4,5]", "float32[4,5]", "float32[4,5]")
_helper(
    "TripletMarginLoss",
    f"margin p eps swap {OLD}",
    ("", THREE),
    ("margin=2.0, p=1, swap=True, reduction='none'", THREE),
)
rule(
    "torch.nn.TripletMarginWithDistanceLoss",
    to="compat.TripletMarginWithDistanceLoss",
    like="compat.TripletMarginWithDistanceLoss",
    cases=[
        Case("nn.TripletMarginWithDistanceLoss()", "ms_compat.TripletMarginWithDistanceLoss()", inputs=THREE),
        Case(
            "nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(), margin=2.0, swap=True, reduction='none')",
            "ms_compat.TripletMarginWithDistanceLoss(distance_function=ms_compat.PairwiseDistance(), margin=2.0, swap=True, reduction='none')",
            inputs=THREE,
        ),
    ],
)
CTC = ("float32[9,2,5]", "int64[2,3](1,5)", "int64[2](8,10)", "int64[2](2,4)")
rule(
    "torch.nn.CTCLoss",
    to="compat.CTCLoss",
    args="blank reduction zero_infinity",
    like="compat.CTCLoss",
    differs="as torch's, its gradient takes for granted that log_softmax made the input",
    cases=[
        Case(
            f"nn.CTCLoss({text})(nn.LogSoftmax(-1)(x), y, z, w)",
            f"ms_compat.CTCLoss({text})(nn.LogSoftmax(-1)(x), y, z, w)",
            inputs=CTC,
        )
        for text in ("", "reduction='sum', zero_infinity=True", "blank=0, reduction='none'")
    ],
)
rule(
    "torch.nn.LinearCrossEntropyLoss",
    to="compat.LinearCrossEntropyLoss",
    args="in_features num_classes",
    like="compat.LinearCrossEntropyLoss",
    cases=[
        Case(
            "nn.LinearCrossEntropyLoss(4, 5)",
            "ms_compat.LinearCrossEntropyLoss(4, 5)",
            inputs=("float32[6,4]", "int64[6](0,5)"),
        ),
        Case(
            "nn.LinearCrossEntropyLoss(4, 5, bias=True, label_smoothing=0.1)",
            "ms_compat.LinearCrossEntropyLoss(4, 5, bias=True, label_smoothing=0.1)",
            inputs=("float32[6,4]", "int64[6](0,5)"),
        ),
    ],
)

rule(
    "torch.nn.LinearCrossEntropyOptions",
    to="compat.LinearCrossEntropyOptions",
    like="compat.LinearCrossEntropyOptions",
    cases=[
        Case(
            "nn.LinearCrossEntropyLoss(4, 5, options=nn.LinearCrossEntropyOptions())",
            "ms_compat.LinearCrossEntropyLoss(4, 5, options=ms_compat.LinearCrossEntropyOptions())",
            inputs=("float32[6,4]", "int64[6](0,5)"),
        ),
    ],
)
for name in ("_Loss", "_WeightedLoss"):
    rule(
        f"torch.nn.modules.loss.{name}",
        to=f"compat.{name[1:]}",
        like=f"compat.{name[1:]}",
        cases=[
            Case(f"torch.nn.modules.loss.{name}", f"ms_compat.{name[1:]}", runs=False, why="a base class"),
        ],
    )
rule(
    "torch.nn.NLLLoss2d",
    to="compat.NLLLoss",
    args="weight size_average ignore_index reduce reduction",
    like="compat.NLLLoss",
    cases=[Case("nn.NLLLoss2d()", "ms_compat.NLLLoss()", inputs=IMAGE)],
)
rule(
    "torch.nn.AdaptiveLogSoftmaxWithLoss",
    missing="MindSpore has no softmax over clusters of classes",
    strategy="wrapper",
    advice="use a Linear layer and CrossEntropyLoss, or write the clusters as a Cell",
)
