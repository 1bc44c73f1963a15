import argparse

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader

from dataset import IGNORE, ReverseDataset, collate_fn
from model import Tagger


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step + 1) / float(max(1, num_warmup_steps))
        return max(0.0, float(num_training_steps - current_step) / float(max(1, num_training_steps - num_warmup_steps)))

    return LambdaLR(optimizer, lr_lambda)


def evaluate(model, loader, device):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for batch in loader:
            tokens, tags = batch["tokens"].to(device), batch["tags"].to(device)
            pred = model(tokens).argmax(dim=-1)
            mask = tags != IGNORE
            correct += (pred[mask] == tags[mask]).sum().item()
            total += mask.sum().item()
    return correct / total


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device(args.device if args.device else ("cuda" if torch.cuda.is_available() else "cpu"))

    train_set = ReverseDataset(args.train_size, seed=1)
    valid_set = ReverseDataset(64, seed=2)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, collate_fn=collate_fn)
    valid_loader = DataLoader(valid_set, batch_size=32, collate_fn=collate_fn)

    model = Tagger(vocab_size=20, n_tags=6).to(device)
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE, label_smoothing=0.1)

    # no weight decay for biases and layer norms
    no_decay = ["bias", "norm1.weight", "norm2.weight"]
    optimizer_grouped_parameters = [
        {
            "params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
            "weight_decay": args.weight_decay,
        },
        {
            "params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)],
            "weight_decay": 0.0,
        },
    ]
    optimizer = torch.optim.AdamW(optimizer_grouped_parameters, lr=args.lr, eps=1e-8)

    steps_per_epoch = len(train_loader) // args.gradient_accumulation_steps
    scheduler = get_linear_schedule_with_warmup(optimizer, args.warmup_steps, steps_per_epoch * args.epochs)

    global_step = 0
    tr_loss = 0.0
    model.zero_grad()
    for epoch in range(args.epochs):
        model.train()
        for step, batch in enumerate(train_loader):
            batch = {k: v.to(device) for k, v in batch.items()}
            logits = model(batch["tokens"])
            loss = criterion(logits.view(-1, logits.size(-1)), batch["tags"].view(-1))

            if args.gradient_accumulation_steps > 1:
                loss = loss / args.gradient_accumulation_steps

            loss.backward()
            tr_loss += loss.item()

            if (step + 1) % args.gradient_accumulation_steps == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
                optimizer.step()
                scheduler.step()  # Update learning rate schedule
                model.zero_grad()
                global_step += 1
                if global_step % 10 == 0:
                    print(f"step {global_step}: loss {tr_loss / 10:.4f}, lr {scheduler.get_last_lr()[0]:.2e}")
                    tr_loss = 0.0
        print(f"epoch {epoch}: accuracy {evaluate(model, valid_loader, device):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_size", type=int, default=640)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--weight_decay", type=float, default=0.01)
    parser.add_argument("--warmup_steps", type=int, default=10)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=2)
    parser.add_argument("--max_grad_norm", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--device", default=None)
    main(parser.parse_args())
