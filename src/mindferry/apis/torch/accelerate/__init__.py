"""accelerate: one process on one device, as its Accelerator behaves there."""
