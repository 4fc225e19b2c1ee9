"""A decoder of tahmpi frames, independent of the library: doc/frame-format.md in Python
(and doc/tahx-format.md in tahx.py).

Slow and plain: exact integers throughout. decode() returns the bytes of the tensor or raises Reject,
whose name is one of the errors of the page.
"""
import struct

from xxh3 import xxh3_64

HEADER_BYTES = 64
ELEMENT_BYTES = {0: 1, 1: 4, 2: 2, 3: 2, 4: 8}
FLOAT32, BFLOAT16, FLOAT16, FLOAT64 = 1, 2, 3, 4
TAH, UNIFORM, TAHX = 1, 2, 3
LIMIT = 1 << 64


class Reject(Exception):
    """A frame that must not be decoded."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


def require(condition, name):
    if not condition:
        raise Reject(name)


# --- from integers to elements -------------------------------------------------------------------

def nearest(magnitude, exponent, mantissa_bits, exponent_bits):
    """The pattern (without sign) of magnitude * 2^exponent, halves to even, limited to finite."""
    bias = (1 << (exponent_bits - 1)) - 1
    if magnitude == 0:
        return 0
    # The unit of the result: that of its binade, or of the subnormals.
    unit = max(magnitude.bit_length() - 1 + exponent, 1 - bias) - mantissa_bits
    shift = unit - exponent
    if shift <= 0:
        units = magnitude << -shift
    else:
        units, rest = magnitude >> shift, magnitude & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        if rest > half or (rest == half and units & 1):
            units += 1
    # units has the hidden bit where the result is normal, so that it adds itself to the exponent.
    pattern = ((unit + bias + mantissa_bits - 1) << mantissa_bits) + units
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    return min(pattern, infinity - 1)


FORMATS = {FLOAT32: (23, 8), BFLOAT16: (7, 8), FLOAT16: (10, 5), FLOAT64: (52, 11)}


def element(dtype, value, exponent):
    mantissa_bits, exponent_bits = FORMATS[dtype]
    pattern = nearest(abs(value), exponent, mantissa_bits, exponent_bits)
    if value < 0:
        pattern |= 1 << (mantissa_bits + exponent_bits)
    return pattern.to_bytes(ELEMENT_BYTES[dtype], 'little')


# --- a tile --------------------------------------------------------------------------------------

class Stream:
    """The stream section of a payload, read from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        require(count <= len(self.data) - self.at, 'PAYLOAD')
        self.at += count
        return self.data[self.at - count:self.at]


def read_bits(data, count):
    """The first count bits of data; those that follow in its last byte are zero."""
    bits = [data[i // 8] >> (i % 8) & 1 for i in range(8 * len(data))]
    require(not any(bits[count:]), 'PAYLOAD')
    return bits[:count]


def read_codes(stream, count, width):
    codes = []
    while count > 0:
        block = min(count, 64)
        planes = [read_bits(stream.take((block + 7) // 8), block) for _ in range(width)]
        codes += [sum(plane[i] << j for j, plane in enumerate(planes)) for i in range(block)]
        count -= block
    return codes


def special_tile(record, stream, n, size):
    if record == 0:
        return bytes(n * size)
    if record == 1:
        return stream.take(size) * n
    if record == 2:
        signs = read_bits(stream.take((n + 7) // 8), n)
        return b''.join(bytes(size - 1) + bytes([sign << 7]) for sign in signs)
    require(record == 3, 'PAYLOAD')
    return stream.take(n * size)


def hadamard(y, q):
    k = 1 << q
    return [sum(-y[j] if bin(i & j).count('1') % 2 else y[j] for j in range(k)) for i in range(k)]


def tile(codec, dtype, record, stream, n, width):
    size = ELEMENT_BYTES[dtype]
    m, e, z, f = record & 255, record >> 8 & 255, record >> 16 & 1023, record >> 26 & 15
    rotated, negative = record >> 30 & 1, record >> 31
    if e == 0:
        return special_tile(record, stream, n, size)
    require(f <= 12, 'PAYLOAD')
    step = 256 + m
    zero = z if f == 0 else (1024 + z) << (f - 1)
    q = (n - 1).bit_length() if rotated else 0
    require((zero + ((1 << width) - 1) * step).bit_length() + q + e - 142 <= 128, 'PAYLOAD')
    if negative:
        zero = -zero
    if not rotated:
        return b''.join(element(dtype, code * step + zero, e - 142)
                        for code in read_codes(stream, n, width))
    require(codec == TAH and n >= 2, 'PAYLOAD')
    pivot = stream.take(1)[0]
    require(pivot < n, 'PAYLOAD')
    t = hadamard([code * step + zero for code in read_codes(stream, 1 << q, width)], q)
    x = [(value + (1 << (q - 2))) >> (q - 1) for value in t] if q >= 2 else t
    x[0], x[pivot] = x[pivot], x[0]
    return b''.join(element(dtype, value, e - 142 + q - 1) for value in x[:n])


# --- a frame -------------------------------------------------------------------------------------

def tiled(codec, dtype, count, frame, payload):
    high, low, order, kind = frame[28:32]
    channels = struct.unpack_from('<I', frame, 48)[0]
    require(dtype != 0 and 2 <= low <= high <= 8 and 4 <= order <= 8 and kind <= 2, 'HEADER')
    require(not any(frame[52:64]), 'HEADER')
    require((kind == 0) == (high == low), 'HEADER')
    require(not (kind == 1 and channels == 0), 'HEADER')
    require(not (kind != 0 and codec == UNIFORM), 'HEADER')
    require(channels == 0 or count % channels == 0, 'HEADER')

    row = channels or count
    rows = count // row if count else 0
    size = 1 << order
    row_tiles = -(-row // size)
    tiles = rows * row_tiles
    map_bits = {0: 0, 1: rows, 2: tiles}[kind]
    start = 4 * tiles + (map_bits + 7) // 8
    require(start < LIMIT and start <= len(payload), 'HEADER')

    widths = read_bits(payload[4 * tiles:start], map_bits)
    stream = Stream(payload[start:])
    out = []
    for number in range(tiles):
        line, column = divmod(number, row_tiles)
        n = min(size, row - column * size)
        wide = {0: 1, 1: widths[line] if kind == 1 else 1, 2: widths[number] if kind == 2 else 1}[kind]
        record = struct.unpack_from('<I', payload, 4 * number)[0]
        out.append(tile(codec, dtype, record, stream, n, high if wide else low))
    require(stream.at == len(stream.data), 'PAYLOAD')
    return b''.join(out)


def decode(message, key):
    require(len(message) % 128 == 112 and message[:16] == key, 'NOT_A_FRAME')
    require(message[24] == 1, 'VERSION')
    require(struct.unpack_from('<Q', message, 16)[0] == xxh3_64(message[24:]), 'CHECKSUM')
    codec, dtype = message[25], message[26]
    count, payload_bytes = struct.unpack_from('<QQ', message, 32)
    require(1 <= codec <= 4 and dtype in ELEMENT_BYTES, 'HEADER')
    least = HEADER_BYTES + payload_bytes
    length = least + (112 - least) % 128
    require(length == len(message), 'HEADER')
    require(count * ELEMENT_BYTES[dtype] < LIMIT, 'HEADER')
    require(not any(message[least:]), 'HEADER')
    require(codec in (TAH, UNIFORM, TAHX), 'UNSUPPORTED')
    if codec == TAHX:
        from tahx import tahx  # which uses the helpers above
        return tahx(dtype, count, message, message[HEADER_BYTES:least])
    return tiled(codec, dtype, count, message, message[HEADER_BYTES:least])
