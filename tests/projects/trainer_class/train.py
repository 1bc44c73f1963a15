import argparse
import logging
import random

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, random_split

from dataset import HousingDataset
from model import MLP
from trainer import Trainer


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="housing.csv")
    parser.add_argument("--output", default="checkpoints")
    parser.add_argument("--log_dir", default="runs")
    parser.add_argument("--tensorboard", action="store_true")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--weight_decay", type=float, default=1e-2)
    parser.add_argument("--max_grad_norm", type=float, default=1.0)
    parser.add_argument("--patience", type=int, default=3)
    parser.add_argument("--log_every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=42)
    return parser.parse_args()


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    set_seed(args.seed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

    dataset = HousingDataset(args.data)
    n_val = int(len(dataset) * 0.2)
    train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val],
                                      generator=torch.Generator().manual_seed(args.seed))
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, num_workers=0, drop_last=True,
                              pin_memory=torch.cuda.is_available())
    val_loader = DataLoader(val_set, batch_size=args.batch_size * 2, shuffle=False)

    model = MLP().to(device)
    n_params = sum(p.numel() for p in model.parameters() if p.requires_grad)
    logging.info("%s with %d trainable parameters", model.__class__.__name__, n_params)

    criterion = nn.MSELoss()
    optimizer = optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=1)

    trainer = Trainer(model, criterion, optimizer, scheduler, train_loader, val_loader, args, device)
    best = trainer.fit()
    logging.info("best validation loss: %.4f", best)


if __name__ == "__main__":
    main()
