# Linear regression from scratch: autograd for the gradient, everything else by hand.
import torch

torch.manual_seed(0)

true_w = torch.tensor([[2.0], [-3.4], [0.7]])
true_b = 4.2
X = torch.randn(200, 3)
y = X @ true_w + true_b + 0.01 * torch.randn(200, 1)

w = torch.randn(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)

lr = 0.05
n_epochs = 60

for epoch in range(n_epochs):
    # forward
    y_hat = X @ w + b
    loss = ((y_hat - y) ** 2).mean()

    # backward
    loss.backward()

    # update, outside of the graph
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
        w.grad.zero_()
        b.grad.zero_()

    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:3d}: loss = {loss.item():.6f}")

print("w:", w.detach().squeeze().tolist(), "b:", b.item())
