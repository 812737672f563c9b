// Writes the differences between two mappings as text and as JSON. docs/commands.md describes both
// formats.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/json.h"
#include "explain/words.h"
#include "groma/diff.h"
#include "profile/words.h"

namespace groma {
namespace {

using Aspect = MappingDifference::Aspect;
using SideDecision = MappingDifference::SideDecision;

// Returns a signed amount: "+1.20 ms", "-3 B", "0 B".
template <typename Number, typename Words>
std::string signed_words(Number value, const Words& words) {
  if (value == 0) return words(value);
  return (value > 0 ? "+" : "-") + words(value > 0 ? value : -value);
}
std::string signed_seconds(double seconds) { return signed_words(seconds, seconds_words); }
std::string signed_bytes(std::int64_t bytes) { return signed_words(bytes, profile::format_bytes); }

// Returns a relative change in percent, such as "+22 %", or "" if `whole` is zero.
std::string percent(double change, double whole) {
  return whole > 0 ? fmt::format("{:+.1f} %", 100 * change / whole) : "";
}

// Returns true if a difference of this kind concerns one region requirement, not a whole task.
bool is_of_requirement(Aspect what) {
  return what == Aspect::kMemory || what == Aspect::kLayout || what == Aspect::kCollection;
}

// Returns the name of a mapping. An empty program stands for the default mapper.
std::string title(const Program& program) {
  return program.source().text().empty() ? "the default mapper" : harmless(program.source().name());
}

// Returns the statement that decided, with its place, or "the default mapper".
std::string decider(const Program& program, DecisionOrigin by) {
  return by ? statement_line(program, by) : "the default mapper";
}

// Writes the differences for a person: first both runs, then the statements with their costs.
class Writer {
 public:
  Writer(const MappingDiff& diff, const Program& a, const Program& b, bool color)
      : diff_(diff), a_(a), b_(b), color_(color) {}

  // Returns the differences between the mappings as text for a person.
  std::string write() {
    text_ = fmt::format("A is {}, B is {}\n\n", title(a_), title(b_));
    if (diff_.a.ok() && diff_.b.ok()) {
      row("", "A", "B", "");
      row("time, simulated", seconds_words(diff_.a.seconds), seconds_words(diff_.b.seconds),
          percent(diff_.b.seconds - diff_.a.seconds, diff_.a.seconds));
      row("moved", profile::format_bytes(diff_.a.moved_bytes),
          profile::format_bytes(diff_.b.moved_bytes),
          percent(static_cast<double>(diff_.b.moved_bytes - diff_.a.moved_bytes),
                  static_cast<double>(diff_.a.moved_bytes)));
    } else {
      text_ += fmt::format("  A {}\n  B {}\n", outcome(diff_.a), outcome(diff_.b));
    }
    text_ += '\n';
    if (diff_.differences.empty()) {
      return text_ + "Every decision about this application is the same.\n";
    }
    const std::size_t count = diff_.differences.size();
    text_ += fmt::format("{} decided differently.{}\n",
                         count == 1 ? "1 thing is" : fmt::format("{} things are", count),
                         method_words());
    const std::vector<const StatementDifference*> order = statements_by_cost();
    // The statements within each statement of A, by the position of the latter.
    std::vector<std::vector<const StatementDifference*>> inner(diff_.statements.size());
    for (const StatementDifference* statement : order) {
      if (statement->within) inner[*statement->within].push_back(statement);
    }
    for (const StatementDifference* statement : order) {
      if (statement->within) continue;
      write(*statement);
      const auto position = static_cast<std::size_t>(statement - diff_.statements.data());
      for (const StatementDifference* each : inner[position]) write(*each);
    }
    if (gains_together()) text_ += "\nNone of them gains alone: together they do.\n";
    return std::move(text_);
  }

 private:
  // Says how the effects were measured, or why none was.
  std::string method_words() const {
    const auto is_measured = [](const auto& each) { return each.cost || !each.alone.empty(); };
    if (std::none_of(diff_.differences.begin(), diff_.differences.end(), is_measured) &&
        std::none_of(diff_.statements.begin(), diff_.statements.end(), is_measured)) {
      return diff_.a.ok() ? " No effect was measured."
                          : fmt::format(" No effect was measured, because A {}.", outcome(diff_.a));
    }
    const bool has_limits =
        std::any_of(diff_.differences.begin(), diff_.differences.end(),
                    [](const MappingDifference& each) { return each.what == Aspect::kLimit; });
    return fmt::format(
        " The effect of a statement is measured by one simulated run of A\n"
        "in which B makes all decisions of the statement, and the effect of a part by a run in "
        "which B\nmakes only this decision.{} Effects do not add up, because decisions depend on "
        "each other.",
        has_limits ? " Instance limits are the exception: one run measures the limits\n"
                     "of all tasks together."
                   : "");
  }

