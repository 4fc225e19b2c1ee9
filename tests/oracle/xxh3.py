"""XXH3 with 64-bit result and seed 0, for inputs of 17 bytes and more (a frame has 88 at least)."""

MASK = (1 << 64) - 1
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
           0x27D4EB2F165667C5)
SECRET = bytes.fromhex(
    'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f'
    'cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c'
    '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8'
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364'
    'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e'
    '2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e')
SECRET_MIN = 136
STRIPE = 64


def word(data, at):
    return int.from_bytes(data[at:at + 8], 'little')


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def fold(a, b):
    product = a * b
    return product & MASK ^ product >> 64


def mix(data, at, secret):
    return fold(word(data, at) ^ word(SECRET, secret), word(data, at + 8) ^ word(SECRET, secret + 8))


def short(data):
    n = len(data)
    total = n * PRIME64[0]
    for i in range((n - 1) // 32 + 1):
        total += mix(data, 16 * i, 32 * i) + mix(data, n - 16 * (i + 1), 32 * i + 16)
    return avalanche(total & MASK)


def middle(data):
    n = len(data)
    total = n * PRIME64[0] + sum(mix(data, 16 * i, 16 * i) for i in range(8))
    total = avalanche(total & MASK)
    total += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    total += mix(data, n - 16, SECRET_MIN - 17)
    return avalanche(total & MASK)


def accumulate(acc, data, at, secret):
    for i in range(8):
        value = word(data, at + 8 * i)
        key = value ^ word(SECRET, secret + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + value & MASK
        acc[i] = acc[i] + (key & 0xffffffff) * (key >> 32) & MASK


def scramble(acc):
    for i in range(8):
        value = acc[i] ^ acc[i] >> 47 ^ word(SECRET, len(SECRET) - STRIPE + 8 * i)
        acc[i] = value * PRIME32[0] & MASK


def long(data):
    n = len(data)
    acc = [PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4],
           PRIME32[0]]
    stripes = (len(SECRET) - STRIPE) // 8
    block = STRIPE * stripes
    blocks = (n - 1) // block
    for b in range(blocks):
        for s in range(stripes):
            accumulate(acc, data, b * block + s * STRIPE, 8 * s)
        scramble(acc)
    for s in range((n - 1 - block * blocks) // STRIPE):
        accumulate(acc, data, blocks * block + s * STRIPE, 8 * s)
    accumulate(acc, data, n - STRIPE, len(SECRET) - STRIPE - 7)
    total = n * PRIME64[0]
    for i in range(4):
        total += fold(acc[2 * i] ^ word(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ word(SECRET, 19 + 16 * i))
    return avalanche(total & MASK)


def xxh3_64(data):
    if len(data) < 17:
        raise ValueError('shorter than any frame')
    if len(data) <= 128:
        return short(data)
    return middle(data) if len(data) <= 240 else long(data)
