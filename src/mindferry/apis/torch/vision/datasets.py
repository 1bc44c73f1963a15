"""torchvision's datasets, read from the same files. Nothing is downloaded."""

from ... import Case, rule

WHY = "compared on files in tests/data/test_datasets.py"
DATASETS = {
    "CIFAR10": "root train transform target_transform download",
    "CIFAR100": "root train transform target_transform download",
    "MNIST": "root train transform target_transform download",
    "FashionMNIST": "root train transform target_transform download",
    "KMNIST": "root train transform target_transform download",
    "EMNIST": "root split",
    "QMNIST": "root what compat train",
    "SVHN": "root split transform target_transform download",
    "STL10": "root split folds transform target_transform download",
    "USPS": "root train transform target_transform download",
    "ImageFolder": "root transform target_transform loader is_valid_file allow_empty",
    "DatasetFolder": "root loader extensions transform target_transform is_valid_file allow_empty",
    "VOCSegmentation": "root year image_set download transform target_transform transforms",
    "VOCDetection": "root year image_set download transform target_transform transforms",
    "CocoDetection": "root annFile transform target_transform transforms",
    "CocoCaptions": "root annFile transform target_transform transforms",
    "FakeData": "size image_size num_classes transform target_transform random_offset",
    "VisionDataset": "root transforms transform target_transform",
}
CLASS_ATTRIBUTES = {
    "CIFAR10": "base_folder url filename tgz_md5 train_list test_list meta",
    "CIFAR100": "base_folder url filename tgz_md5 train_list test_list meta",
    "MNIST": "mirrors resources classes",
    "FashionMNIST": "mirrors resources classes",
    "KMNIST": "mirrors resources classes",
}
LOADERS = {"pil_loader": "pil_loader", "default_loader": "pil_loader", "IMG_EXTENSIONS": "IMG_EXTENSIONS"}


def add(api: str, to: str, args: str = "", differs: str = "") -> None:
    call = "('data')" if args else ""
    rule(
        f"torchvision.datasets.{api}",
        to=f"compat.{to}",
        args=args,
        like=f"compat.{to}",
        differs=differs,
        cases=[Case(f"torchvision.datasets.{api}{call}", f"ms_compat.{to}{call}", runs=False, why=WHY)],
    )


for _name, _args in DATASETS.items():
    add(
        _name,
        _name,
        _args,
        "random numbers are numpy's" if _name == "FakeData" else "nothing is downloaded: the files must be there",
    )
for _name, _attributes in CLASS_ATTRIBUTES.items():
    for _attribute in _attributes.split():
        add(f"{_name}.{_attribute}", f"{_name}.{_attribute}")
for _name, _helper in LOADERS.items():
    add(f"folder.{_name}", _helper, "path" if "loader" in _name else "")