  // Returns true if B is faster than A but no measured difference is faster alone.
  bool gains_together() const {
    const auto may_gain = [](const auto& each) {
      const bool tried = each.cost || !each.alone.empty();
      return !tried || (each.cost && each.cost->seconds < 0);
    };
    return diff_.a.ok() && diff_.b.ok() && diff_.b.seconds < diff_.a.seconds &&
           std::none_of(diff_.differences.begin(), diff_.differences.end(), may_gain) &&
           std::none_of(diff_.statements.begin(), diff_.statements.end(),
                        [&](const StatementDifference& each) {
                          return each.parts.size() > 1 && each.by && may_gain(each);
                        });
  }

  static std::string outcome(const RunResult& result) {
    if (result.ok()) return seconds_words(result.seconds) + " simulated";
    return result.status == RunStatus::kStopped ? "was not finished" : "does not run";
  }

  // Writes a row of the table at the beginning: a quantity, its values for A and B, and the change.
  void row(std::string_view what, std::string_view a, std::string_view b, std::string_view change) {
    std::string line = fmt::format("  {:<16} {:>12} {:>12} {:>10}", what, a, b, change);
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + '\n';
  }

  using Size = std::pair<double, std::int64_t>;
  // Returns the size of a cost for sorting. A cost that was not measured comes last.
  static Size size_of(const std::optional<MappingDifference::Cost>& cost) {
    return cost ? Size(std::abs(cost->seconds), std::abs(cost->moved_bytes)) : Size(-1.0, 0);
  }
  // Sorts by the absolute change of time, then of bytes, the largest first. Items with equal
  // changes keep their order.
  template <typename Item, typename SizeOf>
  static void sort_by_size(std::vector<const Item*>& items, const SizeOf& size) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const Item* a, const Item* b) { return size(*a) > size(*b); });
  }

  // Returns the statements, those with the largest cost first. A statement without a run of its own
  // has the cost of its most expensive difference.
  std::vector<const StatementDifference*> statements_by_cost() const {
    std::vector<const StatementDifference*> order;
    for (const StatementDifference& each : diff_.statements) order.push_back(&each);
    sort_by_size(order, [this](const StatementDifference& each) {
      Size size = size_of(each.cost);
      if (each.cost) return size;
      for (const std::size_t part : each.parts) {
        size = std::max(size, size_of(diff_.differences[part].cost));
      }
      return size;
    });
    return order;
  }

  // Returns the words that name a statement: "with B's b.mapper:3:1: Task * CPU".
  std::string heading(const StatementDifference& statement) const {
    if (!statement.by) return "by no statement";
    return fmt::format("{} {}", statement.is_of_a ? "without A's" : "with B's",
                       statement_line(statement.is_of_a ? a_ : b_, statement.by));
  }

  // Writes a statement with the cost of all its differences together. Then writes the differences,
  // grouped by equal decisions of A and of B. A difference that a statement of B makes is written
  // only there. If the parts depend on each other, their own costs are folded to one line.
  void write(const StatementDifference& statement) {
    const std::string head =
        heading(statement) +
        (statement.within ? " (in place of A's statement above)" : std::string());
    text_ += '\n' + (color_ ? fmt::format("\x1b[1m{}\x1b[0m", head) : head) + '\n';
    if (statement.parts.size() > 1) {
      const std::string all = fmt::format("its {} parts together", statement.parts.size());
      if (statement.cost) {
        changes(*statement.cost, all);
      } else if (!statement.alone.empty()) {
        refused(statement.alone, all);
      }
    }
    has_several_ = statement.parts.size() > 1;
    folds_ = parts_interact(diff_, statement);
    if (folds_) write_interaction(statement);
    std::vector<const MappingDifference*> rest;
    for (const std::size_t part : statement.parts) {
      const MappingDifference& each = diff_.differences[part];
      if (!statement.is_of_a || !each.b.by) rest.push_back(&each);
    }
    if (rest.size() < statement.parts.size()) {
      text_ += fmt::format("  B decides {} by statements of its own\n",
                           rest.empty()
                               ? "all of them"
                               : fmt::format("{} of them", statement.parts.size() - rest.size()));
    }
    sort_by_size(rest, [](const MappingDifference& each) { return size_of(each.cost); });
    while (!rest.empty()) {
      const auto same = [&first = *rest.front()](const MappingDifference* each) {
        return each->what == first.what && each->a == first.a && each->b == first.b;
      };
      const auto end = std::stable_partition(rest.begin(), rest.end(), same);
      write({rest.begin(), end});
      rest.erase(rest.begin(), end);
    }
  }

  // Writes the range of the effects of a statement's parts, which depend on each other.
  void write_interaction(const StatementDifference& statement) {
    std::optional<double> least, most;
    std::size_t refused = 0;
    for (const std::size_t part : statement.parts) {
      const MappingDifference& each = diff_.differences[part];
      if (!each.alone.empty()) ++refused;
      if (!each.cost) continue;
      least = std::min(least.value_or(each.cost->seconds), each.cost->seconds);
      most = std::max(most.value_or(each.cost->seconds), each.cost->seconds);
    }
    std::string words = "  the parts depend on each other:";
    if (least) {
      words += fmt::format(
          " alone they change {}",
          *least == *most ? signed_seconds(*least)
                          : fmt::format("{} to {}", signed_seconds(*least), signed_seconds(*most)));
    }
    if (refused > 0) {
      words += fmt::format("{} {} of {} alone does not run", least ? "," : "", refused,
                           statement.parts.size());
    }
    text_ += words + '\n';
  }

  // Returns true if the effect of one of several parts is too small to be worth a line.
  bool changes_little(const MappingDifference::Cost& cost) const {
    constexpr double kMinShareOfTime = 0.001, kMinShareOfBytes = 0.01;
    return has_several_ && std::abs(cost.seconds) < kMinShareOfTime * diff_.a.seconds &&
           std::abs(static_cast<double>(cost.moved_bytes)) <
               kMinShareOfBytes * static_cast<double>(diff_.a.moved_bytes);
  }

  // Writes a line with the changes of time and of moved bytes.
  void changes(const MappingDifference::Cost& cost, const std::string& of) {
    text_ +=
        fmt::format("  {:>9} {:>9} {:>9} moved  {}\n", signed_seconds(cost.seconds),
                    percent(cost.seconds, diff_.a.seconds), signed_bytes(cost.moved_bytes), of);
  }
  void refused(const std::string& why, const std::string& of) {
    text_ += fmt::format("  alone it does not run  {}\n      {}\n", of, harmless(why));
  }

  // Writes a group of differences that have the same decision of A and the same decision of B.
  void write(const std::vector<const MappingDifference*>& group) {
    const MappingDifference& first = *group.front();
    text_ += fmt::format("  {}\n", name_of(first.what));
    side("A", a_, first.a);
    side("B", b_, first.b);
    if (first.what == Aspect::kLimit) return write_limits(group);
    // The tasks and regions for which the difference changes nothing or little, and those whose
    // effects are folded.
    std::string without, little, folded;
    const auto list = [](std::string& names, const std::string& name) {
      names += (names.empty() ? "" : "; ") + name;
    };
    for (const MappingDifference* each : group) {
      if (folds_) {
        list(folded, where(*each));
      } else if (each->cost && each->cost->seconds == 0 && each->cost->moved_bytes == 0) {
        list(without, where(*each));
      } else if (each->cost && changes_little(*each->cost)) {
        list(little, where(*each));
      } else if (each->cost) {
        changes(*each->cost, where(*each));
      } else if (each->alone.empty()) {
        text_ += fmt::format("  {}\n", where(*each));
      } else {
        refused(each->alone, where(*each));
      }
    }
    if (!folded.empty()) text_ += fmt::format("  {}\n", folded);
    if (!little.empty()) text_ += fmt::format("  changes little: {}\n", little);
    if (!without.empty()) text_ += fmt::format("  changes nothing: {}\n", without);
  }

  // Writes the tasks that have one instance limit in mapping A and another one in mapping B. The
  // limits of all tasks are measured by one run together, and only one difference stores the cost
  // of that run. The cost is written if this difference is in the group.
  void write_limits(const std::vector<const MappingDifference*>& group) {
    const std::string together = "the limits of all tasks together";
    std::string tasks;
    bool measured = false;
    for (const MappingDifference* each : group) {
      tasks += (tasks.empty() ? "" : ", ") + harmless(each->task);
      if (each->cost) changes(*each->cost, together);
      if (!each->alone.empty()) refused(each->alone, together);
      measured = measured || each->cost || !each->alone.empty();
    }
    text_ += fmt::format("  limited: {}{}\n", tasks,
                         measured ? "" : "; the cost is only known for " + together);
  }

  // Returns the place of a difference: the task, its region, and how many of its points move.
  static std::string where(const MappingDifference& each) {
    std::string words = harmless(each.task) + (each.selected.empty() ? "" : ", " + each.selected);
    if (is_of_requirement(each.what)) {
      words += fmt::format(" {}", each.position);
      if (!each.names.empty()) words += " " + harmless(each.names.front());
    }
    if (each.points > 0) {
      words += fmt::format(", {} of {}", each.moved_points, count_with_noun(each.points, "point"));
    }
    return words;
  }

  // Writes the decision of one mapping and the statement that made it.
  void side(std::string_view name, const Program& program, const SideDecision& side) {
    const std::string by = "by " + decider(program, side.by);
    text_ += fmt::format("    {}  {}\n       {}\n", name, harmless(side.decision),
                         color_ ? fmt::format("\x1b[2m{}\x1b[0m", by) : by);
  }

  const MappingDiff& diff_;
  const Program& a_;
  const Program& b_;
  bool color_;
  // About the statement that is written: true if it has several parts, and true if the effects of
  // its parts are folded.
  bool has_several_ = false, folds_ = false;
  std::string text_;
};

