// fit(): finds the largest size of an application that fits into the memories of a machine under a
// mapping, by simulated runs at several sizes.
#include "groma/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/words.h"
#include "groma/spelling.h"

namespace groma {
namespace {

// Searches for the largest size of an application that fits into the machine's memories.
class Fitter {
 public:
  Fitter(const Application& app, std::vector<const AppParameter*> parameters,
         const RunWorkload& run, const std::function<bool()>& stop)
      : app_(app), parameters_(std::move(parameters)), run_(run), stop_(stop) {}

  // Returns the largest size that fits. The search begins at the default value. It doubles or
  // halves the size until one size fits and another does not, then bisects. Fails if the run at the
  // default size fails for a reason other than memory.
  Result<Fit> fit() {
    const AppParameter& first = *parameters_.front();
    const std::int64_t start = std::max<std::int64_t>(1, first.value);
    // The largest size that fits, and the smallest size that fails. 0: none was found yet.
    std::int64_t fits = 0, fails = 0;
    Outcome outcome = Outcome::kFits;
    // Runs the application at the size `next`. Returns false if the search was stopped.
    const auto attempted = [&](std::int64_t next) {
      outcome = attempt(next);
      if (outcome != Outcome::kStopped) (outcome == Outcome::kFits ? fits : fails) = next;
      return outcome != Outcome::kStopped;
    };
    if (!attempted(start)) return std::move(fit_);
    if (outcome == Outcome::kOther) {
      return Error{Error::Code::kMalformed, std::move(fit_.other_bound)};
    }
    const std::int64_t least = std::max<std::int64_t>(1, first.least);
    while (fails == 0 && fits < first.most) {
      if (!attempted(fits > first.most / 2 ? first.most : 2 * fits)) return std::move(fit_);
    }
    while (fits == 0 && fails > least) {
      if (!attempted(std::max(least, fails / 2))) return std::move(fit_);
    }
    while (fits != 0 && fails - fits > 1) {
      if (!attempted(fits + (fails - fits) / 2)) return std::move(fit_);
    }
    return std::move(fit_);
  }

 private:
  // The outcome of a run at one size. kOther: the run failed for a reason other than memory.
  enum class Outcome { kFits, kNoRoom, kOther, kStopped };

  // Returns the values of all parameters for the size at which the first parameter has the value
  // `of_first`. The other parameters change by the same factor as the first one, within their
  // bounds.
  std::vector<AppValue> values(std::int64_t of_first) const {
    const auto factor = static_cast<double>(of_first) /
                        static_cast<double>(std::max<std::int64_t>(1, parameters_.front()->value));
    std::vector<AppValue> values{{parameters_.front()->name, of_first}};
    for (std::size_t i = 1; i < parameters_.size(); ++i) {
      const AppParameter& each = *parameters_[i];
      const double grown = std::round(static_cast<double>(each.value) * factor);
      values.emplace_back(each.name, grown >= static_cast<double>(each.most)
                                         ? each.most
                                         : std::max(each.least, static_cast<std::int64_t>(grown)));
    }
    return values;
  }

  // Runs the application at one size, and keeps the result in fit_: in `fits`, in `beyond`, or as a
  // text in `other_bound`.
  Outcome attempt(std::int64_t of_first) {
    Fit::TriedSize tried{values(of_first), {}};
    const Result<Workload> workload = Workload::make(app_, tried.values, stop_);
    if (!workload && workload.error().code == Error::Code::kStopped) {
      fit_.stopped = true;
      return Outcome::kStopped;
    }
    if (!workload) return other(workload.error().message);
    tried.result = run_(*workload);
    if (tried.result.status == RunStatus::kStopped) {
      fit_.stopped = true;
      return Outcome::kStopped;
    }
    if (tried.result.ok()) {
      fit_.fits = std::move(tried);
      return Outcome::kFits;
    }
    const std::vector<Refusal>& refusals = tried.result.refusals;
    const bool memory = std::any_of(refusals.begin(), refusals.end(), [](const Refusal& refusal) {
      return refusal.diagnostic.id == DiagId::kOutOfMemory;
    });
    if (!memory) {
      return other(refusals.empty() ? tried.result.raw : refusals.front().diagnostic.message);
    }
    fit_.other_bound.clear();
    fit_.beyond = std::move(tried);
    return Outcome::kNoRoom;
  }

