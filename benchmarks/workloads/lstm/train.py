"""An LSTM language model on random tokens: carried state, gradient clipping, Adam."""

import time

import torch
import torch.nn as nn


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=200, width=128, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, state=None):
        out, state = self.lstm(self.embedding(tokens), state)
        return self.head(out), state


def main(steps=10):
    torch.manual_seed(0)
    model = LanguageModel()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    text = torch.randint(0, 200, (16, 33))
    tokens, targets = text[:, :-1], text[:, 1:]
    state = (torch.zeros(2, 16, 128), torch.zeros(2, 16, 128))
    for step in range(steps):
        start = time.process_time()
        state = (state[0].detach(), state[1].detach())
        optimizer.zero_grad()
        logits, state = model(tokens, state)
        loss = criterion(logits.reshape(-1, 200), targets.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