// Returns the outcome of one mapping's own run as JSON.
OrderedJson json_of(const RunResult& result, const Diagnostics& diags) {
  OrderedJson json = {{"status", result.ok() ? "ok" : "error"}};
  if (result.ok()) {
    json["seconds"] = result.seconds;
    json["throughput"] = result.throughput;
    json["unit"] = result.unit;
    json["moved_bytes"] = result.moved_bytes;
  }
  json["diagnostics"] = json_of(diags);
  return json;
}

OrderedJson json_of(const Program& program, const SideDecision& side) {
  return {{"decision", side.decision}, {"by", json_of(program, side.by)}};
}

// Adds the cost of a difference, or the reason why it has none.
void add_cost(OrderedJson& json, const std::optional<MappingDifference::Cost>& cost,
              const std::string& alone) {
  if (cost) {
    json["seconds"] = cost->seconds;
    json["moved_bytes"] = cost->moved_bytes;
  }
  if (!alone.empty()) json["alone"] = alone;
}

}  // namespace

std::string_view name_of(MappingDifference::Aspect what) {
  constexpr std::string_view kNames[] = {"kind",       "placement", "memory",      "layout",
                                         "collection", "limit",     "replication", "stealing"};
  return kNames[static_cast<std::size_t>(what)];
}

