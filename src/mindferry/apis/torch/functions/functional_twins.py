"""Functions of torch.nn.functional that torch has under the same name, with other places for the arguments: torch.layer_norm, torch.kl_div."""

from ... import Case, rule
from ..._call import Call

# torch's own arguments in order; those that F's function calls otherwise are renamed, those that only kernels read go.
TWINS = {
    "batch_norm": "input weight bias running_mean running_var training momentum eps cudnn_enabled",
    "instance_norm": "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled",
    "layer_norm": "input normalized_shape weight bias eps cudnn_enable",
    "group_norm": "input num_groups weight bias eps cudnn_enabled",
    "rms_norm": "input normalized_shape weight eps",
    "embedding": "weight indices padding_idx scale_grad_by_freq sparse",
    "dropout": "input p train",
    "alpha_dropout": "input p train",
    "feature_alpha_dropout": "input p train",
    "rrelu": "input lower upper training",
    "threshold": "input threshold value",
    "kl_div": "input target reduction log_target",
    "cosine_embedding_loss": "input1 input2 target margin reduction",
    "hinge_embedding_loss": "input target margin reduction",
    "margin_ranking_loss": "input1 input2 target margin reduction",
    "triplet_margin_loss": "anchor positive negative margin p eps swap reduction",
    "poisson_nll_loss": "input target log_input full eps reduction",
    "binary_cross_entropy_with_logits": "input target weight pos_weight reduction",
    "ctc_loss": "log_probs targets input_lengths target_lengths blank reduction zero_infinity",
}
OWN_NAMES = {"train": "training", "indices": "input"}
IDLE = ("cudnn_enabled", "cudnn_enable", "sparse")
REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}
CASES = {
    "layer_norm": Case("torch.layer_norm(x, (3,))", "ms_compat.layer_norm(x, (3,))", shapes=((2, 3),)),
    "batch_norm": Case(
        "torch.batch_norm(x, y, z, None, None, True, 0.1, 1e-5, False)",
        "ms_compat.batch_norm(x, weight=y, bias=z, running_mean=None, running_var=None, training=True, momentum=0.1, eps=1e-5)",
        shapes=((4, 3), (3,), (3,)),
    ),
    "embedding": Case(
        "torch.embedding(x, y)", "ms_compat.embedding(y, weight=x)", inputs=("float32[7,5]", "int64[4,3](0,7)")
    ),
    "kl_div": Case("torch.kl_div(x, y, 2)", "ms_compat.kl_div(x, y, reduction='sum')", shapes=((2, 3), (2, 3))),
    "instance_norm": Case(
        "torch.instance_norm(x, y, z, None, None, True, 0.1, 1e-5, False)",
        "ms_compat.instance_norm(x, weight=y, bias=z, running_mean=None, running_var=None, use_input_stats=True, momentum=0.1, eps=1e-5)",
        shapes=((4, 3, 5), (3,), (3,)),
    ),
    "rms_norm": Case(
        "torch.rms_norm(x, (3,), y, 1e-5)", "ms_compat.rms_norm(x, (3,), weight=y, eps=1e-5)", shapes=((2, 3), (3,))
    ),
    "alpha_dropout": Case(
        "torch.alpha_dropout(x, 0.5, False)", "ms_compat.alpha_dropout(x, p=0.5, training=False)", shapes=((2, 3),)
    ),
    "feature_alpha_dropout": Case(
        "torch.feature_alpha_dropout(x, 0.5, False)",
        "ms_compat.feature_alpha_dropout(x, p=0.5, training=False)",
        shapes=((2, 3, 4),),
    ),
    "rrelu": Case("torch.rrelu(x, 0.1, 0.3)", "ms_compat.rrelu(x, lower=0.1, upper=0.3)", shapes=((2, 3),)),
    "threshold": Case("torch.threshold(x, 0.1, 7)", "ms_compat.threshold(x, threshold=0.1, value=7)", shapes=((2, 3),)),
    "cosine_embedding_loss": Case(
        "torch.cosine_embedding_loss(x, y, torch.ones(4), 0.1, 1)",
        "ms_compat.cosine_embedding_loss(x, y, ops.ones((4,)), margin=0.1, reduction='mean')",
        shapes=((4, 3), (4, 3)),
    ),
    "hinge_embedding_loss": Case(
        "torch.hinge_embedding_loss(x, torch.ones(4, 3))",
        "ms_compat.hinge_embedding_loss(x, ops.ones((4, 3)), reduction='none')",
        shapes=((4, 3),),
    ),
    "margin_ranking_loss": Case(
        "torch.margin_ranking_loss(x, y, torch.ones(4), 0.1)",
        "ms_compat.margin_ranking_loss(x, y, ops.ones((4,)), margin=0.1, reduction='none')",
        shapes=((4,), (4,)),
    ),
    "triplet_margin_loss": Case(
        "torch.triplet_margin_loss(x, y, z, 0.5, reduction=2)",
        "ms_compat.triplet_margin_loss(x, y, z, margin=0.5, reduction='sum')",
        shapes=((4, 3), (4, 3), (4, 3)),
    ),
    "poisson_nll_loss": Case(
        "torch.poisson_nll_loss(x, y.abs(), True, False, 1e-8, 1)",
        "ms_compat.poisson_nll_loss(x, ops.abs(y), log_input=True, full=False, eps=1e-8, reduction='mean')",
        shapes=((4, 3), (4, 3)),
    ),
    "binary_cross_entropy_with_logits": Case(
        "torch.binary_cross_entropy_with_logits(x, y.sigmoid())",
        "ms_compat.binary_cross_entropy_with_logits(x, ops.sigmoid(y), reduction='none')",
        shapes=((4, 3), (4, 3)),
    ),
    "ctc_loss": Case(
        "torch.ctc_loss(x.log_softmax(-1), y, (5, 5), (2, 3), 0, 2)",
        "ms_compat.ctc_loss(ops.log_softmax(x, -1), targets=y, input_lengths=(5, 5), target_lengths=(2, 3), blank=0, reduction='sum')",
        inputs=("float32[5,2,4]", "int64[2,3](1,4)"),
    ),
    "dropout": Case("torch.dropout(x, 0.5, False)", "ms_compat.dropout(x, p=0.5, training=False)", shapes=((2, 3),)),
}


