// Dialect: where C++, CUDA and OpenCL C differ in the code of a domain.
#pragma once

#include <string>
#include <vector>

#include "domain_emission/formula.h"
#include "groma/domain_emission.h"

namespace groma::domains {

// The number of bits of an integer.
enum class Width : std::uint8_t { k32, k64, k128 };
// Returns the smallest width for numbers up to `bound`.
Width width_for(Int128 bound);

class Dialect {
 public:
  Dialect(Language language, std::string name) : language_(language), name_(std::move(name)) {}

  Language language() const { return language_; }
  bool is_cpp() const { return language_ == Language::kCpp; }
  bool is_cuda() const { return language_ == Language::kCuda; }
  bool is_opencl() const { return language_ == Language::kOpencl; }
  // The name of the domain, with which all names of the code begin.
  const std::string& name() const { return name_; }

  // The name of a type.
  std::string integer(Width width) const;
  std::string unsigned_integer(Width width) const;
  // The type for the first guess at a root: `float` if that is precise enough.
  std::string real(bool is_float) const;
  std::string cast(const std::string& type, const std::string& value) const;
  // A function of <cmath>.
  std::string math(const std::string& function) const {
    return is_opencl() ? function : "std::" + function;
  }
  // What a function's definition begins with, with a space at its end.
  std::string function() const;

  // Returns the definition of a constant table of numbers that are not negative (at most 2^32-1) or
  // any numbers. table_item() reads an item.
  std::string table(const std::string& table, const std::vector<std::int64_t>& items) const;
  std::string table_item(const std::string& table, const std::string& index) const;
  // Returns the bytes of an item of such a table.
  static int item_bytes(const std::vector<std::int64_t>& items);

 private:
  Language language_;
  std::string name_;
};

}  // namespace groma::domains