std::string subject_of(const MappingDifference& difference) {
  std::string task = fmt::format("task `{}`", harmless(difference.task));
  if (!difference.selected.empty()) task += ", " + difference.selected;
  if (!is_of_requirement(difference.what)) return task;
  const std::string name =
      difference.names.empty() ? "" : fmt::format(" ({})", harmless(difference.names.front()));
  return fmt::format("region argument {}{} of {}", difference.position, name, task);
}

std::string draw(const MappingDiff& diff, const Program& a, const Program& b, bool color) {
  return Writer(diff, a, b, color).write();
}

// Writes the differences in one list and the statements in another, which refers to the differences
// by position.
std::string to_json(const MappingDiff& diff, const Program& a, const Program& b,
                    const Diagnostics& diags_a, const Diagnostics& diags_b) {
  OrderedJson json = {{"a", json_of(diff.a, diags_a)}, {"b", json_of(diff.b, diags_b)}};
  json["differences"] = OrderedJson::array();
  for (const MappingDifference& each : diff.differences) {
    OrderedJson one = {{"what", name_of(each.what)}, {"task", each.task}};
    if (!each.selected.empty()) one["selected"] = each.selected;
    if (is_of_requirement(each.what)) {
      one["position"] = each.position;
      one["region"] = each.names;
    }
    one["a"] = json_of(a, each.a);
    one["b"] = json_of(b, each.b);
    if (each.points > 0) {
      one["points"] = each.points;
      one["moved_points"] = each.moved_points;
    }
    add_cost(one, each.cost, each.alone);
    json["differences"].push_back(std::move(one));
  }
  json["statements"] = OrderedJson::array();
  for (const StatementDifference& each : diff.statements) {
    OrderedJson one = {{"of", each.is_of_a ? "a" : "b"},
                       {"by", json_of(each.is_of_a ? a : b, each.by)},
                       {"differences", each.parts}};
    if (each.within) one["within"] = *each.within;
    if (parts_interact(diff, each)) one["parts_interact"] = true;
    add_cost(one, each.cost, each.alone);
    json["statements"].push_back(std::move(one));
  }
  return json_line(json);
}

}  // namespace groma
