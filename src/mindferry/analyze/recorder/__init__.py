"""A folder for PYTHONPATH, so that Python imports `sitecustomize` from it before the reference starts."""
