"""torch.distributions: helpers with torch's arguments, methods and gradients; MindSpore's own have other ones."""

from __future__ import annotations

from ... import Case, rule

HOME = "torch.distributions."
X, POSITIVE, UNIT = "float32[3,4]", "float32[3,4](0.5,3)", "float32[3,4](0.1,0.9)"
# name, torch's parameters, the parameters in a call, a value, the inputs in the order x, y, z, the methods that it has
ROWS = (
    ("Normal", "loc scale", "x, y", "z", (X, POSITIVE, X), "entropy mean variance cdf"),
    ("LogNormal", "loc scale", "x, y", "z", (X, UNIT, POSITIVE), "entropy mean variance"),
    ("Uniform", "low high", "x, x + y", "x + y * z", (X, POSITIVE, UNIT), "entropy mean variance cdf"),
    ("Laplace", "loc scale", "x, y", "z", (X, POSITIVE, X), "entropy mean variance cdf"),
    ("Exponential", "rate", "x", "y", (POSITIVE, POSITIVE), "entropy mean variance cdf"),
    ("Gumbel", "loc scale", "x, y", "z", (X, POSITIVE, X), "entropy mean variance"),
    ("Gamma", "concentration rate", "x, y", "z", (POSITIVE, POSITIVE, POSITIVE), "entropy mean variance"),
    ("Chi2", "df", "x", "y", (POSITIVE, POSITIVE), "entropy mean variance"),
    ("Beta", "concentration1 concentration0", "x, y", "z", (POSITIVE, POSITIVE, UNIT), "entropy mean variance"),
    ("Dirichlet", "concentration", "x", "y / y.sum(-1, keepdim=True)", (POSITIVE, POSITIVE), "entropy mean variance"),
    ("StudentT", "df loc scale", "x, y, z", "y + 1", ("float32[3,4](2.5,5)", X, POSITIVE), "entropy mean variance"),
    ("Categorical", "probs logits", "logits=x", "y", (X, "int64[3](0,4)"), "entropy"),
    (
        "OneHotCategorical",
        "probs logits",
        "x",
        "torch.eye(3)[y]",
        ("float32[3,3](0.1,0.9)", "int64[3](0,3)"),
        "mean",
    ),
    ("Bernoulli", "probs logits", "logits=x", "(y > 0).float()", (X, X), "entropy mean variance"),
    ("Binomial", "total_count probs logits", "5, y", "z.floor()", (X, UNIT, POSITIVE), "mean variance"),
    ("Geometric", "probs logits", "x", "y.floor()", (UNIT, POSITIVE), "entropy mean variance"),
    ("Poisson", "rate", "x", "y.floor()", (POSITIVE, POSITIVE), "mean variance"),
)
TEXTS = (
    ("y.sum(-1, keepdim=True)", "ops.sum(y, -1, keepdim=True)"),
    ("z.floor()", "ops.floor(z)"),
    ("y.floor()", "ops.floor(y)"),
    ("torch.eye(3)", "ms_compat.eye(3)"),
)


def _after(text: str) -> str:
    for before, after in TEXTS:
        text = text.replace(before, after)
    return text


def _cases(name: str, helper: str, given: str, value: str, inputs: tuple[str, ...], methods: str) -> list[Case]:
    made, becomes = f"{HOME}{name}({given})", f"ms_compat.{helper}({given})"
    cases = [
        Case(f"{made}.log_prob({value})", f"{becomes}.log_prob({_after(value)})", inputs=inputs, rtol=1e-3, atol=1e-4),
        Case(f"{made}.sample((500,))", f"{becomes}.sample((500,))", inputs=inputs, random=True),
    ]
    for method in methods.split():
        tail = {"cdf": f".cdf({value})", "entropy": ".entropy()"}.get(method, f".{method}")
        cases.append(Case(f"{made}{tail}", f"{becomes}{_after(tail)}", inputs=inputs, rtol=1e-3, atol=1e-4))
    return cases


for _name, _args, _given, _value, _inputs, _methods in ROWS:
    _helper = f"{_name}Distribution"
    rule(
        f"{HOME}{_name}",
        to=f"compat.{_helper}",
        args=f"{_args} validate_args",
        like=f"compat.{_helper}",
        cases=_cases(_name, _helper, _given, _value, _inputs, _methods),
    )
