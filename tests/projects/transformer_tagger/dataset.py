import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

PAD, BOS = 0, 1
IGNORE = -100


class ReverseDataset(Dataset):
    """Tag every token with the token at the mirrored position, modulo n_tags."""

    def __init__(self, size, vocab=20, n_tags=6, max_len=12, seed=0):
        g = torch.Generator()
        g.manual_seed(seed)
        self.samples = []
        for _ in range(size):
            n = int(torch.randint(4, max_len + 1, (1,), generator=g))
            tokens = torch.randint(2, vocab, (n,), generator=g)
            tags = tokens.flip(0) % n_tags
            self.samples.append({"tokens": tokens, "tags": tags, "length": n})

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


def collate_fn(batch):
    batch = sorted(batch, key=lambda s: s["length"], reverse=True)
    tokens = pad_sequence([s["tokens"] for s in batch], batch_first=True, padding_value=PAD)
    tags = pad_sequence([s["tags"] for s in batch], batch_first=True, padding_value=IGNORE)
    lengths = torch.tensor([s["length"] for s in batch])
    return {"tokens": tokens, "tags": tags, "lengths": lengths}
