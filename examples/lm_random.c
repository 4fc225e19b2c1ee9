#include "lm_random.h"

#include <math.h>

/* Finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

uint64_t lm_random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;

    return mix(mix(mix(seed + golden) + stream * golden + golden) + index * golden + golden);
}

double lm_random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    const double two_pi = 6.283185307179586;
    /* 53 bits each; the first lies in (0, 1], so that its logarithm is finite. */
    double radius = ((lm_random_bits(seed, stream, 2 * index) >> 11) + 1) * 0x1p-53;
    double angle = (lm_random_bits(seed, stream, 2 * index + 1) >> 11) * 0x1p-53;

    return sqrt(-2 * log(radius)) * cos(two_pi * angle);
}
