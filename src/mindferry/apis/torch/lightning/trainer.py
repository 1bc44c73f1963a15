"""Trainer: what it is told about devices goes, and the fixer `lightning` says what it can't do."""

from ... import Case, rule

WHY = "tests/lightning trains with it"
DEVICES = "accelerator strategy devices num_nodes precision benchmark inference_mode use_distributed_sampler plugins sync_batchnorm"
SHOWN = "enable_model_summary enable_autolog_hparams profiler detect_anomaly barebones model_registry max_time"
OLD = (
    "gpus tpu_cores num_processes ipus auto_select_gpus distributed_backend amp_backend amp_level auto_lr_find "
    "auto_scale_batch_size progress_bar_refresh_rate weights_summary terminate_on_nan replace_sampler_ddp "
    "move_metrics_to_cpu multiple_trainloader_mode flush_logs_every_n_steps stochastic_weight_avg track_grad_norm "
    "process_position prepare_data_per_node checkpoint_callback truncated_bptt_steps resume_from_checkpoint"
)

rule(
    "pytorch_lightning.Trainer",
    to="compat.Trainer",
    like="compat.Trainer",
    drop=f"{DEVICES} {SHOWN} {OLD}",
    differs="one process in float32; a Trainer that is given more says so",
    cases=[
        Case("pytorch_lightning.Trainer(max_epochs=3)", "ms_compat.Trainer(max_epochs=3)", runs=False, why=WHY),
        Case(
            "lightning.Trainer(accelerator='gpu', devices=1, max_steps=9, gradient_clip_val=1.0)",
            "ms_compat.Trainer(max_steps=9, gradient_clip_val=1.0)",
            runs=False,
            why=WHY,
        ),
    ],
)
rule(
    "pytorch_lightning.seed_everything",
    to="compat.seed_everything",
    args="seed workers verbose",
    like="compat.seed_everything",
    differs="another stream of random numbers",
    cases=[
        Case(
            "pytorch_lightning.seed_everything(1, workers=True)",
            "ms_compat.seed_everything(1, workers=True)",
            runs=False,
            why="no value",
        ),
        Case("lightning.fabric.seed_everything(1)", "ms_compat.seed_everything(1)", runs=False, why="no value"),
    ],
)
rule(
    "pytorch_lightning.utilities.CombinedLoader",
    to="compat.CombinedLoader",
    like="compat.CombinedLoader",
    cases=[
        Case(
            "pytorch_lightning.utilities.CombinedLoader([], 'min_size')",
            "ms_compat.CombinedLoader([], 'min_size')",
            runs=False,
            why=WHY,
        )
    ],
)
for _name in ("tune", "from_argparse_args", "add_argparse_args", "default_attributes"):
    rule(
        f"pytorch_lightning.Trainer.{_name}",
        missing="was removed from Lightning 2, and has no counterpart here",
        strategy="equivalent",
        advice="write the Trainer's options out as keywords",
    )
for _name, _missing, _advice in (
    ("tuner.Tuner", "tries learning rates and batch sizes out", "give both as numbers"),
    ("tuner.lr_find", "tries learning rates out", "give the learning rate as a number"),
    (
        "cli.LightningCLI",
        "reads a command line into classes",
        "build the module and the Trainer in a main() of your own",
    ),
):
    rule(f"pytorch_lightning.{_name}", missing=_missing, strategy="equivalent", advice=_advice)
