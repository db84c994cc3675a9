/* For loops that do the same to many elements: also compiled for wider registers, where they pay. */
#ifndef ANONLOOM_LANES_H
#define ANONLOOM_LANES_H

#include "kernel.h"

/* Before a function that calls no other one which is not inlined. Every x86-64 has registers of four
 * floats, most have eight or sixteen; which of the function's versions runs is decided when the module
 * is loaded. Results are the same, because no version reorders a sum or joins two roundings. The
 * loader of glibc can choose, others cannot; sanitizers are not ready when it does. */
#define FOR_ALL_WIDTHS
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones) && !defined(__SANITIZE_ADDRESS__)
#undef FOR_ALL_WIDTHS
#define FOR_ALL_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif

#endif
