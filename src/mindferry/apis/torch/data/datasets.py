"""Datasets, samplers and the functions beside DataLoader: helpers with torch's meaning, in numpy."""

from ... import Case, rule

WHY = "compared with torch in tests/data/test_torch_data.py"
NAMES = {
    "Dataset": ("", ""),
    "IterableDataset": ("", ""),
    "TensorDataset": ("", "(x, y)"),
    "StackDataset": ("", "(a, b)"),
    "Subset": ("dataset indices", "(d, [0, 2])"),
    "ConcatDataset": ("datasets", "([a, b])"),
    "ChainDataset": ("datasets", "([a, b])"),
    "random_split": ("dataset lengths generator", "(d, [8, 2])"),
    "Sampler": ("data_source", ""),
    "SequentialSampler": ("data_source", "(d)"),
    "RandomSampler": ("data_source replacement num_samples generator", "(d, replacement=True)"),
    "SubsetRandomSampler": ("indices generator", "([1, 2])"),
    "WeightedRandomSampler": ("weights num_samples replacement generator", "(w, 10)"),
    "BatchSampler": ("sampler batch_size drop_last", "(s, 4, False)"),
    "DistributedSampler": ("dataset num_replicas rank shuffle seed drop_last", "(d, num_replicas=2, rank=0)"),
    "get_worker_info": ("", "()"),
    "default_collate": ("batch", "(b)"),
    "default_convert": ("data", "(b)"),
}

for _name, (_args, _call) in NAMES.items():
    rule(
        f"torch.utils.data.{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        differs="random numbers are numpy's, which mindspore.set_seed seeds"
        if "andom" in _name or _name == "DistributedSampler"
        else "",
        cases=[Case(f"torch.utils.data.{_name}{_call}", f"ms_compat.{_name}{_call}", runs=False, why=WHY)],
    )
