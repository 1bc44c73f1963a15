"""Parts of diffusers.models."""