def _write(call: Call) -> None:
    """F's function with torch's signature; the arguments that both have in the same place stay so, the others get names."""
    if call.is_opaque or call.extra:
        call.leave("its arguments can't be told", "write them out")
        return
    name = call.rule.api.rpartition(".")[2]
    parts = []
    leading = {"input", "input1", "input2", "target", "anchor", "positive", "negative", "normalized_shape", "log_probs"}
    if name == "embedding":
        parts.append(call.text("indices"))
    for each in call.rule.args:
        if not call.has(each) or each in IDLE or each == "indices":
            continue
        text = call.text(each)
        if each == "reduction":
            number = call.literal(each)
            if number not in REDUCTIONS:
                call.leave("the number of a reduction can't be told", "use torch.nn.functional's function")
                return
            text = f"'{REDUCTIONS[number]}'"
        if each == "padding_idx" and call.literal(each) == -1:  # none
            continue
        parts.append(text if each in leading else f"{OWN_NAMES.get(each, each)}={text}")
    if "reduction" in call.rule.args and not call.has("reduction"):
        parts.append("reduction='none'")  # what torch's own take it for, other than F's
    call.replace(f"{call.name(f'compat.{name}')}({', '.join(parts)})")


for _name, _args in TWINS.items():
    if _name != "group_norm":
        rule(f"torch.{_name}", args=_args, cases=[CASES[_name]])(_write)
rule(
    "torch.group_norm",
    to="mindspore.ops.group_norm",
    args=TWINS["group_norm"],
    drop="cudnn_enabled",
    cases=[Case("torch.group_norm(x, 2)", "ops.group_norm(x, 2)", shapes=((2, 4, 3),))],
)
