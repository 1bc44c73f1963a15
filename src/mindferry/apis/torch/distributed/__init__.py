"""torch.distributed and data-parallel wrappers: mindspore.communication, started by msrun."""
