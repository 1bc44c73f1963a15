"""torchvision.models: networks whose source is converted like any other, not calls to replace."""

from ... import rule

MODELS = (
    "alexnet convnext_base convnext_large convnext_small convnext_tiny densenet121 densenet161 densenet169 densenet201 efficientnet_b0 "
    "efficientnet_b1 efficientnet_b2 efficientnet_b3 efficientnet_b4 efficientnet_b5 efficientnet_b6 efficientnet_b7 efficientnet_v2_l "
    "efficientnet_v2_m efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5 mnasnet1_0 mobilenet_v2 mobilenet_v3_large "
    "mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet101 resnet152 resnet18 resnet34 resnet50 resnext101_32x8d resnext101_64x4d "
    "resnext50_32x4d shufflenet_v2_x0_5 shufflenet_v2_x1_0 squeezenet1_0 squeezenet1_1 swin_b swin_s swin_t swin_v2_b swin_v2_s swin_v2_t "
    "vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn vit_b_16 vit_b_32 vit_h_14 vit_l_16 vit_l_32 wide_resnet101_2 "
    "wide_resnet50_2 get_model get_weight list_models create_feature_extractor get_graph_node_names ResNet DenseNet MobileNetV2 "
    "resnet.BasicBlock resnet.Bottleneck resnet.ResNet densenet.DenseNet detection.fasterrcnn_resnet50_fpn detection.maskrcnn_resnet50_fpn "
    "detection.retinanet_resnet50_fpn detection.ssd300_vgg16 detection.MaskRCNN detection.KeypointRCNN segmentation.deeplabv3_resnet50 "
    "segmentation.deeplabv3_resnet101 segmentation.fcn_resnet50 segmentation.fcn_resnet101"
).split()

for _name in MODELS:
    rule(
        f"torchvision.models.{_name}",
        missing="is a network of torchvision's, whose source is not part of this project",
        strategy="equivalent",
        advice="convert with --with torchvision, which brings the network along; its weights load with `mindferry weights`",
    )
