// Describes the profile of a run for a prompt.
#include "model/profile_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/quantities.h"

namespace groma::tuning {
namespace {

// Limit on the entries of each list of the profile in a prompt.
constexpr std::size_t kMaxEntries = 8;
// Causes of run time with a smaller share of the time are not worth a place in a prompt.
constexpr double kSmallestShare = 0.01;
// The same for streams, of which a prompt has at most the largest kMaxStreams.
constexpr double kSmallestStream = 0.03;
constexpr std::size_t kMaxStreams = 4;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Describes a stream: "22 % update on GPU streams ghost from ZCMEM at 16 GB/s".
std::string describe_stream(const ProfileFacts::Stream& stream) {
  const bool is_named = !stream.names.empty() && !stream.names.front().empty();
  return fmt::format("{} {} on {} streams {} from {} at {:.3g} GB/s", percent(stream.share),
                     stream.task, stream.kind,
                     is_named ? stream.names.front() : fmt::format("region {}", stream.requirement),
                     stream.memory, stream.bytes_per_s * 1e-9);
}

// Returns the streams with the largest shares. Several requirements of a task for data of one name
// in one kind of memory become one stream.
std::vector<ProfileFacts::Stream> largest_streams(const ProfileFacts& facts) {
  std::vector<ProfileFacts::Stream> streams;
  for (const ProfileFacts::Stream& each : facts.streams) {
    const auto same = std::find_if(streams.begin(), streams.end(), [&](const auto& other) {
      return other.task == each.task && other.kind == each.kind && other.memory == each.memory &&
             !each.names.empty() && !other.names.empty() &&
             other.names.front() == each.names.front();
    });
    if (same == streams.end()) {
      streams.push_back(each);
    } else {
      same->share += each.share;
    }
  }
  std::erase_if(streams, [](const auto& stream) { return stream.share < kSmallestStream; });
  std::stable_sort(streams.begin(), streams.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  streams.resize(std::min(streams.size(), kMaxStreams));
  return streams;
}

}  // namespace

std::string describe_cause(const ProfileFacts::Cause& cause) {
  std::string words = fmt::format("{} {}", percent(cause.share), cause.doing);
  if (!cause.task.empty()) words += " " + cause.task;
  if (!cause.region.empty()) words += " of " + cause.region;
  if (!cause.from.empty()) words += fmt::format(" from {} to {}", cause.from, cause.to);
  if (cause.other_node) words += " between nodes";
  if (cause.bytes > 0) words += fmt::format(" ({})", format_bytes(cause.bytes));
  return words;
}

std::string profile_words(const ProfileFacts& facts) {
  std::string words =
      fmt::format("of the time tasks {}, copies {}, runtime {}", percent(facts.tasks),
                  percent(facts.copies), percent(facts.runtime));
  const auto first = [](const auto& all) { return std::min(all.size(), kMaxEntries); };
  for (std::size_t i = 0; i < first(facts.causes); ++i) {
    if (facts.causes[i].share >= kSmallestShare) words += "; " + describe_cause(facts.causes[i]);
  }
  for (const ProfileFacts::Stream& stream : largest_streams(facts)) {
    words += "; " + describe_stream(stream);
  }
  // The sums by task and by kind of processor are of the whole run. They would mislead about a
  // measured phase, because they include initialisation.
  if (facts.measured.empty()) {
    for (std::size_t i = 0; i < first(facts.by_task); ++i) {
      const ProfileFacts::Task& task = facts.by_task[i];
      if (task.share < kSmallestShare) continue;
      words += fmt::format("; {} on {} {} of task time", task.task, task.kind, percent(task.share));
    }
    for (const ProfileFacts::Kind& kind : facts.kinds) {
      words += fmt::format("; {} {} of {} used, busy {}", kind.kind, kind.used, kind.processors,
                           percent(kind.busy));
      if (kind.imbalance >= 1.1) {
        words += fmt::format(", the busiest {:.2g} times the mean", kind.imbalance);
      }
    }
  }
  for (const ProfileFacts::Memory& memory : facts.memories) {
    words += fmt::format("; {} {} full", memory.kind, percent(memory.full));
  }
  return words;
}

}  // namespace groma::tuning
