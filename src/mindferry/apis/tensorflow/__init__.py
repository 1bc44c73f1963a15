"""TensorFlow 2 and Keras: what their APIs become."""
