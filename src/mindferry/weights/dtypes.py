"""The number types, as each file format spells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dtype:
    size: int  # bytes an element
    safetensors: str = ""
    ckpt: str = ""  # empty: MindSpore's loader can't read it, though its writer may write it
    storage: str = ""  # torch's storage class; empty: an untyped storage
    numpy: str = ""  # empty: numpy has no such type


DTYPES: Mapping[str, Dtype] = {
    "float64": Dtype(8, "F64", "Float64", "DoubleStorage", "<f8"),
    "float32": Dtype(4, "F32", "Float32", "FloatStorage", "<f4"),
    "float16": Dtype(2, "F16", "Float16", "HalfStorage", "<f2"),
    "bfloat16": Dtype(2, "BF16", "BFloat16", "BFloat16Storage"),
    "int64": Dtype(8, "I64", "Int64", "LongStorage", "<i8"),
    "int32": Dtype(4, "I32", "Int32", "IntStorage", "<i4"),
    "int16": Dtype(2, "I16", "Int16", "ShortStorage", "<i2"),
    "int8": Dtype(1, "I8", "Int8", "CharStorage", "|i1"),
    "uint8": Dtype(1, "U8", "UInt8", "ByteStorage", "|u1"),
    "uint16": Dtype(2, "U16", "UInt16", "", "<u2"),
    "uint32": Dtype(4, "U32", "UInt32", "", "<u4"),
    "uint64": Dtype(8, "U64", "UInt64", "", "<u8"),
    "bool": Dtype(1, "BOOL", "Bool", "BoolStorage", "|b1"),
    "complex64": Dtype(8, "C64", "", "ComplexFloatStorage", "<c8"),
    "complex128": Dtype(16, "", "", "ComplexDoubleStorage", "<c16"),
    "float8_e4m3fn": Dtype(1, "F8_E4M3"),
    "float8_e5m2": Dtype(1, "F8_E5M2"),
    "float8_e4m3fnuz": Dtype(1, "F8_E4M3FNUZ"),
    "float8_e5m2fnuz": Dtype(1, "F8_E5M2FNUZ"),
}

BY_SAFETENSORS = {dtype.safetensors: name for name, dtype in DTYPES.items() if dtype.safetensors}
BY_CKPT = {dtype.ckpt: name for name, dtype in DTYPES.items() if dtype.ckpt}
BY_STORAGE = {dtype.storage: name for name, dtype in DTYPES.items() if dtype.storage}
BY_NUMPY = {dtype.numpy: name for name, dtype in DTYPES.items() if dtype.numpy}
