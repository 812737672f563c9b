// What the two matrix multiplications share: A(i, j) = sum over k of B(i, k) C(k, j), n x n
// doubles. The elements of B and C are small whole numbers, so sums are exact in whatever order.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "arithmetic.h"
#include "program.h"

namespace matrix {

constexpr Legion::FieldID kValues = 1;

// A matrix as a region: n x n, one field `vals`, all zero.
Legion::LogicalRegion make(Legion::Context context, Legion::Runtime* runtime, Legion::coord_t n,
                           const char* name);

// Cuts a block of an n x n matrix into those blocks of a grid of rows x columns on the whole matrix
// that lie in it, coloured from (0, 0) on. They are found again under kBlocks.
constexpr Legion::Color kBlocks = 1;
Legion::LogicalPartition cut(Legion::Context context, Legion::Runtime* runtime,
                             Legion::LogicalRegion block, Legion::coord_t n, Legion::coord_t rows,
                             Legion::coord_t columns, const char* name,
                             Legion::Color color = kBlocks);

// Which block a point of a launch gets: its coordinates `row` and `column`; where there is none,
// the first.
enum Projection : Legion::ProjectionID { kSame = 0, kRow = 1, kColumn, kIJ, kIK, kKJ };
void register_projections();

// A requirement of all values of `block`: of the launching task the one itself.
Legion::RegionRequirement needs(Legion::LogicalRegion block, Legion::LogicalRegion parent,
                                Legion::PrivilegeMode privilege);
Legion::RegionRequirement needs(Legion::LogicalPartition blocks, Projection projection,
                                Legion::LogicalRegion parent, Legion::PrivilegeMode privilege);

// Writes the elements that the matrix begins with.
void fill(const Legion::PhysicalRegion& block, Name matrix);

// A += B C of the three blocks, in column order: OpenBLAS's dgemm, or loops where there is none.
void multiply_add(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                  const Legion::PhysicalRegion& c);
// The same where A is to be reduced, in any order of its own: others may do so at the same time.
void multiply_reduce(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                     const Legion::PhysicalRegion& c);

// All three on a GPU, in C order.
void fill_on_gpu(const Legion::PhysicalRegion& block, Name matrix);
void multiply_add_on_gpu(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                         const Legion::PhysicalRegion& c);
void multiply_reduce_on_gpu(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                            const Legion::PhysicalRegion& c);

// Compares elements of a block of A with `times` the product as loops compute it: all of a small
// matrix, some thousands of a large one. How many are wrong.
std::int64_t count_wrong(const Legion::PhysicalRegion& a, Legion::coord_t n, std::int64_t times);

}  // namespace matrix
