import argparse
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from models import Student, Teacher


class Stripes(Dataset):
    def __init__(self, root, split):
        path = os.path.join(root, split + '.npz')
        if not os.path.exists(path):
            self.generate(root, path, split)
        archive = np.load(path)
        self.images, self.labels = archive['images'], archive['labels']

    @staticmethod
    def generate(root, path, split):
        os.makedirs(root, exist_ok=True)
        rng = np.random.RandomState({'train': 0, 'test': 1}[split])
        n = 256 if split == 'train' else 96
        labels = rng.randint(0, 4, n)
        grid = np.arange(12)
        images = np.zeros((n, 12, 12, 3))
        for i, label in enumerate(labels):
            wave = np.sin(grid * (0.8 if label % 2 else 1.6) + rng.uniform(0, 6))
            images[i] = (wave[:, None] if label < 2 else wave[None, :])[..., None]
        images = images + 0.5 * rng.randn(n, 12, 12, 3)
        images = np.clip((images + 2) / 4 * 255, 0, 255).astype(np.uint8)
        np.savez(path, images=images, labels=labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        image = torch.from_numpy(self.images[idx]).permute(2, 0, 1).float().div(255)
        return (image - 0.5) / 0.25, int(self.labels[idx])


def loss_fn_kd(outputs, labels, teacher_outputs, alpha, T):
    """
    Compute the knowledge-distillation (KD) loss given outputs, labels.
    "Hyperparameters": temperature and alpha
    """
    KD_loss = nn.KLDivLoss(reduction='batchmean')(F.log_softmax(outputs / T, dim=1),
                                                  F.softmax(teacher_outputs / T, dim=1)) * (alpha * T * T) + \
              F.cross_entropy(outputs, labels) * (1. - alpha)
    return KD_loss


def train(model, loader, optimizer, device):
    """Train the teacher the ordinary way."""
    model.train()
    loss_avg = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_avg += loss.item() / len(loader)
    return loss_avg


def train_kd(model, teacher_model, loader, optimizer, device, params):
    model.train()
    teacher_model.eval()
    loss_avg = 0
    for train_batch, labels_batch in loader:
        train_batch, labels_batch = train_batch.to(device), labels_batch.to(device)

        # compute model output, fetch teacher output, and compute KD loss
        output_batch = model(train_batch)
        with torch.no_grad():
            output_teacher_batch = teacher_model(train_batch)
        loss = loss_fn_kd(output_batch, labels_batch, output_teacher_batch, params.alpha, params.temperature)

        # clear previous gradients, compute gradients of all variables wrt loss
        optimizer.zero_grad()
        loss.backward()
        # performs updates using calculated gradients
        optimizer.step()
        loss_avg += loss.item() / len(loader)
    return loss_avg


def accuracy(model, loader, device):
    model.eval()
    hits = 0
    with torch.no_grad():
        for images, labels in loader:
            _, predicted = torch.max(model(images.to(device)), 1)
            hits += (predicted.cpu() == labels).sum().item()
    return hits / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--data', default='stripes')
    parser.add_argument('--teacher_epochs', type=int, default=3)
    parser.add_argument('--epochs', type=int, default=4)
    parser.add_argument('--alpha', type=float, default=0.9)
    parser.add_argument('--temperature', type=float, default=4)
    params = parser.parse_args()

    torch.manual_seed(230)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    train_dl = DataLoader(Stripes(params.data, 'train'), batch_size=32, shuffle=True)
    test_dl = DataLoader(Stripes(params.data, 'test'), batch_size=32, shuffle=False)

    teacher = Teacher().to(device)
    optimizer = torch.optim.SGD(teacher.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    for epoch in range(params.teacher_epochs):
        loss = train(teacher, train_dl, optimizer, device)
        print('teacher epoch %d: loss %.4f, accuracy %.3f' % (epoch, loss, accuracy(teacher, test_dl, device)))
    for p in teacher.parameters():
        p.requires_grad = False

    student = Student().to(device)
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(params.epochs):
        loss = train_kd(student, teacher, train_dl, optimizer, device, params)
        scheduler.step()
        print('student epoch %d: loss %.4f, accuracy %.3f' % (epoch, loss, accuracy(student, test_dl, device)))


if __name__ == '__main__':
    main()
