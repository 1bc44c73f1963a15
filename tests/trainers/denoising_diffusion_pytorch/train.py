"""The Trainer of denoising diffusion on drawn squares: accelerate, EMA, accumulated gradients, clipping."""

import os

import numpy as np
import torch
from PIL import Image

from denoising_diffusion_pytorch import GaussianDiffusion, Trainer, Unet

torch.manual_seed(0)
rng = np.random.RandomState(0)
os.makedirs("squares", exist_ok=True)
for i in range(100):
    picture = np.zeros((16, 16, 3), dtype=np.uint8)
    x, y = rng.randint(0, 10, 2)
    picture[y : y + 6, x : x + 6] = rng.randint(100, 255, 3)
    Image.fromarray(picture).save(f"squares/{i}.png")

model = Unet(dim=8, dim_mults=(1, 2), flash_attn=False)
diffusion = GaussianDiffusion(model, image_size=16, timesteps=50)
trainer = Trainer(diffusion, "squares", train_batch_size=8, gradient_accumulate_every=2, train_lr=1e-3, train_num_steps=50,
                  save_and_sample_every=1000, calculate_fid=False)  # fmt: skip
trainer.train()