rule(
    f"{HOME}MultivariateNormal",
    to="compat.MultivariateNormalDistribution",
    args="loc covariance_matrix precision_matrix scale_tril validate_args",
    like="compat.MultivariateNormalDistribution",
    cases=[
        Case(
            f"{HOME}MultivariateNormal(x, y @ y.T + torch.eye(3)).log_prob(z)",
            "ms_compat.MultivariateNormalDistribution(x, y @ y.T + ms_compat.eye(3)).log_prob(z)",
            shapes=((2, 3), (3, 3), (4, 2, 3)),
            rtol=1e-3,
        ),
        Case(
            f"{HOME}MultivariateNormal(x, scale_tril=torch.tril(y) + 3 * torch.eye(3)).entropy()",
            "ms_compat.MultivariateNormalDistribution(x, scale_tril=ops.tril(y) + 3 * ms_compat.eye(3)).entropy()",
            shapes=((2, 3), (2, 3, 3)),
        ),
        Case(
            f"{HOME}MultivariateNormal(x, precision_matrix=y @ y.T + torch.eye(3)).covariance_matrix",
            "ms_compat.MultivariateNormalDistribution(x, precision_matrix=y @ y.T + ms_compat.eye(3)).covariance_matrix",
            shapes=((3,), (3, 3)),
            rtol=1e-3,
            atol=1e-4,
        ),
        Case(
            f"{HOME}MultivariateNormal(x, torch.eye(3)).sample((500,))",
            "ms_compat.MultivariateNormalDistribution(x, ms_compat.eye(3)).sample((500,))",
            shapes=((3,),),
            random=True,
        ),
    ],
)
rule(
    f"{HOME}Independent",
    to="compat.IndependentDistribution",
    args="base_distribution reinterpreted_batch_ndims validate_args",
    like="compat.IndependentDistribution",
    cases=[
        Case(
            f"{HOME}Independent({HOME}Normal(x, y), 1).log_prob(z)",
            "ms_compat.IndependentDistribution(ms_compat.NormalDistribution(x, y), 1).log_prob(z)",
            inputs=(X, POSITIVE, X),
        ),
    ],
)
rule(
    f"{HOME}MixtureSameFamily",
    to="compat.MixtureSameFamilyDistribution",
    args="mixture_distribution component_distribution validate_args",
    like="compat.MixtureSameFamilyDistribution",
    cases=[
        Case(
            f"{HOME}MixtureSameFamily({HOME}Categorical(logits=x), {HOME}Normal(y, z)).log_prob(x[:, 0])",
            "ms_compat.MixtureSameFamilyDistribution(ms_compat.CategoricalDistribution(logits=x), ms_compat.NormalDistribution(y, z)).log_prob(x[:, 0])",
            inputs=(X, X, POSITIVE),
        ),
    ],
)
rule(
    f"{HOME}OneHotCategoricalStraightThrough",
    to="compat.OneHotCategoricalStraightThrough",
    args="probs logits validate_args",
    like="compat.OneHotCategoricalStraightThrough",
    cases=[
        Case(
            f"{HOME}OneHotCategoricalStraightThrough(logits=x).rsample((500,))",
            "ms_compat.OneHotCategoricalStraightThrough(logits=x).rsample((500,))",
            inputs=(X,),
            random=True,
        ),
    ],
)
rule(
    f"{HOME}TransformedDistribution",
    to="compat.TransformedDistribution",
    args="base_distribution transforms validate_args",
    like="compat.TransformedDistribution",
    cases=[
        Case(
            f"{HOME}TransformedDistribution({HOME}Normal(x, y), [{HOME}TanhTransform(cache_size=1), {HOME}AffineTransform(1.0, 2.0)]).log_prob(z)",
            "ms_compat.TransformedDistribution(ms_compat.NormalDistribution(x, y), [ms_compat.TanhTransform(cache_size=1), ms_compat.AffineTransform(1.0, 2.0)]).log_prob(z)",
            inputs=(X, POSITIVE, UNIT),
            rtol=1e-3,
        ),
    ],
)
for _name, _args, _given, _input in (
    ("TanhTransform", "cache_size", "", X),
    ("SigmoidTransform", "cache_size", "", X),
    ("ExpTransform", "cache_size", "", X),
    ("AffineTransform", "loc scale event_dim cache_size", "1.5, 2.0", X),
):
    rule(
        f"{HOME}{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        cases=[
            Case(f"{HOME}{_name}({_given})(x)", f"ms_compat.{_name}({_given})(x)", inputs=(_input,)),
            Case(
                f"{HOME}{_name}({_given}).log_abs_det_jacobian(x, y) + x",
                f"ms_compat.{_name}({_given}).log_abs_det_jacobian(x, y) + x",
                inputs=(_input, _input),
            ),
        ],
    )
