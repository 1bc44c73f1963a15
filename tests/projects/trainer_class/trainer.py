import logging
import os
import time

import torch

try:
    from tqdm import tqdm
except ImportError:
    def tqdm(iterable, **kwargs):
        return iterable

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    SummaryWriter = None

logger = logging.getLogger(__name__)


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


class Trainer:
    def __init__(self, model, criterion, optimizer, scheduler, train_loader, val_loader, config, device):
        self.model = model
        self.criterion = criterion
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.config = config
        self.device = device
        self.best_loss = float("inf")
        self.patience_left = config.patience
        self.global_step = 0
        self.writer = SummaryWriter(config.log_dir) if SummaryWriter is not None and config.tensorboard else None

    def train_one_epoch(self, epoch):
        self.model.train()
        meter = AverageMeter()
        pbar = tqdm(self.train_loader, desc=f"epoch {epoch}", disable=None, leave=False)
        for inputs, targets in pbar:
            inputs = inputs.to(self.device, non_blocking=True)
            targets = targets.to(self.device, non_blocking=True)

            self.optimizer.zero_grad()
            outputs = self.model(inputs)
            loss = self.criterion(outputs, targets)
            loss.backward()
            grad_norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
            self.optimizer.step()

            meter.update(loss.item(), inputs.size(0))
            self.global_step += 1
            if self.writer is not None:
                self.writer.add_scalar("train/loss", loss.item(), self.global_step)
                self.writer.add_scalar("train/grad_norm", grad_norm, self.global_step)
            if self.global_step % self.config.log_every == 0:
                logger.info("step %d | loss %.4f | grad norm %.3f | lr %.2e", self.global_step, meter.avg,
                            grad_norm.item(), self.optimizer.param_groups[0]["lr"])
        return meter.avg

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        meter = AverageMeter()
        for inputs, targets in self.val_loader:
            inputs, targets = inputs.to(self.device), targets.to(self.device)
            outputs = self.model(inputs)
            meter.update(self.criterion(outputs, targets).item(), inputs.size(0))
        return meter.avg

    def save_checkpoint(self, epoch, is_best):
        state = {
            "epoch": epoch,
            "model_state_dict": self.model.state_dict(),
            "optimizer_state_dict": self.optimizer.state_dict(),
            "scheduler_state_dict": self.scheduler.state_dict(),
            "best_loss": self.best_loss,
        }
        os.makedirs(self.config.output, exist_ok=True)
        torch.save(state, os.path.join(self.config.output, "last.pth"))
        if is_best:
            torch.save(state, os.path.join(self.config.output, "best.pth"))

    def fit(self):
        for epoch in range(1, self.config.epochs + 1):
            start = time.time()
            train_loss = self.train_one_epoch(epoch)
            val_loss = self.validate()
            self.scheduler.step(val_loss)

            is_best = val_loss < self.best_loss
            if is_best:
                self.best_loss = val_loss
                self.patience_left = self.config.patience
            else:
                self.patience_left -= 1
            self.save_checkpoint(epoch, is_best)
            logger.info("epoch %d done in %.1fs: train %.4f, val %.4f%s", epoch, time.time() - start, train_loss,
                        val_loss, " *" if is_best else "")
            if self.patience_left == 0:
                logger.info("no improvement for %d epochs, stopping early", self.config.patience)
                break

        if self.writer is not None:
            self.writer.close()
        return self.best_loss
