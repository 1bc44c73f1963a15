"""Projects that don't follow yet: what stops each, as the conversion says it or as the run shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    reason: str
    finding: str = ""  # part of a finding's text: the converter knows, and says so
    failure: str = ""  # part of the error or of the first difference, where no finding tells


GAPS: dict[str, Gap] = {
    "ctc_digits": Gap("gradients prepared for an optimizer that may be None", failure="'NoneType' object has no attribute 'parameters'"),
    "ddp_classifier": Gap("all_reduce in place", finding="torch.distributed.all_reduce"),
    "dqn": Gap("what a statement that stays reads is lifted with the loss", failure="'transitions' is not defined"),
    "finetune_frozen": Gap("backward() under a condition inside `with torch.set_grad_enabled`", finding="MF901"),
    "linear_regression_by_hand": Gap("backward() to tensors that are no parameters of a network", finding="MF201"),
    "pinn_heat": Gap("torch.autograd.grad of an output by its inputs", finding="torch.autograd.grad"),
    "wgan_gp": Gap("text between lifted statements goes along; then torch.autograd.grad", finding="MF901"),
}
