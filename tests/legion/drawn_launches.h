// Task launches drawn from a seed, as plain data: what tests/legion/record_default_mapper.cc puts
// before Legion's DefaultMapper. The same numbers come out everywhere.
#ifndef TESTS_LEGION_DRAWN_LAUNCHES_H_
#define TESTS_LEGION_DRAWN_LAUNCHES_H_

#include <string>
#include <vector>

namespace groma::legion_test {

// Both corners belong to it.
struct DrawnBox {
  std::vector<long long> lo;
  std::vector<long long> hi;
};

struct DrawnRequirement {
  std::string privilege;   // READ_ONLY, READ_WRITE, WRITE_DISCARD, REDUCE, NO_ACCESS
  std::string projection;  // whole: the root region; partition: the point's part of it; piece: the
                           // first of `pieces` equal parts (single tasks)
  DrawnBox bounds;         // of the root region
  int fields = 1;          // the field space has 0, 1, ...
  std::vector<int> used;   // of these
  int pieces = 1;
  unsigned tag = 0;  // DefaultMapper's: 1 VIRTUAL_MAP, 2 EXACT_REGION
};

struct DrawnLaunch {
  int id = 0;
  std::string
      task;  // leaf, plain, inner: the variant's properties; twin: two leaf variants, 1 and 2
  bool is_index = false;
  DrawnBox domain;  // of an index launch
  std::vector<DrawnRequirement> requirements;
};

// A shorter list is the beginning of a longer one.
std::vector<DrawnLaunch> draw_launches(int count);

std::string to_json(const DrawnLaunch& launch);

}  // namespace groma::legion_test

#endif  // TESTS_LEGION_DRAWN_LAUNCHES_H_
