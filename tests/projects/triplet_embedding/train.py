import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class TripletDataset(Dataset):
    """anchor, positive, negative out of noisy class prototypes"""

    def __init__(self, n_classes=12, per_class=20, dim=16, train=True):
        rng = np.random.RandomState(0)
        protos = rng.randn(n_classes, dim)
        noise = rng.randn(n_classes, per_class, dim) if train else np.random.RandomState(1).randn(n_classes, per_class, dim)
        self.data = (protos[:, None, :] + 0.9 * noise).reshape(-1, dim).astype('float32')
        self.labels = np.repeat(np.arange(n_classes), per_class)
        self.label_to_indices = {label: np.where(self.labels == label)[0] for label in set(self.labels.tolist())}

    def __getitem__(self, index):
        anchor, label = self.data[index], self.labels[index].item()
        positive_index = index
        while positive_index == index:
            positive_index = np.random.choice(self.label_to_indices[label])
        negative_label = np.random.choice(list(set(self.label_to_indices) - {label}))
        negative_index = np.random.choice(self.label_to_indices[negative_label])
        return anchor, self.data[positive_index], self.data[negative_index], label

    def __len__(self):
        return len(self.data)


class EmbeddingNet(nn.Module):
    def __init__(self, in_dim=16, out_dim=8):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(in_dim, 32),
                                nn.PReLU(),
                                nn.Linear(32, 32),
                                nn.PReLU(),
                                nn.Linear(32, out_dim))

    def forward(self, x):
        output = self.fc(x)
        return F.normalize(output, p=2, dim=1)

    def get_embedding(self, x):
        return self.forward(x)


class TripletNet(nn.Module):
    def __init__(self, embedding_net):
        super(TripletNet, self).__init__()
        self.embedding_net = embedding_net

    def forward(self, x1, x2, x3):
        output1 = self.embedding_net(x1)
        output2 = self.embedding_net(x2)
        output3 = self.embedding_net(x3)
        return output1, output2, output3

    def get_embedding(self, x):
        return self.embedding_net(x)


def fit(train_loader, val_loader, model, loss_fn, optimizer, scheduler, n_epochs, device, log_interval):
    for epoch in range(0, n_epochs):
        # Train stage
        train_loss = train_epoch(train_loader, model, loss_fn, optimizer, device, log_interval)
        scheduler.step()
        message = 'Epoch: {}/{}. Train set: Average loss: {:.4f}'.format(epoch + 1, n_epochs, train_loss)

        val_loss, recall = test_epoch(val_loader, model, loss_fn, device)
        message += '\nEpoch: {}/{}. Validation set: Average loss: {:.4f}, recall@1 {:.3f}'.format(
            epoch + 1, n_epochs, val_loss, recall)
        print(message)


def train_epoch(train_loader, model, loss_fn, optimizer, device, log_interval):
    model.train()
    losses = []
    total_loss = 0

    for batch_idx, (anchor, positive, negative, _) in enumerate(train_loader):
        data = tuple(d.to(device) for d in (anchor, positive, negative))

        optimizer.zero_grad()
        outputs = model(*data)
        loss = loss_fn(*outputs)
        losses.append(loss.item())
        total_loss += loss.item()
        loss.backward()
        optimizer.step()

        if batch_idx % log_interval == 0:
            print('Train: [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                batch_idx * len(data[0]), len(train_loader.dataset),
                100. * batch_idx / len(train_loader), np.mean(losses)))
            losses = []

    total_loss /= (batch_idx + 1)
    return total_loss


def test_epoch(val_loader, model, loss_fn, device):
    with torch.no_grad():
        model.eval()
        val_loss = 0
        embeddings, labels = [], []
        for batch_idx, (anchor, positive, negative, label) in enumerate(val_loader):
            outputs = model(anchor.to(device), positive.to(device), negative.to(device))
            val_loss += loss_fn(*outputs).item()
            embeddings.append(outputs[0])
            labels.append(label)
        embeddings, labels = torch.cat(embeddings), torch.cat(labels)
        dist = torch.cdist(embeddings, embeddings)
        dist.fill_diagonal_(float('inf'))
        nearest = dist.topk(1, largest=False).indices.squeeze(1)
        recall = (labels[nearest] == labels).float().mean().item()
    return val_loss / len(val_loader), recall


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=8)
    parser.add_argument('--margin', type=float, default=0.5)
    parser.add_argument('--lr', type=float, default=1e-2)
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args()

    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

    train_loader = DataLoader(TripletDataset(train=True), batch_size=24, shuffle=True)
    val_loader = DataLoader(TripletDataset(train=False), batch_size=48)

    embedding_net = EmbeddingNet()
    model = TripletNet(embedding_net).to(device)
    loss_fn = nn.TripletMarginLoss(margin=args.margin, p=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[4, 6], gamma=0.1)
    fit(train_loader, val_loader, model, loss_fn, optimizer, scheduler, args.epochs, device, log_interval=5)
