"""The codec tahx for the independent decoder: doc/tahx-format.md, whose levels it reads."""
import os
import re
import struct

from decoder import (ELEMENT_BYTES, FLOAT32, FORMATS, LIMIT, Stream, nearest, read_bits, read_codes,
                     require, special_tile)

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'doc',
                    'tahx-format.md')


def codebooks():
    """Thresholds and levels (by width) of the two codebooks."""
    with open(PAGE, encoding='utf-8') as page:
        text = page.read()
    found = re.findall(r'codebook\. Thresholds ([\d ]+)\. Levels:\n\n((?:    [\d ]+\n)+)', text)
    books = []
    for thresholds, numbers in found:
        numbers = [int(number) for number in numbers.split()]
        levels = [[0]] + [numbers[2 ** (b - 1) - 1:2 ** b - 1] for b in range(1, 9)]
        books.append(([int(number) for number in thresholds.split()], levels))
    return books


BOOKS = codebooks()


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def round24(value, exponent):
    """value * 2^exponent to 24 significant bits, halves to even."""
    drop = abs(value).bit_length() - 24
    if drop <= 0:
        return value, exponent
    units, rest = abs(value) >> drop, abs(value) & ((1 << drop) - 1)
    half = 1 << (drop - 1)
    if rest > half or (rest == half and units & 1):
        units += 1
    return (-units if value < 0 else units), exponent + drop


def store(dtype, value, exponent):
    """The bytes of value * 2^exponent, through float32."""
    pattern = nearest(abs(value), exponent, *FORMATS[FLOAT32])
    if dtype != FLOAT32:
        field = pattern >> 23
        magnitude = (pattern & 0x7fffff) | (0x800000 if field else 0)
        pattern = nearest(magnitude, max(field, 1) - 150, *FORMATS[dtype])
    if value < 0:
        pattern |= 1 << sum(FORMATS[dtype])
    return pattern.to_bytes(ELEMENT_BYTES[dtype], 'little')


class Shape:
    def __init__(self, frame, count, payload):
        order, self.least, self.mean_bits, flags = frame[28:32]
        self.channels, self.threshold = struct.unpack_from('<Ii', frame, 48)
        self.exponent, self.tile_exponent, self.mean_exponent = struct.unpack_from('<bbb', frame,
                                                                                   56)
        self.scale_bits, self.by_row = 6 if flags & 1 else 0, flags >> 1 & 1
        require(4 <= order <= 8 and self.least <= 8 and self.mean_bits <= 16 and flags <= 3,
                'HEADER')
        require(abs(self.threshold) <= 131072 and abs(self.exponent) <= 120, 'HEADER')
        require(abs(self.tile_exponent) <= 90 and abs(self.mean_exponent) <= 90, 'HEADER')
        require(not any(frame[59:64]), 'HEADER')
        require(not (self.by_row and self.exponent), 'HEADER')
        require(self.mean_bits or not self.mean_exponent, 'HEADER')
        if self.channels:
            require(count % self.channels == 0, 'HEADER')
        else:
            require(self.mean_bits == 0 and flags == 0, 'HEADER')
        self.size, self.row = 1 << order, self.channels or count
        self.rows = count // self.row if count else 0
        self.row_tiles = -(-self.row // self.size)
        self.tiles = self.rows * self.row_tiles
        self.field_bits = self.mean_bits + self.scale_bits
        self.rows_start = (self.channels * self.field_bits + 7) // 8
        self.tiles_start = self.rows_start + (self.rows if self.by_row else 0)
        self.stream_start = self.tiles_start + self.tiles
        require(self.tiles < LIMIT and self.stream_start <= len(payload), 'HEADER')
        self.thresholds, self.levels = BOOKS[order > 5]


def read_channels(shape, payload):
    """Mean (in units of 2^N) and scale of each channel, or of none."""
    bits = read_bits(payload[:shape.rows_start], shape.channels * shape.field_bits)
    channels = []
    for at in range(0, len(bits), shape.field_bits or 1):
        field = sum(bit << i for i, bit in enumerate(bits[at:at + shape.field_bits]))
        q = signed(field & ((1 << shape.mean_bits) - 1), shape.mean_bits) if shape.mean_bits else 0
        k = field >> shape.mean_bits
        channels.append((q, (8 + k % 8) << k // 8 if shape.scale_bits else 1))
    return channels


def width_of(shape, byte, number):
    rank = int('{:08b}'.format(number & 255)[::-1], 2)
    return max(shape.least, sum(256 * (byte - t) + rank >= shape.threshold
                                for t in shape.thresholds))


def coded_tile(shape, dtype, byte, number, stream, channels, exponent, n):
    width = width_of(shape, byte, number)
    scale, unit = 16 + byte % 16, byte // 16 + shape.tile_exponent - 14
    out = []
    for i, code in enumerate(read_codes(stream, n, width) if width else [0] * n):
        level = shape.levels[width][code & ((1 << (width - 1)) - 1)] if width else 0
        if width and code >> (width - 1):
            level = -level
        mean, factor = channels[i] if channels else (0, 1)
        # Both terms in units of the smaller power of two.
        low = min(unit, shape.mean_exponent)
        value = (level * scale * factor << (unit - low)) + (mean << (shape.mean_exponent - low))
        value, power = round24(value, low)
        out.append(store(dtype, value, power + exponent))
    return b''.join(out)


def tahx(dtype, count, frame, payload):
    require(dtype != 0, 'HEADER')
    shape = Shape(frame, count, payload)
    channels = read_channels(shape, payload)
    exponents = [h - 120 for h in payload[shape.rows_start:shape.tiles_start]]
    require(all(exponent <= 120 for exponent in exponents), 'PAYLOAD')
    stream = Stream(payload[shape.stream_start:])
    out = []
    for number in range(shape.tiles):
        row, column = divmod(number, shape.row_tiles)
        first = column * shape.size
        n = min(shape.size, shape.row - first)
        byte = payload[shape.tiles_start + number]
        if byte < 4:
            out.append(special_tile(byte, stream, n, ELEMENT_BYTES[dtype]))
        else:
            exponent = exponents[row] if exponents else shape.exponent
            out.append(coded_tile(shape, dtype, byte, number, stream, channels[first:first + n],
                                  exponent, n))
    require(stream.at == len(stream.data), 'PAYLOAD')
    return b''.join(out)