  // Notes that the run at this size fails for a reason other than memory, which `why` gives.
  Outcome other(std::string why) {
    fit_.beyond.reset();
    fit_.other_bound = std::move(why);
    return Outcome::kOther;
  }

  const Application& app_;
  std::vector<const AppParameter*> parameters_;
  const RunWorkload& run_;
  const std::function<bool()>& stop_;
  Fit fit_;
};

}  // namespace

// An application may list named sizes. Returns the names of the parameters whose values differ
// between the last two sizes, because these parameters make the application larger. Fails if the
// application lists fewer than two sizes or the last two do not differ.
Result<std::vector<std::string>> growing_parameters(const Application& app) {
  std::vector<std::string> names;
  if (app.sizes.size() >= 2) {
    const auto& larger = app.sizes.back().values;
    const auto& smaller = app.sizes[app.sizes.size() - 2].values;
    for (const auto& value : larger) {
      if (std::find(smaller.begin(), smaller.end(), value) == smaller.end()) {
        names.push_back(value.first);
      }
    }
  }
  if (names.empty()) {
    return Error{
        Error::Code::kUnknown,
        fmt::format("`{}` has no two sizes that show which parameters make it larger", app.name),
        "name the parameters"};
  }
  return names;
}

// Checks the names of the parameters, then searches. The first parameter is the one that is doubled
// and halved.
Result<Fit> fit(const Application& app, const std::vector<std::string>& parameters,
                const RunWorkload& run, const std::function<bool()>& stop) {
  std::vector<const AppParameter*> found;
  for (const std::string& name : parameters) {
    const auto known = std::find_if(app.parameters.begin(), app.parameters.end(),
                                    [&](const AppParameter& p) { return p.name == name; });
    if (known == app.parameters.end()) {
      std::vector<std::string_view> names;
      for (const AppParameter& each : app.parameters) names.push_back(each.name);
      const auto near = near_names(name, names);
      return Error{Error::Code::kUnknown, fmt::format("`{}` has no parameter `{}`", app.name, name),
                   near.empty() ? "" : fmt::format("did you mean {}?", join_names(near))};
    }
    if (std::find(found.begin(), found.end(), &*known) != found.end()) {
      return Error{Error::Code::kMalformed, fmt::format("`{}` stands there twice", name)};
    }
    found.push_back(&*known);
  }
  if (found.empty()) return Error{Error::Code::kUnknown, "no parameter to grow"};
  return Fitter(app, std::move(found), run, stop).fit();
}

namespace {

// Returns the parameters with their values: "n = 4096, steps = 10".
std::string words_of(const std::vector<AppValue>& values) {
  std::string words;
  for (const auto& [name, value] : values) {
    words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", harmless(name), value);
  }
  return words;
}

}  // namespace

// Returns the largest size that fits, and the reason why the next larger size that was tried does
// not fit. If the search was stopped, says so.
std::string draw(const Fit& fit, const Application& app) {
  std::string text;
  if (fit.fits) {
    const auto& [name, value] = fit.fits->values.front();
    const auto parameter =
        std::find_if(app.parameters.begin(), app.parameters.end(),
                     [&name = name](const AppParameter& each) { return each.name == name; });
    text = fmt::format("the largest that fits: {} ({:.3g} times {}), {} simulated\n",
                       words_of(fit.fits->values),
                       static_cast<double>(value) /
                           static_cast<double>(std::max<std::int64_t>(1, parameter->value)),
                       parameter->value, seconds_words(fit.fits->result.seconds));
  } else {
    text = "nothing fits\n";
  }
  if (fit.beyond) {
    const Diagnostic& why = fit.beyond->result.refusals.front().diagnostic;
    text += fmt::format("  {}: {}\n", words_of(fit.beyond->values), harmless(why.message));
    for (const DiagNote& note : why.notes) text += fmt::format("    {}\n", harmless(note.message));
  } else if (!fit.other_bound.empty()) {
    text += fmt::format("  larger is no matter of memory: {}\n", harmless(fit.other_bound));
  } else if (!fit.stopped) {
    text += "  the parameter's range ends there\n";
  }
  if (fit.stopped) text += "  it was ended there: it may be larger\n";
  return text;
}

}  // namespace groma
