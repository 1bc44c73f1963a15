"""Kinds of numbers as texts: MindSpore calls torch.float32 Float32."""


class PreTrainedConfig:
    def dict_dtype_to_str(self, d):
        for name in ("dtype", "torch_dtype"):
            value = d.get(name)
            if isinstance(value, dict):
                d[name] = {key: str(each).rpartition(".")[2].lower() for key, each in value.items()}
            elif value is not None and not isinstance(value, str):
                d[name] = str(value).rpartition(".")[2].lower()
        for value in d.values():
            if isinstance(value, dict):
                self.dict_dtype_to_str(value)
