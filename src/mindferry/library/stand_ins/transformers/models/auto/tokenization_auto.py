"""Tokenizers by name, of those that came along."""

import importlib


def tokenizer_class_from_name(class_name):
    for name in dict.fromkeys((class_name, class_name.removesuffix("Fast"))):
        if name in globals():
            return globals()[name]
        for kind, given in TOKENIZER_MAPPING_NAMES.items():
            if name in (given if isinstance(given, tuple | list) else (given,)):
                try:
                    module = importlib.import_module(f".{model_type_to_module_name(kind)}", "transformers.models")
                except ModuleNotFoundError:  # the same tokenizer for a network that the project does not use
                    continue
                if hasattr(module, name):
                    return getattr(module, name)
        if hasattr(importlib.import_module("transformers"), name):
            return getattr(importlib.import_module("transformers"), name)
    return None


def _use_mistral_format(pretrained_model_name_or_path, mistral_format=None, **kwargs):
    if mistral_format:
        raise NotImplementedError(
            "mistral_format=True needs mistral-common: leave it out, and the tokenizer.json is read"
        )
    return False
