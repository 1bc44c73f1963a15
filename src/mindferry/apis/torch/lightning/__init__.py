"""Lightning: modules, data modules, callbacks and the Trainer, in one process."""
