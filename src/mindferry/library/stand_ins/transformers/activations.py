"""transformers.activations: sums of bfloat16 are made in float32 and rounded, as torch makes them; MindSpore has none on CPU."""

import torch


class XIELUActivation:
    def __init__(
        self,
        alpha_p_init=0.8,
        alpha_n_init=0.8,
        beta=0.5,
        eps=-1e-6,
        dtype=torch.bfloat16,
        with_vector_loads=False,
    ):
        super().__init__()
        self.alpha_p = nn.Parameter(inverse_softplus(alpha_p_init, dtype))
        self.alpha_n = nn.Parameter(inverse_softplus(alpha_n_init - beta, dtype))
        self.register_buffer("beta", torch.tensor(beta, dtype=dtype))
        self.register_buffer("eps", torch.tensor(eps, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        kind = self.beta.dtype
        beta, eps = self.beta.float(), self.eps.float()
        alpha_p = nn.functional.softplus(self.alpha_p.float()).to(kind).float()
        alpha_n = (beta + nn.functional.softplus(self.alpha_n.float()).to(kind).float()).to(kind).float()
        return torch.where(
            input > 0,
            alpha_p * input * input + beta * input,
            (torch.expm1(torch.min(input, eps)) - input) * alpha_n + beta * input,
        )


def inverse_softplus(value, dtype):
    value = torch.expm1(torch.tensor(value, dtype=dtype).float()).to(dtype)
    return torch.log(value.float()).to(dtype).unsqueeze(0)
