"""Names that torch exports in more than one place: (prefix as written, prefix that the table uses)."""

ALIASES: tuple[tuple[str, str], ...] = (
    ("torch.nn.modules.module.Module", "torch.nn.Module"),
    ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
    ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler"),
    ("torch.utils.data.sampler.", "torch.utils.data."),
    ("torch.optim.adam.Adam", "torch.optim.Adam"),
    ("torch.optim.optimizer.Optimizer", "torch.optim.Optimizer"),
    ("torch.functional.", "torch."),
    ("torch.nn.modules.utils.", "torch.nn.modules.utils."),
)
