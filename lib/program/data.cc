// The index over the rows of statements, and the words for types and members.
#include "program/data.h"

#include "groma/result.h"

namespace groma::program {
namespace {

// Mixes all fields of a statement's key into one hash.
std::uint64_t hash_of(const StatementKey& key) {
  const std::uint64_t where =
      (std::uint64_t{static_cast<std::uint8_t>(key.table)} << 8) | key.place;
  return mix_bits(mix_bits((std::uint64_t{key.task} << 32) | key.region) ^ where);
}

}  // namespace

const StatementRow* ProgramData::find_row(const StatementKey& key) const {
  const std::uint32_t at =
      row_index.find(hash_of(key), [&](std::uint32_t i) { return rows[i].key == key; });
  return at == FlatIndex::kNone ? nullptr : &rows[at];
}

// Adds a row and returns null. If the key already has a row, returns that row and adds nothing.
const StatementRow* ProgramData::add_row(const StatementRow& row) {
  if (const StatementRow* known = find_row(row.key)) return known;
  row_index.insert(hash_of(row.key), static_cast<std::uint32_t>(rows.size()));
  rows.push_back(row);
  return nullptr;
}

// Returns a type for messages, such as "an integer".
std::string_view describe_type(Type type) {
  switch (type) {
    case Type::kAny:
      return "any value";
    case Type::kInt:
      return "an integer";
    case Type::kBool:
      return "a bool";
    case Type::kTuple:
      return "a tuple";
    case Type::kString:
      return "a string";
    case Type::kMachine:
      return "a machine";
    case Type::kTask:
      return "a task";
    case Type::kParent:
      return "a parent task";
    case Type::kProcessor:
      return "a processor";
    case Type::kProcessors:
      return "a set of processors";
    case Type::kProcKind:
      return "a processor kind";
    case Type::kMemKind:
      return "a memory kind";
  }
  return "";
}

std::string_view name_of(Member member) {
  constexpr std::array<std::string_view, kMemberCount> kNames = {
      "size", "volume", "len", "ipoint", "ispace", "ilo", "irank", "ivolume", "parent", "name"};
  return kNames[static_cast<std::size_t>(member)];
}

}  // namespace groma::program
