// Functions that the two matrix multiplications share. They compute A(i, j) = sum over k of
// B(i, k) C(k, j) for matrices of n x n doubles. The elements of B and C are small integers, so
// sums are exact in any order.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "arithmetic.h"
#include "program.h"

namespace matrix {

constexpr Legion::FieldID kValues = 1;

// Makes a matrix: a region of n x n points with one field `vals`, all zero.
Legion::LogicalRegion make(Legion::Context context, Legion::Runtime* runtime, Legion::coord_t n,
                           const char* name);

// Cuts a block of an n x n matrix into smaller blocks. These are the blocks of a rows x columns
// grid over the whole matrix that lie in the given block. Their colours begin at (0, 0). The
// partition is found again by the colour kBlocks.
constexpr Legion::Color kBlocks = 1;
Legion::LogicalPartition cut(Legion::Context context, Legion::Runtime* runtime,
                             Legion::LogicalRegion block, Legion::coord_t n, Legion::coord_t rows,
                             Legion::coord_t columns, const char* name,
                             Legion::Color color = kBlocks);

// The projection functors of the matrix multiplications. A functor says which block a point of a
// launch accesses. The row and the column of the block are coordinates of the point, such as i and
// k for kIK. A missing coordinate is 0.
enum Projection : Legion::ProjectionID { kSame = 0, kRow = 1, kColumn, kIJ, kIK, kKJ };
void register_projections();

// Return a requirement for all values of a block. The first function is for one block in a single
// task. The second one is for an index launch in which each point accesses the block that the
// projection gives.
Legion::RegionRequirement needs(Legion::LogicalRegion block, Legion::LogicalRegion parent,
                                Legion::PrivilegeMode privilege);
Legion::RegionRequirement needs(Legion::LogicalPartition blocks, Projection projection,
                                Legion::LogicalRegion parent, Legion::PrivilegeMode privilege);

// Writes the initial elements of a block.
void fill(const Legion::PhysicalRegion& block, Name matrix);

// Adds the product of two blocks to a block of A. The blocks are in column order. Uses dgemm of
// OpenBLAS, or loops if OpenBLAS is missing.
void multiply_add(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                  const Legion::PhysicalRegion& c);
// Adds the product of two blocks to a reduction instance of A. Other tasks may reduce to A at the
// same time.
void multiply_reduce(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                     const Legion::PhysicalRegion& c);

// The functions fill_on_gpu(), multiply_add_on_gpu() and multiply_reduce_on_gpu() do on a GPU what
// fill(), multiply_add() and multiply_reduce() do on a CPU. The blocks are in C order.
void fill_on_gpu(const Legion::PhysicalRegion& block, Name matrix);
void multiply_add_on_gpu(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                         const Legion::PhysicalRegion& c);
void multiply_reduce_on_gpu(const Legion::PhysicalRegion& a, const Legion::PhysicalRegion& b,
                            const Legion::PhysicalRegion& c);

// Compares elements of a block of A with `times` times the product that loops compute. Compares all
// elements of a small matrix and some thousands of a large one. Returns how many are wrong.
std::int64_t count_wrong(const Legion::PhysicalRegion& a, Legion::coord_t n, std::int64_t times);

}  // namespace matrix
