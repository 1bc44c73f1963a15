"""Lightning's callbacks: those that train, stop and save have helpers; those that only show something stay silent."""

from ... import Case, rule

WHY = "tests/lightning trains with it"
for _name, _arguments in (
    ("Callback", ""),
    ("ModelCheckpoint", "dirpath='a', monitor='loss'"),
    ("EarlyStopping", "'loss', patience=2"),
    ("LearningRateMonitor", "logging_interval='step'"),
    ("LambdaCallback", "setup=print"),
):
    rule(
        f"pytorch_lightning.callbacks.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        cases=[
            Case(
                f"pytorch_lightning.callbacks.{_name}({_arguments})",
                f"ms_compat.{_name}({_arguments})",
                runs=False,
                why=WHY,
            ),
            Case(
                f"lightning.pytorch.callbacks.{_name}({_arguments})",
                f"ms_compat.{_name}({_arguments})",
                runs=False,
                why=WHY,
            ),
        ],
    )
rule(
    "pytorch_lightning.callbacks.Checkpoint",
    to="compat.ModelCheckpoint",
    like="compat.ModelCheckpoint",
    cases=[Case("pytorch_lightning.callbacks.Checkpoint", "ms_compat.ModelCheckpoint", runs=False, why=WHY)],
)

for _name in (
    "ProgressBar",
    "TQDMProgressBar",
    "RichProgressBar",
    "ModelSummary",
    "RichModelSummary",
    "DeviceStatsMonitor",
    "GPUStatsMonitor",
):
    rule(
        f"pytorch_lightning.callbacks.{_name}",
        to="compat.SilentCallback",
        like="compat.SilentCallback",
        differs="shows nothing: the Trainer prints a line an epoch",
        cases=[
            Case(
                f"pytorch_lightning.callbacks.{_name}()",
                "ms_compat.SilentCallback()",
                runs=False,
                why="it shows something, and has no value",
            )
        ],
    )

for _name, _missing, _advice in (
    (
        "StochasticWeightAveraging",
        "averages the weights of the last epochs",
        "use torch.optim.swa_utils, which converts",
    ),
    ("GradientAccumulationScheduler", "changes accumulate_grad_batches", "give accumulate_grad_batches as one number"),
    ("BasePredictionWriter", "writes predictions", "write what Trainer.predict() returns"),
    ("BaseFinetuning", "unfreezes layers while training", "add_param_group() in on_train_epoch_start()"),
    ("BackboneFinetuning", "unfreezes layers while training", "add_param_group() in on_train_epoch_start()"),
    ("ModelPruning", "prunes weights by torch's own means", "prune before training"),
    ("Timer", "stops after a while", "give max_steps or max_epochs"),
    ("WeightAveraging", "averages weights", "use torch.optim.swa_utils, which converts"),
    ("EMAWeightAveraging", "averages weights", "use torch.optim.swa_utils, which converts"),
    ("OnExceptionCheckpoint", "saves when training fails", "ModelCheckpoint(save_on_exception=True)"),
):
    rule(f"pytorch_lightning.callbacks.{_name}", missing=_missing, strategy="equivalent", advice=_advice)
