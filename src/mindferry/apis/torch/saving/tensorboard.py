"""TensorBoard's writer: the same calls write MindSpore's event files."""

from ... import Case, rule

WHY = "tests/apis/test_summaries.py writes with it"
rule(
    "torch.utils.tensorboard.SummaryWriter",
    to="compat.SummaryWriter",
    args="log_dir comment purge_step max_queue flush_secs filename_suffix",
    like="compat.SummaryWriter",
    differs="scalars, images and histograms in MindSpore's event files; texts, graphs and figures are not kept",
    cases=[
        Case("torch.utils.tensorboard.SummaryWriter('runs')", "ms_compat.SummaryWriter('runs')", runs=False, why=WHY),
        Case(
            "torch.utils.tensorboard.SummaryWriter(comment='a')",
            "ms_compat.SummaryWriter(comment='a')",
            runs=False,
            why=WHY,
        ),
    ],
)
NAMES = (
    "add_scalar add_scalars add_histogram add_image add_images add_text add_graph add_figure add_hparams add_video add_audio "
    "add_embedding add_pr_curve add_mesh add_custom_scalars export_scalars_to_json get_logdir flush close"
)
for _name in NAMES.split():
    rule(
        f"torch.utils.tensorboard.SummaryWriter.{_name}",
        to=f".{_name}",
        like=f".{_name}",
        cases=[
            Case(
                f"torch.utils.tensorboard.SummaryWriter('runs').{_name}",
                f"ms_compat.SummaryWriter('runs').{_name}",
                runs=False,
                why=WHY,
            ),
        ],
    )
