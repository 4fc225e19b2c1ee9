"""Writes codec/tahx_tables.c: levels, edges and thresholds of tahx (standard library).

A tile of n Gaussians is divided by its scale, the next 1/16 of an octave above its largest
magnitude. For the density that the magnitudes then have, levels of up to EDGED bits and the edges
between them are those of least squared error (Lloyd, Max). Those of more bits are the centroids of
the cells of a compander, the lesser of two lines. Tiles with wide codes are those whose largest is
large, so for WIDE bits and more the values are Gaussians of unequal deviations, log-normal with
SPREAD. Thresholds follow from what each further bit takes off the error of a Gaussian tile.

usage: tahx_tables.py > codec/tahx_tables.c
"""
import bisect
import math

UNITS = 1 << 15  # of a magnitude: the scale of the tile
STEPS = 200      # quantiles of the largest magnitude
LEVEL = 1 << 14  # unit of a level: the scale
BITS = 8
WIDE, SPREAD = 5, 0.3
EDGED = 5        # most bits of codes with edges of their own, found by
BINS = 32        # the highest bits of a magnitude: in none of these are two edges
SEARCH = 64      # places of a magnitude in the search for a scale, whose
SCALE = 60       # scale it is that place; magnitudes may be a sixteenth above it
STEPS_TRIED = 4  # scales: from the next smaller one on

# Name, tile size, companders of narrow codes (where the search for their edges starts) and of wide
# ones: slopes of two lines (of 2^16) and the start of the second.
BOOKS = (('small', 32, (36372, 25033, 3261), (41792, 25067, 3823)),
         ('large', 64, (38794, 27133, 3045), (45151, 23980, 4486)))


class Values:
    """Density and distribution of a magnitude: Gaussian with a deviation of log-normal spread."""

    STEP = 1 / 2048
    LIMIT = 24  # of magnitudes

    def __init__(self, spread):
        nodes = [i / 4 for i in range(-14, 15)] if spread else [0]
        weights = [math.exp(-node * node / 2) for node in nodes]
        mixture = [(w / sum(weights), math.exp(spread * node)) for w, node in zip(weights, nodes)]
        grid = [(i + 0.5) * self.STEP for i in range(int(self.LIMIT / self.STEP))]
        self.density = [sum(w / s * math.exp(-x * x / (2 * s * s)) for w, s in mixture)
                        for x in grid]
        self.sums, total = [], 0.0
        for value in self.density:
            total += value
            self.sums.append(total)

    def quantile(self, probability):
        return (bisect.bisect_left(self.sums, probability * self.sums[-1]) + 0.5) * self.STEP


def density(n, spread):
    """Probability of each magnitude 0..UNITS-1 in a tile of n values."""
    p = [0.0] * UNITS
    values = Values(spread)
    for step in range(STEPS):
        largest = values.quantile(((step + 0.5) / STEPS) ** (1 / n))
        mantissa, exponent = math.frexp(largest)
        scale = math.ldexp(16 + math.ceil((2 * mantissa - 1) * 16), exponent - 5)
        end = min(UNITS - 1, int(largest / scale * UNITS))
        factor = scale / UNITS / values.STEP
        part = [values.density[int((u + 0.5) * factor)] for u in range(end)]
        weight = (n - 1) / n / STEPS / sum(part)
        for u, value in enumerate(part):
            p[u] += weight * value
        p[end] += 1 / n / STEPS
    return p


def compand(u, first, second, start):
    return min(u * first >> 16, (u * second >> 16) + start, LEVEL - 1)


class Sums:
    """Centroids of ranges of magnitudes and the squared error about them."""

    def __init__(self, p):
        self.weight, self.moment, self.square = [0.0], [0.0], 0.0
        for u, probability in enumerate(p):
            x = (u + 0.5) / UNITS
            self.weight.append(self.weight[-1] + probability)
            self.moment.append(self.moment[-1] + probability * x)
            self.square += probability * x * x

    def cells(self, starts):
        """Weight and moment of the cells that start at these magnitudes, the first at 0."""
        for start, end in zip(starts, starts[1:] + [UNITS]):
            yield self.weight[end] - self.weight[start], self.moment[end] - self.moment[start]

    def fit(self, starts):
        """Centroids of cells."""
        return [moment / weight for weight, moment in self.cells(starts)]

    def error(self, starts, levels):
        return self.square + sum(level * (level * weight - 2 * moment)
                                 for level, (weight, moment) in zip(levels, self.cells(starts)))


def starts_companded(lines, bits):
    cells = [compand(u, *lines) >> (15 - bits) for u in range(UNITS)]
    return [bisect.bisect_left(cells, cell) for cell in range(1 << (bits - 1))]


