"""ema_pytorch.EMA: a copy of a network whose parameters follow it slowly."""

import copy

import mindspore as ms


class EMA:
    """Copies until update_after_step, then averages every few steps with a decay that grows up to beta."""

    def __init__(
        self,
        model,
        ema_model=None,
        beta=0.9999,
        update_after_step=100,
        update_every=10,
        inv_gamma=1.0,
        power=2 / 3,
        min_value=0.0,
        include_online_model=True,
        **options,
    ):
        unknown = [name for name, value in options.items() if value]
        if unknown:
            raise NotImplementedError(f"{unknown[0]} of ema_pytorch.EMA is not written here; add it to update()")
        self.model = self.online_model = model
        self.ema_model = copy.deepcopy(model) if ema_model is None else ema_model
        for parameter in self.ema_model.get_parameters():
            parameter.requires_grad = False
        self.beta, self.update_after_step, self.update_every = beta, update_after_step, update_every
        self.inv_gamma, self.power, self.min_value = inv_gamma, power, min_value
        self.step, self.initted = 0, False

    def __call__(self, *inputs, **options):
        return self.ema_model(*inputs, **options)

    def to(self, *devices):
        return self

    def set_train(self, mode=True):
        self.ema_model.set_train(mode)
        return self

    def get_current_decay(self):
        epoch = max(self.step - self.update_after_step - 1, 0.0)
        value = 1 - (1 + epoch / self.inv_gamma) ** -self.power
        return 0.0 if epoch <= 0 else min(max(value, self.min_value), self.beta)

    def update(self):
        step, self.step = self.step, self.step + 1
        is_due = step % self.update_every == 0
        if not self.initted or (is_due and step <= self.update_after_step):
            self.initted = True
            self._move(0.0)
        elif is_due and self.beta != 1:
            self._move(self.get_current_decay())

    def _move(self, decay):
        for average, current in zip(self.ema_model.get_parameters(), self.model.get_parameters()):
            if average.dtype in (ms.float16, ms.float32, ms.float64, ms.bfloat16):
                average.set_data(average * decay + current * (1 - decay) if decay else current.value().copy())

    def state_dict(self):
        return {"initted": self.initted, "step": self.step, "ema_model": self.ema_model.state_dict()}

    def load_state_dict(self, state_dict):
        self.initted, self.step = bool(state_dict["initted"]), int(state_dict["step"])
        self.ema_model.load_state_dict(state_dict["ema_model"])
