"""Lightning: what a Trainer is told and can't do here, and hooks that nothing calls, are findings; the rest is the table's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change

TRAINER, MODULE, CALLBACK = (
    f"pytorch_lightning.{name}" for name in ("Trainer", "LightningModule", "callbacks.Callback")
)
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


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.of(ast.Call):
        if facts.api(call.func) == TRAINER:
            yield from _refused_options(facts, call)
    for node, qual in facts.reading.owners.items():
        if isinstance(node, ast.ClassDef):
            bases = facts.reading.symbols.bases(qual)
            if MODULE in bases or CALLBACK in bases:
                yield from _uncalled_hooks(facts, node, MODULE in bases)


def _refused_options(facts: Facts, call: ast.Call) -> Iterator[Change]:
    for given in call.keywords:
        allowed, advice = OPTIONS.get(given.arg or "", ((), ""))
        if not advice:
            continue
        try:
            is_same = ast.literal_eval(given.value) in allowed
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            is_same = False
        if not is_same:
            message = (
                f"Trainer({given.arg}={facts.source.text(given.value)}) has no effect here: one process in float32"
            )
            if given.arg == "overfit_batches":
                message = "Trainer(overfit_batches=...) is converted in part"
            yield facts.found(given.value, findings.MF110, message, advice, "warning")


def _uncalled_hooks(facts: Facts, node: ast.ClassDef, is_module: bool) -> Iterator[Change]:
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    for name, method in methods.items():
        if name in UNCALLED:
            message = f"{name}() is a hook of Lightning 1, which nothing calls here (nor in Lightning 2)"
            yield facts.found(method, findings.MF110, message, "move it to a hook of Lightning 2", "warning")
    if not is_module:
        return
    if "backward" in methods:
        message = "an own backward() is not called: the Trainer differentiates what training_step() returns"
        advice = "set automatic_optimization = False and call manual_backward() in training_step()"
        yield facts.found(methods["backward"], findings.MF110, message, advice, "warning")
    arguments = [each.arg for each in methods["training_step"].args.args] if "training_step" in methods else []
    for name in ("optimizer_idx", "dataloader_iter", "hiddens"):
        if name in arguments:
            message = f"training_step() takes {name}, which nothing gives it here (nor does Lightning 2)"
            advice = "set automatic_optimization = False, and take self.optimizers() in training_step()"
            yield facts.found(methods["training_step"], findings.MF110, message, advice, "warning")
    is_manual = any(isinstance(each, ast.Attribute) and each.attr == "manual_backward" for each in ast.walk(node))
    for name in ("on_before_backward", "on_after_backward"):
        if is_manual and name in methods:
            message = f"{name}() is not called where manual_backward() was lifted"
            yield facts.found(
                methods[name], findings.MF110, message, "call it after the gradients are taken", "warning"
            )
