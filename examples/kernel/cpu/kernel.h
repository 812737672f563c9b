// The function that this example tunes. kernel.cc has the simple version with which a search
// begins; by_hand.cc has a version that a person optimised.
#pragma once

#include <cstddef>

// Computes C = A * B on one thread. The matrices have n rows of n elements, in row-major order, and
// do not overlap. The old contents of C are ignored.
void multiply(std::size_t n, const double* a, const double* b, double* c);
