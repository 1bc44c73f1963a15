"""keras.preprocessing.image.ImageDataGenerator: images that are turned, moved and scaled by chance before they are batched.

NumPy's own generator is asked in Keras' order, so a program that seeds it gets the same images.
"""

import numpy as np

from .files import array_to_img, img_to_array
from .image_flows import ArrayFlow, DirectoryFlow, FrameFlow


class ImageDataGenerator:
    def __init__(
        self,
        featurewise_center=False,
        samplewise_center=False,
        featurewise_std_normalization=False,
        samplewise_std_normalization=False,
        zca_whitening=False,
        zca_epsilon=1e-6,
        rotation_range=0,
        width_shift_range=0.0,
        height_shift_range=0.0,
        brightness_range=None,
        shear_range=0.0,
        zoom_range=0.0,
        channel_shift_range=0.0,
        fill_mode="nearest",
        cval=0.0,
        horizontal_flip=False,
        vertical_flip=False,
        rescale=None,
        preprocessing_function=None,
        data_format=None,
        validation_split=0.0,
        interpolation_order=1,
        dtype=None,
    ):
        if data_format == "channels_first":
            raise NotImplementedError("images are generated with their channels last")
        self.data_format, self.dtype = "channels_last", dtype or "float32"
        self.featurewise_center = featurewise_center or featurewise_std_normalization or zca_whitening
        self.featurewise_std_normalization = featurewise_std_normalization and not zca_whitening
        self.samplewise_center = samplewise_center or samplewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon, self.zca_whitening_matrix = zca_whitening, zca_epsilon, None
        self.rotation_range, self.shear_range = rotation_range, shear_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.brightness_range, self.channel_shift_range = brightness_range, channel_shift_range
        is_number = isinstance(zoom_range, (int, float))
        self.zoom_range = [1 - zoom_range, 1 + zoom_range] if is_number else list(zoom_range)
        self.fill_mode, self.cval, self.interpolation_order = fill_mode, cval, interpolation_order
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self._validation_split, self.mean, self.std = validation_split, None, None

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, subset=None, **saving):
        return ArrayFlow(self, x, y, sample_weight, subset, batch_size, shuffle, seed, saving)

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None, **more):
        return DirectoryFlow(self, directory, target_size, color_mode, classes, **more)

    def flow_from_dataframe(self, dataframe, directory=None, x_col="filename", y_col="class", **more):
        return FrameFlow(self, dataframe, directory, x_col, y_col, **more)

    def get_random_transform(self, img_shape, seed=None):
        if seed is not None:
            np.random.seed(seed)
        theta = within(self.rotation_range)
        tx, ty = shift(self.height_shift_range, img_shape[0]), shift(self.width_shift_range, img_shape[1])
        shear = within(self.shear_range)
        zx, zy = (1, 1) if self.zoom_range == [1, 1] else np.random.uniform(*self.zoom_range, 2)
        flips = [bool((np.random.random() < 0.5) * each) for each in (self.horizontal_flip, self.vertical_flip)]
        intensity = within(self.channel_shift_range) if self.channel_shift_range else None
        brightness = None if self.brightness_range is None else np.random.uniform(*self.brightness_range)
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": flips[0],
            "flip_vertical": flips[1],
            "channel_shift_intensity": intensity,
            "brightness": brightness,
        }

    def apply_transform(self, x, transform_parameters):
        given = transform_parameters
        x = moved(x, given, self.interpolation_order, self.fill_mode, self.cval)
        if given.get("channel_shift_intensity") is not None:
            x = np.clip(x + given["channel_shift_intensity"], x.min(), x.max())
        if given.get("flip_horizontal"):
            x = x[:, ::-1]
        if given.get("flip_vertical"):
            x = x[::-1]
        return x if given.get("brightness") is None else with_brightness(x, given["brightness"])

    def random_transform(self, x, seed=None):
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def standardize(self, x):
        x = self.preprocessing_function(x) if self.preprocessing_function else x
        x = np.array(x.asnumpy() if hasattr(x, "asnumpy") else x, self.dtype)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= x.mean()
        if self.samplewise_std_normalization:
            x /= x.std() + 1e-6
        if self.featurewise_center and self.mean is not None:
            x -= self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x /= self.std + 1e-6
        if self.zca_whitening_matrix is not None:
            x = (x.reshape(1, -1) @ self.zca_whitening_matrix).reshape(x.shape)
        return x

    def fit(self, x, augment=False, rounds=1, seed=None):
        """The means, spreads and directions of some images."""
        if seed is not None:
            np.random.seed(seed)
        x = np.array(x, self.dtype) * (self.rescale or 1)
        if augment:
            x = np.stack([self.random_transform(each) for _ in range(rounds) for each in x]).astype(self.dtype)
        if self.featurewise_center:
            self.mean = x.mean((0, 1, 2)).reshape(1, 1, -1)
            x = x - self.mean
        if self.featurewise_std_normalization:
            self.std = x.std((0, 1, 2)).reshape(1, 1, -1)
            x = x / (self.std + 1e-6)
        if self.zca_whitening:
            u, s, _ = np.linalg.svd(x.reshape(len(x), -1).T, full_matrices=False)
            self.zca_whitening_matrix = (u * (np.sqrt(len(x)) / (s + self.zca_epsilon))).dot(u.T)


def within(limit):
    return np.random.uniform(-limit, limit) if limit else 0


def shift(limit, size):
    """Pixels: one of a list, up to a whole number, or up to a share of the size."""
    if not limit:
        return 0
    try:
        found = np.random.choice(limit) * np.random.choice([-1, 1])
    except ValueError:  # a share: numpy chooses from whole numbers and lists only
        found = np.random.uniform(-limit, limit)
    return found * size if np.max(limit) < 1 else found


def moved(x, given, order, fill_mode, cval):
    """Turned, shifted, sheared and zoomed about the middle, in this order."""
    theta, shear = np.deg2rad(given.get("theta", 0)), np.deg2rad(given.get("shear", 0))
    tx, ty, zx, zy = given.get("tx", 0), given.get("ty", 0), given.get("zx", 1), given.get("zy", 1)
    steps = []
    if theta:
        steps.append([[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0], [0, 0, 1]])
    if tx or ty:
        steps.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        steps.append([[1, -np.sin(shear), 0], [0, np.cos(shear), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        steps.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    if not steps:
        return x
    from scipy.ndimage import affine_transform

    rows, columns = x.shape[0] / 2 - 0.5, x.shape[1] / 2 - 0.5
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = (rows, columns), (-rows, -columns)
    whole = np.linalg.multi_dot([there, *map(np.array, steps), back])
    whole = whole[[1, 0, 2]][:, [1, 0, 2]]  # Keras has columns before rows here
    planes = [
        affine_transform(x[..., each], whole[:2, :2], whole[:2, 2], order=order, mode=fill_mode, cval=cval)
        for each in range(x.shape[-1])
    ]
    return np.stack(planes, -1)


def with_brightness(x, brightness):
    from PIL import ImageEnhance

    low, high = x.min(), x.max()
    is_scaled = low < 0 or high > 255
    made = img_to_array(ImageEnhance.Brightness(array_to_img(x, scale=is_scaled)).enhance(brightness))
    return made / 255 * (high - low) + low if is_scaled else made
