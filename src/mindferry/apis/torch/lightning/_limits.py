"""What Lightning has and the helpers have not: options of the Trainer, and hooks of Lightning 1."""

from __future__ import annotations

ONE_DEVICE = "start the script with msrun for several processes, or leave it out"
# Options that are dropped: the values that mean what happens anyway, and what to do about others.
OPTIONS: dict[str, tuple[tuple[object, ...], str]] = {
    "strategy": (("auto", None, "single_device"), ONE_DEVICE),
    "devices": ((1, "1", "auto", -1, "-1", None, [0]), ONE_DEVICE),
    "gpus": ((0, 1, "1", -1, "-1", None, [0]), ONE_DEVICE),
    "num_nodes": ((1,), ONE_DEVICE),
    "num_processes": ((1,), ONE_DEVICE),
    "tpu_cores": ((None,), ONE_DEVICE),
    "distributed_backend": ((None,), ONE_DEVICE),
    "sync_batchnorm": ((False,), ONE_DEVICE),
    "precision": ((32, "32", "32-true", None), "float32 it is; cast the network with amp.auto_mixed_precision"),
    "plugins": ((None,), "write what the plugin does into the module"),
    "profiler": ((None,), "measure with `mindferry tune`"),
    "detect_anomaly": ((False,), "leave it out"),
    "barebones": ((False,), "leave it out"),
    "max_time": ((None,), "give max_steps or max_epochs"),
    "model_registry": ((None,), "copy the checkpoint where it belongs"),
    "auto_lr_find": ((False,), "give the learning rate as a number"),
    "auto_scale_batch_size": ((False, None), "give the batch size as a number"),
    "stochastic_weight_avg": ((False,), "use torch.optim.swa_utils, which converts"),
    "track_grad_norm": ((-1,), "log the norm in on_before_optimizer_step()"),
    "resume_from_checkpoint": ((None,), "give ckpt_path to fit()"),
    "checkpoint_callback": ((True,), "give enable_checkpointing or a ModelCheckpoint among callbacks"),
    "multiple_trainloader_mode": (("max_size_cycle",), "give a CombinedLoader"),
    "truncated_bptt_steps": ((None, 0), "split the sequence in training_step()"),
    "overfit_batches": ((0, 0.0), "the batches are limited, but a loader that shuffles goes on shuffling"),
}
UNCALLED = frozenset(
    "training_step_end validation_step_end test_step_end on_epoch_start on_epoch_end on_batch_start on_batch_end "
    "on_pretrain_routine_start on_pretrain_routine_end on_init_start on_init_end on_keyboard_interrupt "
    "tbptt_split_batch configure_sharded_model configure_apex configure_ddp get_progress_bar_dict "
    "on_before_accelerator_backend_setup optimizer_zero_grad_end".split()
)
