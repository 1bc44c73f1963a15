"""Code from the hub is not run in a converted project."""


def resolve_trust_remote_code(trust_remote_code, model_name, has_local_code, has_remote_code, *args, **kwargs):
    if has_remote_code and not has_local_code:
        raise NotImplementedError(
            f"{model_name} is code from the hub: copy it into the project, and convert it with the project"
        )
    return False
