"""The package of this name needs torch; pytorchyolo imports it for --verbose only."""


def summary(model, input_size):
    print(model)
