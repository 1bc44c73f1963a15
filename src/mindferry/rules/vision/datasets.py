"""torchvision's datasets, read from the same files. Nothing is downloaded."""

from .. import Case, rule

WHY = "compared on files in tests/data/test_datasets.py"
CLASS_ATTRIBUTES = {
    "CIFAR10": "base_folder url filename tgz_md5 train_list test_list meta",
    "CIFAR100": "base_folder url filename tgz_md5 train_list test_list meta",
}

for _name, _args in {
    "CIFAR10": "root train transform target_transform download",
    "CIFAR100": "root train transform target_transform download",
    "VisionDataset": "root transforms transform target_transform",
}.items():
    rule(
        f"torchvision.datasets.{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        differs="nothing is downloaded: the files must be there",
        cases=[Case(f"torchvision.datasets.{_name}('data')", f"ms_compat.{_name}('data')", runs=False, why=WHY)],
    )

for _name, _attributes in CLASS_ATTRIBUTES.items():
    for _attribute in _attributes.split():
        _full = f"{_name}.{_attribute}"
        rule(f"torchvision.datasets.{_full}", to=f"compat.{_full}", like=f"compat.{_full}",
             cases=[Case(f"torchvision.datasets.{_full}", f"ms_compat.{_full}", runs=False, why=WHY)])  # fmt: skip
