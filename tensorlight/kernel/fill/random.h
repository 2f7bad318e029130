// SPDX-License-Identifier: Apache-2.0
// A counter-based generator of random bits: any block of a sequence can be computed by itself, so
// threads compute separate blocks, and all machines the same bits.
//
// Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011.

#pragma once

#include <stdint.h>

/** Block `counter` of the sequence of `key`: Philox4x32 of ten rounds. Both are words, the least
 *  significant one first. */
void tl_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4]);

/** The number that a standard normal distribution exceeds with the probability 1 - p, for 0 < p <
 * 1; the same bits on all machines. Source: Wichura: Algorithm AS 241, PPND16, 1988. */
double tl_normal_quantile(double p);
