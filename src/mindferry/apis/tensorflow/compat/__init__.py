"""Helpers with TensorFlow's and Keras' meaning, emitted into converted projects as ms_keras.py: only those that a project uses."""
