"""Networks of timm, one of each family, small (timm.tsv), and of torchvision, one of each family, by name."""

from __future__ import annotations

import csv
from pathlib import Path

from .network import Network

FAMILIES = Path(__file__).with_name("timm.tsv")


def of_timm() -> list[Network]:
    found = []
    with FAMILIES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            words = ", ".join(filter(None, ("pretrained=False", "num_classes=7", row["keywords"])))
            batch = {"": f"float[1,3,{row['pixels']},{row['pixels']}]"}
            build = f"timm.create_model('{row['model']}', {words})"
            found.append(Network("timm", row["model"], "import timm", build, batch, "found"))
    return found


CLASSIFYING = (
    "alexnet",
    "convnext_tiny",
    "densenet121",
    "efficientnet_b0",
    "maxvit_t",
    "mnasnet0_5",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "regnet_x_400mf",
    "resnet18",
    "shufflenet_v2_x0_5",
    "squeezenet1_1",
    "swin_t",
    "swin_v2_t",
    "vgg11",
    "vit_b_32",
)
AUXILIARY = ("googlenet", "inception_v3")
MASKS = ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large")
BOXES = ("fasterrcnn_mobilenet_v3_large_320_fpn", "fcos_resnet50_fpn", "retinanet_resnet50_fpn")
OWN_SIZE = (("ssd300_vgg16", 300), ("ssdlite320_mobilenet_v3_large", 320))
MORE_THAN_BOXES = (
    ("maskrcnn_resnet50_fpn", "found[0]['masks'].flatten(1)"),
    ("keypointrcnn_resnet50_fpn", "found[0]['keypoints_scores']"),
)
FRAMES = (("r3d_18", 4, 64), ("s3d", 16, 64), ("swin3d_t", 4, 64), ("mvit_v1_b", 16, 224))
SIDES = {"inception_v3": 96, "vit_b_32": 224, "maxvit_t": 224, "alexnet": 96}
SCORED = "torch.cat([found[0]['boxes'], found[0]['scores'][:, None]], 1)"


def of_torchvision() -> list[Network]:
    found = [_by_name(name, "", SIDES.get(name, 64)) for name in CLASSIFYING]
    found += [_by_name(name, ", aux_logits=False, init_weights=False", SIDES.get(name, 64)) for name in AUXILIARY]
    found += [_by_name(name, ", weights_backbone=None", 64, "found['out']") for name in MASKS]
    found += [_detector(name, ", min_size=128, max_size=160", 128) for name in BOXES]
    found += [_detector(name, "", side) for name, side in OWN_SIZE]
    found += [_detector(name, ", min_size=128, max_size=160", 128, take) for name, take in MORE_THAN_BOXES]
    for name, frames, side in FRAMES:
        found.append(_network(name, "", {"": f"float[1,3,{frames},{side},{side}]"}, "found"))
    pair = {"image1": "float[1,3,128,128]", "image2": "float[1,3,128,128]"}
    flow = "    found = model(batch['image1'], batch['image2'], num_flow_updates=2)\n    return found[-1]\n"
    found.append(_network("raft_small", "", pair, "found", flow, classes=False))
    return found


def _by_name(name: str, words: str, side: int, take: str = "found") -> Network:
    return _network(name, words, {"": f"float[1,3,{side},{side}]"}, take)


def _detector(name: str, words: str, side: int, take: str = SCORED) -> Network:
    body = f"    found = model([batch['image']])\n    return {take}\n"
    batch = {"image": f"float[3,{side},{side}]"}
    return _network(name, f", weights_backbone=None{words}", batch, take, body, detects=True)


def _network(
    name: str,
    words: str,
    batch: dict[str, str],
    take: str,
    body: str = "",
    detects: bool = False,
    classes: bool = True,
) -> Network:
    classed = ", num_classes=7" if classes else ""
    build = f"get_model('{name}', weights=None{classed}{words})"
    imports = "import torch\nfrom torchvision.models import get_model"
    return Network("torchvision", name, imports, build, batch, take, body, detects)
