"""Train and evaluate ResNet-50 on CIFAR-10."""

import argparse
import time

import torch
import torch.nn as nn

from data import test_loader, train_loader
from model import resnet50


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="data", help="folder that holds cifar-10-batches-py")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--weight-decay", type=float, default=1e-5)
    parser.add_argument("--image-size", type=int, default=224, help="images are resized to this before the network")
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--weights", help="start from this checkpoint")
    parser.add_argument("--save", default="resnet50.pth", help="where the best checkpoint goes")
    parser.add_argument("--eval", action="store_true", help="only evaluate")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def train_epoch(model, loader, criterion, optimizer, device, epoch):
    model.train()
    running_loss, correct, total = 0.0, 0, 0
    for step, (images, targets) in enumerate(loader):
        images, targets = images.to(device), targets.to(device)

        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()

        running_loss += loss.item() * targets.size(0)
        predicted = outputs.argmax(dim=1)
        correct += (predicted == targets).sum().item()
        total += targets.size(0)
        if step % 10 == 0 or step == len(loader) - 1:
            print(f"epoch {epoch} [{step + 1}/{len(loader)}] loss {loss.item():.4f} "
                  f"acc {100.0 * correct / total:.2f}%", flush=True)
    return running_loss / total, 100.0 * correct / total


def test_epoch(model, loader, criterion, device):
    model.eval()
    test_loss, correct, total = 0.0, 0, 0
    with torch.no_grad():
        for images, targets in loader:
            images, targets = images.to(device), targets.to(device)
            outputs = model(images)
            test_loss += criterion(outputs, targets).item() * targets.size(0)
            predicted = outputs.argmax(dim=1)
            correct += (predicted == targets).sum().item()
            total += targets.size(0)
    return test_loss / total, 100.0 * correct / total


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    model = resnet50().to(device)
    if args.weights:
        model.load_state_dict(torch.load(args.weights, map_location=device))
    criterion = nn.CrossEntropyLoss()
    testing = test_loader(args.data, args.batch_size, args.image_size, args.num_workers)

    if args.eval:
        loss, accuracy = test_epoch(model, testing, criterion, device)
        print(f"test loss {loss:.4f} acc {accuracy:.2f}%")
        return

    training = train_loader(args.data, args.batch_size, args.image_size, args.num_workers)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    best = -1.0
    for epoch in range(1, args.epochs + 1):
        start = time.time()
        train_loss, train_accuracy = train_epoch(model, training, criterion, optimizer, device, epoch)
        test_loss, test_accuracy = test_epoch(model, testing, criterion, device)
        print(f"epoch {epoch}: train loss {train_loss:.4f} acc {train_accuracy:.2f}%, "
              f"test loss {test_loss:.4f} acc {test_accuracy:.2f}%, {time.time() - start:.1f}s")
        if test_accuracy > best:
            best = test_accuracy
            torch.save(model.state_dict(), args.save)
    print(f"best test accuracy {best:.2f}%, saved to {args.save}")


if __name__ == "__main__":
    main()
