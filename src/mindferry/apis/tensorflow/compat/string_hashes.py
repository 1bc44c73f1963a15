"""TensorFlow's hashes of strings: FarmHash's fingerprint, the keyed SipHash, and what crosses fingerprints."""

MASK = (1 << 64) - 1
K0 = 0xC3A5C85C97CB3127
K1 = 0xB492B66FBE98F273
K2 = 0x9AE16A3B2F90404F
CROSSING = 0xDECAFCAFFE


def word(text, place, size=8):
    return int.from_bytes(text[place : place + size], "little")


def rotated(value, count):
    """To the right."""
    return ((value >> count) | (value << (64 - count))) & MASK if count else value


def mixed(value):
    return value ^ (value >> 47)


def joined(u, v, factor):
    a = mixed(((u ^ v) * factor) & MASK)
    b = mixed(((v ^ a) * factor) & MASK)
    return (b * factor) & MASK


def fingerprint(text):
    """FarmHash's Fingerprint64 of bytes."""
    size = len(text)
    if size <= 16:
        return short_fingerprint(text, size)
    factor = (K2 + size * 2) & MASK
    if size <= 32:
        a, b = (word(text, 0) * K1) & MASK, word(text, 8)
        c, d = (word(text, size - 8) * factor) & MASK, (word(text, size - 16) * K2) & MASK
        first = (rotated((a + b) & MASK, 43) + rotated(c, 30) + d) & MASK
        return joined(first, (a + rotated((b + K2) & MASK, 18) + c) & MASK, factor)
    if size <= 64:
        return middle_fingerprint(text, size, factor)
    return long_fingerprint(text, size)


def short_fingerprint(text, size):
    factor = (K2 + size * 2) & MASK
    if size >= 8:
        a, b = (word(text, 0) + K2) & MASK, word(text, size - 8)
        c = (rotated(b, 37) * factor + a) & MASK
        return joined(c, ((rotated(a, 25) + b) * factor) & MASK, factor)
    if size >= 4:
        return joined((size + (word(text, 0, 4) << 3)) & MASK, word(text, size - 4, 4), factor)
    if size:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[size - 1] << 2)
        return (mixed((y * K2 ^ z * K0) & MASK) * K2) & MASK
    return K2


def middle_fingerprint(text, size, factor):
    a, b = (word(text, 0) * K2) & MASK, word(text, 8)
    c, d = (word(text, size - 8) * factor) & MASK, (word(text, size - 16) * K2) & MASK
    y = (rotated((a + b) & MASK, 43) + rotated(c, 30) + d) & MASK
    z = joined(y, (a + rotated((b + K2) & MASK, 18) + c) & MASK, factor)
    e, f = (word(text, 16) * factor) & MASK, word(text, 24)
    g, h = ((y + word(text, size - 32)) * factor) & MASK, ((z + word(text, size - 24)) * factor) & MASK
    first = (rotated((e + f) & MASK, 43) + rotated(g, 30) + h) & MASK
    return joined(first, (e + rotated((f + a) & MASK, 18) + g) & MASK, factor)


def weak_pair(text, place, a, b):
    """Two words of 32 bytes and two seeds."""
    w, x, y, z = (word(text, place + step) for step in (0, 8, 16, 24))
    a = (a + w) & MASK
    b = rotated((b + a + z) & MASK, 21)
    c = a
    a = (a + x + y) & MASK
    b = (b + rotated(a, 44)) & MASK
    return (a + z) & MASK, (b + c) & MASK


def long_fingerprint(text, size):
    x, y = 81, (81 * K1 + 113) & MASK
    z = (mixed((y * K2 + 113) & MASK) * K2) & MASK
    v, w = (0, 0), (0, 0)
    x = (x * K2 + word(text, 0)) & MASK
    last = (size - 1) // 64 * 64
    for place in range(0, last, 64):
        x = (rotated((x + y + v[0] + word(text, place + 8)) & MASK, 37) * K1) & MASK
        y = (rotated((y + v[1] + word(text, place + 48)) & MASK, 42) * K1) & MASK
        x ^= w[1]
        y = (y + v[0] + word(text, place + 40)) & MASK
        z = (rotated((z + w[0]) & MASK, 33) * K1) & MASK
        v = weak_pair(text, place, (v[1] * K1) & MASK, (x + w[0]) & MASK)
        w = weak_pair(text, place + 32, (z + w[1]) & MASK, (y + word(text, place + 16)) & MASK)
        z, x = x, z
    factor = (K1 + ((z & 0xFF) << 1)) & MASK
    place = size - 64
    w = ((w[0] + ((size - 1) & 63)) & MASK, w[1])
    v = ((v[0] + w[0]) & MASK, v[1])
    w = ((w[0] + v[0]) & MASK, w[1])
    x = (rotated((x + y + v[0] + word(text, place + 8)) & MASK, 37) * factor) & MASK
    y = (rotated((y + v[1] + word(text, place + 48)) & MASK, 42) * factor) & MASK
    x ^= (w[1] * 9) & MASK
    y = (y + v[0] * 9 + word(text, place + 40)) & MASK
    z = (rotated((z + w[0]) & MASK, 33) * factor) & MASK
    v = weak_pair(text, place, (v[1] * factor) & MASK, (x + w[0]) & MASK)
    w = weak_pair(text, place + 32, (z + w[1]) & MASK, (y + word(text, place + 16)) & MASK)
    z, x = x, z
    first = (joined(v[0], w[0], factor) + mixed(y) * K0 + z) & MASK
    return joined(first, (joined(v[1], w[1], factor) + x) & MASK, factor)


def keyed_hash(text, key):
    """SipHash of bytes with a key of two numbers."""
    first, second = (int(each) & MASK for each in key)
    v = [
        0x736F6D6570736575 ^ first,
        0x646F72616E646F6D ^ second,
        0x6C7967656E657261 ^ first,
        0x7465646279746573 ^ second,
    ]
    whole = len(text) // 8 * 8
    words = [word(text, place) for place in range(0, whole, 8)]
    words.append(word(text, whole, len(text) - whole) | (len(text) & 0xFF) << 56)
    for each in words:
        v[3] ^= each
        sip_rounds(v, 2)
        v[0] ^= each
    v[2] ^= 0xFF
    sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def sip_rounds(v, count):
    for _ in range(count):
        v[0] = (v[0] + v[1]) & MASK
        v[1] = rotated(v[1], 51) ^ v[0]
        v[0] = rotated(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = rotated(v[3], 48) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = rotated(v[3], 43) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = rotated(v[1], 47) ^ v[2]
        v[2] = rotated(v[2], 32)


def bucket(text, count, key=None):
    """tf.strings.to_hash_bucket_fast, or with a key to_hash_bucket_strong."""
    raw = text if isinstance(text, bytes) else str(text).encode()
    return (fingerprint(raw) if key is None else keyed_hash(raw, key)) % count


def crossed(values, count):
    """One bucket of several values: numbers, or strings by their fingerprints."""
    factor, result = 0xC6A4A7935BD1E995, CROSSING
    for each in values:
        number = fingerprint(str(each).encode()) if isinstance(each, (str, bytes)) else int(each) & MASK
        result ^= factor
        result ^= (mixed((number * factor) & MASK) * factor) & MASK
        result = (result * factor) & MASK
        result = mixed((mixed(result) * factor) & MASK)
    return result % count
