"""The version of torch that converted code behaves like."""


def is_torch_version(operation, version):
    return compare_versions(parse("2.9.0"), operation, version)
