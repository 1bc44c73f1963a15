import logging
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch.utils.data import Dataset


def draw_shapes(directory, n=48, size=25):
    """Write n images with a coloured ellipse, and their masks, as PNG files."""
    images, masks = Path(directory) / 'imgs', Path(directory) / 'masks'
    images.mkdir(parents=True, exist_ok=True)
    masks.mkdir(parents=True, exist_ok=True)
    rng = np.random.RandomState(0)
    for i in range(n):
        noise = rng.randint(0, 90, (size, size, 3)).astype(np.uint8)
        img, mask = Image.fromarray(noise), Image.new('L', (size, size))
        x, y = rng.randint(2, size // 2, 2)
        box = [int(x), int(y), int(x + rng.randint(6, 12)), int(y + rng.randint(6, 12))]
        ImageDraw.Draw(img).ellipse(box, fill=tuple(int(v) for v in rng.randint(100, 256, 3)))
        ImageDraw.Draw(mask).ellipse(box, fill=1)
        img.save(images / f'{i:03d}.png')
        mask.save(masks / f'{i:03d}_mask.png')


class BasicDataset(Dataset):
    def __init__(self, images_dir: str, mask_dir: str, mask_suffix: str = '_mask'):
        self.images_dir = Path(images_dir)
        self.mask_dir = Path(mask_dir)
        self.mask_suffix = mask_suffix

        self.ids = sorted(file.stem for file in self.images_dir.glob('*.png') if not file.name.startswith('.'))
        if not self.ids:
            raise RuntimeError(f'No input file found in {images_dir}, make sure you put your images there')
        logging.info(f'Creating dataset with {len(self.ids)} examples')

    def __len__(self):
        return len(self.ids)

    @staticmethod
    def preprocess(pil_img, is_mask):
        img = np.asarray(pil_img)
        if is_mask:
            return img.astype(np.int64)
        img = img.transpose((2, 0, 1))
        if (img > 1).any():
            img = img / 255.0
        return img

    def __getitem__(self, idx):
        name = self.ids[idx]
        mask = Image.open(self.mask_dir / f'{name}{self.mask_suffix}.png')
        img = Image.open(self.images_dir / f'{name}.png')

        assert img.size == mask.size, \
            f'Image and mask {name} should be the same size, but are {img.size} and {mask.size}'

        img = self.preprocess(img, is_mask=False)
        mask = self.preprocess(mask, is_mask=True)

        return {
            'image': torch.as_tensor(img.copy()).float().contiguous(),
            'mask': torch.as_tensor(mask.copy()).long().contiguous()
        }