rule(
    f"{HOME}ComposeTransform",
    to="compat.ComposeTransform",
    args="parts cache_size",
    like="compat.ComposeTransform",
    cases=[
        Case(
            f"{HOME}ComposeTransform([{HOME}AffineTransform(1.0, 2.0), {HOME}ExpTransform()])(x)",
            "ms_compat.ComposeTransform([ms_compat.AffineTransform(1.0, 2.0), ms_compat.ExpTransform()])(x)",
            inputs=(X,),
        ),
    ],
)
BETWEEN = {
    "Normal": "x, y",
    "Laplace": "x, y",
    "Gamma": "y, z",
    "Beta": "y, z",
    "Exponential": "y",
    "Dirichlet": "y",
    "Categorical": "logits=x",
    "Bernoulli": "logits=x",
    "Uniform": "x, x + y",
}
OTHER = {
    "Uniform": "x - z, x + y + z",
    "Categorical": "logits=z",
    "Bernoulli": "logits=z",
    "Exponential": "z",
    "Dirichlet": "z",
}
rule(
    f"{HOME}kl_divergence",
    to="compat.kl_divergence",
    args="p q",
    like="compat.kl_divergence",
    differs="between two distributions of the same kind",
    cases=[
        Case(
            f"{HOME}kl_divergence({HOME}{name}({given}), {HOME}{name}({OTHER.get(name, 'z, y')}))",
            f"ms_compat.kl_divergence(ms_compat.{name}Distribution({given}), ms_compat.{name}Distribution({OTHER.get(name, 'z, y')}))",
            inputs=(X, POSITIVE, POSITIVE),
            rtol=1e-3,
            atol=1e-4,
        )
        for name, given in BETWEEN.items()
    ],
)
for _name in ("Distribution", "ExponentialFamily"):
    rule(
        f"{HOME}{_name}",
        to=f"compat.{_name}",
        args="batch_shape event_shape validate_args",
        like=f"compat.{_name}",
        cases=[
            Case(
                f"x * len({HOME}{_name}((3,), validate_args=False).batch_shape)",
                f"x * len(ms_compat.{_name}((3,), validate_args=False).batch_shape)",
                inputs=(X,),
            ),
        ],
    )
for _name in (
    "register_kl",
    "constraints",
    "biject_to",
    "transform_to",
    "LowRankMultivariateNormal",
    "RelaxedBernoulli",
):
    rule(
        f"{HOME}{_name}",
        missing="this part of torch.distributions has no counterpart",
        strategy="wrapper",
        advice="write what it computes with ops beside the helpers in ms_compat.py",
    )
CHECKED = {  # what a constraint is asked about
    "real": "x",
    "positive": "x",
    "nonnegative": "x",
    "unit_interval": "x",
    "simplex": "torch.eye(4)",
    "positive_definite": "torch.stack([x @ x.T, -(x @ x.T)])",
}
for _name, _given in CHECKED.items():
    rule(
        f"{HOME}constraints.{_name}.check",
        to=f"compat.check_{_name}",
        args="value",
        cases=[
            Case(
                f"{HOME}constraints.{_name}.check({_given})",
                f"ms_compat.check_{_name}({_given.replace('torch.eye', 'ms_compat.eye').replace('torch.', 'ops.')})",
                gradient=False,
                inputs=(X,),
            )
        ],
    )
