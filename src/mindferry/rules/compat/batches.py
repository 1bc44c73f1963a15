"""Batches for mindspore.train.Model, which takes datasets alone."""

import mindspore.dataset as ds


def as_dataset(loader, columns):
    """The loader's batches as a dataset with these columns; a dataset stays as it is."""
    if isinstance(loader, ds.Dataset):
        return loader
    return ds.GeneratorDataset(BatchRows(loader), columns, shuffle=False)


class BatchRows:
    """One row a batch, read anew in every epoch."""

    def __init__(self, loader):
        self.loader = loader

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        return (tuple(each.asnumpy() for each in batch) for batch in self.loader)
