"""torch's classes of tensors of one type, such as torch.LongTensor and torch.cuda.LongTensor, and the type of each."""

TYPED = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool_",
}
TYPED_NAMES = {f"torch.{place}{name}Tensor": dtype for name, dtype in TYPED.items() for place in ("", "cuda.")}
