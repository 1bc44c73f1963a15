"""Rules of einops: it has no MindSpore backend, so its functions are written into the project."""
