// What is tuned in this example: one function, of which kernel.cc is the plain form that a search
// begins with and by_hand.cc what a person makes of it.
#pragma once

#include <cstddef>

// C = A * B. Square matrices of n rows with n elements each, row after row; they do not overlap.
// What C holds before does not matter. On one thread.
void multiply(std::size_t n, const double* a, const double* b, double* c);
