"""Gradients: torch.autograd, no_grad, amp."""
