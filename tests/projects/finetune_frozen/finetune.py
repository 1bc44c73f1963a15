"""Fine-tune a small ResNet on PNG folders: frozen stem, slow backbone, fast head, focal loss on imbalanced classes."""
import argparse
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from PIL import Image
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, WeightedRandomSampler
from torchvision import datasets, transforms

from losses import FocalLoss


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.layer1 = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        self.layer2 = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32, 100)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        x = torch.flatten(self.avgpool(x), 1)
        return self.fc(x)


def draw(root):
    """class a is twice as frequent as b, and b as c"""
    rng = np.random.RandomState(8)
    for split, n in (('train', 80), ('val', 24)):
        for k, (name, count) in enumerate({'a': n, 'b': n // 2, 'c': n // 4}.items()):
            os.makedirs(os.path.join(root, split, name), exist_ok=True)
            for i in range(count):
                img = rng.randint(0, 120, (20, 20, 3))
                x, y = rng.randint(0, 12, 2)
                img[y:y + 8, x:x + 8, k] += 100
                Image.fromarray(img.astype(np.uint8)).save(os.path.join(root, split, name, f'{i}.png'))


def train_model(model, dataloaders, sizes, criterion, optimizer, scheduler, device, num_epochs=5):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0

    for epoch in range(num_epochs):
        print(f'Epoch {epoch}/{num_epochs - 1}')
        print('-' * 10)

        # Each epoch has a training and validation phase
        for phase in ['train', 'val']:
            if phase == 'train':
                model.train()  # Set model to training mode
            else:
                model.eval()   # Set model to evaluate mode

            running_loss = 0.0
            running_corrects = 0

            # Iterate over data.
            for inputs, labels in dataloaders[phase]:
                inputs = inputs.to(device)
                labels = labels.to(device)

                # zero the parameter gradients
                optimizer.zero_grad()

                # forward
                # track history if only in train
                with torch.set_grad_enabled(phase == 'train'):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)

                    # backward + optimize only if in training phase
                    if phase == 'train':
                        loss.backward()
                        optimizer.step()
                        scheduler.step()

                # statistics
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)

            epoch_loss = running_loss / sizes[phase]
            epoch_acc = running_corrects.double() / sizes[phase]

            print(f'{phase} Loss: {epoch_loss:.4f} Acc: {epoch_acc:.4f}')

            # deep copy the model
            if phase == 'val' and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())
        print()

    print(f'Best val Acc: {best_acc:4f}')

    # load best model weights
    model.load_state_dict(best_model_wts)
    return model


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--data_dir', default='shapes')
    parser.add_argument('--epochs', type=int, default=6)
    parser.add_argument('--batch_size', type=int, default=14)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    if not os.path.isdir(args.data_dir):
        draw(args.data_dir)

    data_transforms = {
        'train': transforms.Compose([
            transforms.RandomCrop(16),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
        ]),
        'val': transforms.Compose([
            transforms.CenterCrop(16),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
        ]),
    }
    image_datasets = {x: datasets.ImageFolder(os.path.join(args.data_dir, x), data_transforms[x]) for x in ['train', 'val']}
    targets = torch.tensor(image_datasets['train'].targets)
    class_count = torch.bincount(targets)
    sample_weights = (1.0 / class_count.float())[targets]
    sampler = WeightedRandomSampler(sample_weights, num_samples=len(targets), replacement=True)
    dataloaders = {
        'train': DataLoader(image_datasets['train'], batch_size=args.batch_size, sampler=sampler, num_workers=0),
        'val': DataLoader(image_datasets['val'], batch_size=args.batch_size, shuffle=False, num_workers=0),
    }
    dataset_sizes = {x: len(image_datasets[x]) for x in ['train', 'val']}
    class_names = image_datasets['train'].classes

    model_ft = Backbone()
    for param in model_ft.stem.parameters():
        param.requires_grad = False

    # Here the size of each output sample is set to 3.
    num_ftrs = model_ft.fc.in_features
    model_ft.fc = nn.Linear(num_ftrs, len(class_names))
    model_ft = model_ft.to(device)

    criterion = FocalLoss(gamma=2.0, alpha=[0.2, 0.3, 0.5])

    head_ids = list(map(id, model_ft.fc.parameters()))
    base_params = filter(lambda p: p.requires_grad and id(p) not in head_ids, model_ft.parameters())
    optimizer_ft = optim.SGD([
        {'params': base_params, 'lr': 0.02},
        {'params': model_ft.fc.parameters()},
    ], lr=0.1, momentum=0.9, weight_decay=5e-4)

    scheduler = lr_scheduler.OneCycleLR(optimizer_ft, max_lr=[0.02, 0.1], epochs=args.epochs,
                                        steps_per_epoch=len(dataloaders['train']), pct_start=0.3)

    model_ft = train_model(model_ft, dataloaders, dataset_sizes, criterion, optimizer_ft, scheduler, device,
                           num_epochs=args.epochs)