def starts_best(sums, starts):
    """Edges half way between centroids, centroids of what is between edges, until both hold."""
    for _ in range(2000):
        centroids = sums.fit(starts)
        better = [0] + [round((a + b) / 2 * UNITS) for a, b in zip(centroids, centroids[1:])]
        if better == starts:
            break
        starts = better
    return starts


def lifts_of(level):
    """What is added to the magnitudes of each bin so that their quotient by its size is the cell."""
    edges = [(a + b + 1) // 2 for a, b in zip(level, level[1:])]
    size, lifts = LEVEL // BINS, []
    for first in range(0, LEVEL, size):
        cell = bisect.bisect_right(edges, first)
        edge = edges[cell] if cell < len(edges) and edges[cell] < first + size else first + size
        lifts.append((size * (cell + 1) - edge) % (1 << 16))
    for v in range(LEVEL):
        assert (v + lifts[v // size]) % (1 << 16) // size == bisect.bisect_right(edges, v)
    return lifts


def squares_of(level):
    """Mean squared error at each place, the largest as 255."""
    squares = []
    for place in range(SEARCH):
        values = [(place + (i + 0.5) / 16) / SCALE * LEVEL for i in range(16)]
        squares.append(sum(min((v - l) ** 2 for l in level) for v in values))
    return [round(255 * square / max(squares)) for square in squares]


def steps_of(mantissa):
    """For scales from this one on: ratios of it to them (of 2^16, of places), their squares."""
    scales = [(16 + (mantissa + i) % 16) << (mantissa + i) // 16 for i in range(STEPS_TRIED)]
    first = scales[0]
    ratios = [65535 * first // scale for scale in scales]
    places = [(2 * 4 * SCALE * first + scale) // (2 * scale) for scale in scales]
    return ratios, places, [scale * scale for scale in scales]


def tables(n, narrow, wide):
    gaussian, uneven = Sums(density(n, 0)), Sums(density(n, SPREAD))
    levels, lifts, squares, errors = [], [], [], [gaussian.square]
    for bits in range(1, BITS + 1):
        sums, lines = (uneven, wide) if bits >= WIDE else (gaussian, narrow)
        starts = starts_companded(lines, bits)
        if bits <= EDGED:
            starts = starts_best(sums, starts)
        centroids = sums.fit(starts)
        levels.append([round(c * LEVEL) for c in centroids])
        errors.append(gaussian.error(starts, centroids))
        if bits <= EDGED:
            lifts.append(lifts_of(levels[-1]))
            squares.append(squares_of(levels[-1]))
    gains = [a - b for a, b in zip(errors, errors[1:])]
    thresholds = [round(-8 * math.log2(gain / gains[0])) for gain in gains]
    return levels, lifts, squares, thresholds, [round(error * (1 << 32)) for error in errors]


def wrapped(numbers):
    text, out = '', []
    for number in numbers:
        if len(text) + len('%d, ' % number) > 92:
            out.append(text.rstrip())
            text = ''
        text += '%d, ' % number
    return out + [text.rstrip()]


def print_rows(field, rows, start='', end=''):
    print('    .%s = {' % field)
    for row in rows:
        lines = wrapped(row)
        lines[0], lines[-1] = start + lines[0], lines[-1].rstrip(',' if end else '') + end
        for line in lines:
            print('        ' + line)
    print('    },')


def main():
    print('/* Written by tests/codec/tahx_tables.py. */')
    print('/* clang-format off */')
    print('#include "codec/tahx_tables.h"\n')
    for name, n, narrow, wide in BOOKS:
        levels, lifts, squares, thresholds, errors = tables(n, narrow, wide)
        print('const tahx_book_t tahx_book_%s = {' % name)
        print('    .first = %d, .second = %d, .start = %d,' % wide)
        print('    .threshold = {%s},' % ', '.join(map(str, thresholds)))
        print('    .error = {%s},' % ', '.join(map(str, errors)))
        print_rows('lift', lifts, '{', '},')
        print_rows('square', squares, '{', '},')
        print_rows('level', levels)
        print('};\n')
    print('const tahx_steps_t tahx_steps[16] = {')
    for byte in range(16):  # the first scale is the one before its
        mantissa = (byte - 1) % 16
        _, places, squares = steps_of(mantissa)
        print('    {16384.0f / %d, {%s}, {%s}},' % (
            16 + mantissa, ', '.join(map(str, places)), ', '.join(map(str, squares))))
    print('};\n')
    print('const uint16_t tahx_ratios[16][TAHX_STEPS] = {')
    for byte in range(0, 16, 2):
        print('    %s,' % ', '.join('{%s}' % ', '.join(map(str, steps_of((byte + i - 1) % 16)[0]))
                                    for i in range(2)))
    print('};')


if __name__ == '__main__':
    main()
