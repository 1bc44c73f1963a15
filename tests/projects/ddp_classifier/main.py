"""
    python main.py                                    one process
    torchrun --standalone --nproc_per_node=2 main.py  two
"""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class MyTrainDataset(Dataset):
    def __init__(self, size):
        self.size = size
        g = torch.Generator().manual_seed(0)
        x = torch.randn(size, 20, generator=g)
        w = torch.randn(20, 5, generator=g)
        self.data = list(zip(x, (x @ w).argmax(dim=1)))

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return self.data[index]


def setup():
    """Join the group if torchrun started us; returns rank and world size."""
    if 'LOCAL_RANK' not in os.environ:
        return 0, 1
    dist.init_process_group(backend='nccl' if torch.cuda.is_available() else 'gloo')
    return dist.get_rank(), dist.get_world_size()


class Trainer:
    def __init__(self, model, train_data, optimizer, rank, world_size, save_every, snapshot_path):
        self.rank = rank
        self.world_size = world_size
        self.train_data = train_data
        self.optimizer = optimizer
        self.save_every = save_every
        self.epochs_run = 0
        self.snapshot_path = snapshot_path
        self.model = model
        if world_size > 1:
            self.model = DDP(self.model)

    def _save_snapshot(self, epoch):
        snapshot = {
            "MODEL_STATE": self.model.module.state_dict() if self.world_size > 1 else self.model.state_dict(),
            "EPOCHS_RUN": epoch,
        }
        torch.save(snapshot, self.snapshot_path)
        print(f"Epoch {epoch} | Training snapshot saved at {self.snapshot_path}")

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = F.cross_entropy(output, targets)
        loss.backward()
        self.optimizer.step()
        return loss

    def _run_epoch(self, epoch):
        b_sz = len(next(iter(self.train_data))[0])
        if isinstance(self.train_data.sampler, DistributedSampler):
            self.train_data.sampler.set_epoch(epoch)
        total = 0.0
        for source, targets in self.train_data:
            total += self._run_batch(source, targets).item()
        mean = torch.tensor(total / len(self.train_data))
        if self.world_size > 1:
            dist.all_reduce(mean, op=dist.ReduceOp.SUM)
            mean /= self.world_size
        print(f"[rank {self.rank}] Epoch {epoch} | Batchsize: {b_sz} | Steps: {len(self.train_data)} | loss {mean.item():.4f}")

    def train(self, max_epochs: int):
        for epoch in range(self.epochs_run, max_epochs):
            self.model.train()
            self._run_epoch(epoch)
            if self.rank == 0 and epoch % self.save_every == 0:
                self._save_snapshot(epoch)


def load_train_objs():
    train_set = MyTrainDataset(256)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return train_set, model, optimizer


def prepare_dataloader(dataset: Dataset, batch_size: int, world_size: int):
    return DataLoader(
        dataset,
        batch_size=batch_size,
        pin_memory=False,
        shuffle=world_size == 1,
        sampler=DistributedSampler(dataset) if world_size > 1 else None,
    )


def main(save_every, total_epochs, batch_size, snapshot_path="snapshot.pt"):
    rank, world_size = setup()
    torch.manual_seed(0)
    dataset, model, optimizer = load_train_objs()
    train_data = prepare_dataloader(dataset, batch_size // world_size, world_size)
    trainer = Trainer(model, train_data, optimizer, rank, world_size, save_every, snapshot_path)
    trainer.train(total_epochs)
    if world_size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description='simple distributed training job')
    parser.add_argument('--total_epochs', default=5, type=int, help='Total epochs to train the model')
    parser.add_argument('--save_every', default=2, type=int, help='How often to save a snapshot')
    parser.add_argument('--batch_size', default=32, type=int, help='Input batch size over all devices (default: 32)')
    args = parser.parse_args()

    main(args.save_every, args.total_epochs, args.batch_size)
