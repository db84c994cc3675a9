/* For loops that do the same to many elements: compiled for wider registers, too. */
#ifndef ANONLOOM_LANES_H
#define ANONLOOM_LANES_H

#include "kernel.h"

/* Before a function that holds such loops and calls nothing that is not inlined. Every x86-64 has
 * registers of four floats, most have eight or sixteen; which of the function's versions runs is
 * decided when the module is loaded. Results are the same, because no version reorders a sum or
 * joins two roundings. The loader of glibc can choose, others cannot; sanitizers are not ready when
 * it does. The function is never inlined: mixed with the loops around it, it may no longer fill
 * registers. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones) && !defined(__SANITIZE_ADDRESS__)
#define FOR_ALL_WIDTHS __attribute__((noinline, target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef FOR_ALL_WIDTHS
#ifdef __GNUC__
#define FOR_ALL_WIDTHS __attribute__((noinline))
#else
#define FOR_ALL_WIDTHS
#endif
#endif

#endif
