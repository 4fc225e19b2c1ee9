/*
 * The vectors that the vector kernels (codec/kernel_vector_*.h) are written in, once for all
 * instruction sets: each simd_*.h has the same types and functions, and each kernel_*.c includes
 * one of them and then the kernel's body.
 *
 * vf: 16 floats. vi: 16 integers of 32 bits. vm: 16 truth values. vb: 64 codes of 8 bits.
 * Loads and stores have any alignment. Arithmetic is that of IEEE 754 under the thread's
 * environment, element by element, so that it is the reference's; vf_fused is for what no result
 * depends on.
 *
 *   vf_bits, vi_bits     the same bits as the other type;   vf_of        integers as floats
 *   vf_nearest           to integers, as the environment rounds
 *   vf_min, vf_max       the second operand where one is NaN
 *   vi_add16, vi_sub16   of the two halves of integers as integers of 16 bits, modulo 2^16
 *   vi_dot16             sum of the products of both halves, signed
 *   vf_above, vi_above   x > y, integers signed
 *   vm_bits, vm_from     truth values as the bits of an integer, and the reverse
 *   vf_larger            the larger of numbers without a sign, NaN above all others
 *   vi_down_each         each shifted down by its own number of bits, 0 where it is 32 or more
 *   vf_choose            the first where the truth value holds, else the second
 *   vf_look_up           elements of a table of 8
 *   vi_store_past        to aligned memory, past the caches
 *   vi_store16           low halves;      vf_store_float16: rounded to nearest, halves to even
 *   vf_min_across        the smallest element of each of 16 vectors;      vf_least: of one
 *   vf_butterfly4        each element and the one 4 lanes on become their sum and their difference;
 *                        vi_butterfly4: of both halves, as vi_add16
 *   vb_pack              64 codes from integers, in the order that vb_planes wants; saturates
 *   vb_planes            the planes of up to 8 w codes, w = 1..8, lowest first, w bytes each; what
 *                        follows them in SIMD_PLANES bytes may be overwritten
 *   vb_unplanes          the reverse; SIMD_PLANES bytes can be read, codes behind are undefined
 *   vb_codes0..3         16 of the codes of vb_unplanes
 *   planes_values        four vectors of code * step + zero, one rounding; as vb_unplanes
 */
#ifndef TAH_SIMD_H
#define TAH_SIMD_H

#include <stdint.h>

#define SIMD static inline __attribute__((always_inline, unused))
#define SIMD_LANES 16
#define SIMD_PLANES 64 /* bytes */

/* Loops over the vectors of a tile: their values then stay in registers. */
#define UNROLLED _Pragma("GCC unroll 16")

#endif
