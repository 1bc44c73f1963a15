"""What reads, writes and shows: images and folders, checkpoints, summaries; tf.image's functions of shape."""

from .._rule import rule
from ._options import check_options

IMAGES = """
crop_to_bounding_box pad_to_bounding_box resize_with_crop_or_pad central_crop resize_with_pad rot90 grayscale_to_rgb
adjust_brightness adjust_gamma rgb_to_hsv hsv_to_rgb adjust_saturation adjust_hue random_saturation random_hue
convert_image_dtype total_variation psnr extract_patches
"""
UTILS = "load_img img_to_array array_to_img save_img pad_sequences normalize image_dataset_from_directory"
UTILS += " timeseries_dataset_from_array PyDataset Progbar split_dataset"
OTHERS = {
    "tensorflow.image.transpose": "transpose_image",
    "tensorflow.io.read_file": "read_file",
    "tensorflow.io.decode_csv": "decode_csv",
    "keras.utils.Sequence": "PyDataset",
    "keras.preprocessing.sequence.pad_sequences": "pad_sequences",
    "keras.preprocessing.sequence.skipgrams": "skipgrams",
    "keras.preprocessing.sequence.make_sampling_table": "make_sampling_table",
    "keras.preprocessing.sequence.TimeseriesGenerator": "TimeseriesGenerator",
    "keras.preprocessing.image.ImageDataGenerator": "ImageDataGenerator",
    "keras.preprocessing.image_dataset_from_directory": "image_dataset_from_directory",
    "keras.preprocessing.timeseries_dataset_from_array": "timeseries_dataset_from_array",
    "keras.utils.clear_session": "clear_session",
    "keras.utils.custom_object_scope": "no_context",  # load_model looks into the project's own modules
    "keras.utils.CustomObjectScope": "no_context",
    "keras.saving.custom_object_scope": "no_context",
    "keras.saving.CustomObjectScope": "no_context",
    "tensorflow.train.Checkpoint": "Checkpoint",
    "tensorflow.train.CheckpointManager": "CheckpointManager",
    "tensorflow.train.latest_checkpoint": "latest_checkpoint",
    "tensorflow.summary.create_file_writer": "SummaryWriter",
    "tensorflow.summary.scalar": "write_scalar",
}
LEFT_OUT = {
    "keras.utils.model_to_dot": "pictures of networks are not drawn",
    "tensorflow.summary.trace_on": "there is no graph to trace",
    "tensorflow.summary.trace_export": "there is no graph to trace",
    "tensorflow.summary.histogram": "only scalars are written",
    "tensorflow.summary.image": "only scalars are written",
    "tensorflow.summary.text": "only scalars are written",
}


def _add(api: str, helper: str) -> None:
    rule(api, to=f"compat.{helper}", like=f"compat.{helper}")(check_options)


for name in IMAGES.split():
    _add(f"tensorflow.image.{name}", name)
for name in UTILS.split():
    _add(f"keras.utils.{name}", name)
for name in ("load_img", "img_to_array", "array_to_img", "save_img"):
    _add(f"keras.preprocessing.image.{name}", name)
for name in ("Tokenizer", "text_to_word_sequence", "hashing_trick"):
    _add(f"keras.preprocessing.text.{name}", name)
for home in ("io", "image"):
    for name in ("decode_image", "decode_png", "decode_jpeg", "decode_bmp"):
        _add(f"tensorflow.{home}.{name}", "decode_image")
for api, helper in OTHERS.items():
    _add(api, helper)
for api, why in LEFT_OUT.items():
    rule(api, missing=why, strategy="not needed", advice="leave it out, or use mindspore.SummaryRecord or MindInsight")
for name in "BytesList FloatList Int64List Feature Features Example".split():
    _add(f"tensorflow.train.{name}", name)
_add("tensorflow.train.Example.FromString", "Example.FromString")
for name in "TFRecordWriter FixedLenFeature parse_single_example decode_raw serialize_tensor parse_tensor".split():
    _add(f"tensorflow.io.{name}", name)
_add("tensorflow.data.TFRecordDataset", "TFRecordDataset")
