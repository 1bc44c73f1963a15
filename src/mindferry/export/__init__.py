"""A converted model as a file for offline inference: MindIR, ONNX where MindSpore's exporter can; reloaded and compared."""
