// A mapping as decisions that can be changed one by one, over all that the language has: what
// `guided` searches. Functions are made of machine operations, not taken from a list.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/guide.h"
#include "groma/kinds.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/workload.h"
#include "tune/statements.h"

namespace groma::tuning {

// Where the points of a launch go: the body of a mapping function, `m` being the processors of the
// task's kind, a name that says what it does, and the same in words.
struct PlacementFunction {
  std::string name, body, words;
};

// A mapping that decisions are taken beside.
struct Base {
  std::string text;
  std::vector<ProcKind> kinds;  // of each task, that it runs on
  Keys functions;               // "def NAME", of functions and globals
  Program program;
};

// The decisions; all of them untaken is the base.
struct Draft {
  struct Argument {
    std::vector<MemKind> memories;  // tried in this order; empty: none said
    std::string layout;             // "F_order AOS"; empty: none said
    bool collect = false;
    friend bool operator==(const Argument&, const Argument&) = default;
  };
  struct Task {
    std::optional<ProcKind> kind;
    std::shared_ptr<const PlacementFunction> placement;  // null: none said
    bool same_point = false;
    int limit = 0;
    std::string steal;  // "SAME_NODE"; empty: none said
    std::vector<Argument> arguments;
    friend bool operator==(const Task&, const Task&) = default;
  };
  std::shared_ptr<const Base> base;  // never null
  std::vector<Task> tasks;
  bool replicate = false;
  friend bool operator==(const Draft&, const Draft&) = default;
};

// A draft that differs from another in one thing, as people would say it.
struct Move {
  enum class What : std::uint8_t {
    kKind,
    kPlace,
    kPlaceAlike,
    kWithParent,
    kMemory,
    kLayout,
    kSchedule,  // limits, stealing
    kReplicate
  };
  static constexpr std::size_t kWhats = 8;
  Draft draft;
  What what = What::kKind;
  std::string why;
  double weight = 0;  // how much of the time it is about, 0 to 1
};

// The drafts of some workload on a machine. What it makes depends on nothing else.
class Drafts {
 public:
  Drafts(const Machine& machine, const Workload& workload);

  // No decision taken beside that text; "" is the default mapper.
  Draft untaken(const std::string& text = "") const;
  std::string text_of(const Draft& draft) const;

  // What can be changed at once: of a task, of all data of one name, of all tasks alike. Weighted
  // by what the facts (may be null) say costs time.
  std::vector<Move> moves(const Draft& draft, const ProfileFacts* facts) const;
  // One of them, or one that moves() leaves out, since there are too many: some function of the
  // whole family. `random` is any number.
  Move random_move(const Draft& draft, std::uint64_t random) const;
  // What is short of room, wherever tasks on processors of its kind use it, may lie in the further
  // memories that these address, the fastest first. Nothing where it may already.
  std::optional<Move> with_room(const Draft& draft, const Shortage& shortage) const;

 private:
  struct Argument {
    std::size_t position = 0;
    std::vector<std::string> names;
    bool read_only = false;
    std::string region() const { return names.empty() ? "" : names.front(); }
    std::string words_of(const std::string& task) const;  // "tiles of step", "region 1 of step"
  };
  struct Task {
    std::string name, written;
    std::vector<ProcKind> kinds;        // with a variant, the default mapper's first
    std::vector<std::int64_t> extents;  // of its first index launch with points; none: it has none
    int dimensions = 0;                 // the fewest of those
    bool single = false;
    std::vector<Argument> arguments;
  };
  using Function = std::shared_ptr<const PlacementFunction>;
  class Collector;

  ProcKind kind_of(const Draft& draft, std::size_t task) const;
  void set_kind(Draft& draft, std::size_t task, ProcKind kind) const;
  std::vector<MemKind> memories_of(ProcKind kind) const;
  // Of an argument: those that are said, then the others.
  std::vector<MemKind> all_memories(const Draft& draft, std::size_t task,
                                    std::size_t argument) const;
  std::vector<Function> functions_of(std::size_t task, ProcKind kind) const;
  // Null where there are no processors to name.
  Function random_function(std::size_t task, ProcKind kind, std::uint64_t random) const;
  // The name by which a text that has the base's functions may define one.
  static std::string free_name(const Base& base, std::string name);

  const Machine& machine_;
  std::vector<Task> tasks_;
  std::vector<std::string> regions_;  // names of data, each once
  std::string top_level_;             // as written; empty: nothing launches
};

}  // namespace groma::tuning
