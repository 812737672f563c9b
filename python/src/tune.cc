// A search in a thread of its own. The thread puts each event into a queue, from which Python takes
// it, so that Python code runs between the events and Ctrl-C works.
#include "tune.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "callbacks.h"
#include "errors.h"
#include "groma/evaluators.h"
#include "groma/io.h"
#include "groma/mapping_problem.h"
#include "groma/proposers.h"
#include "groma/search_directory.h"
#include "groma/tune.h"
#include "inputs.h"

namespace groma::python {

namespace nb = nanobind;

namespace {

// Limit on the events that wait for Python. A search with a slow reader waits.
constexpr std::size_t kMaxWaitingEvents = 1024;

// What a search is made from: the arguments of groma.tune().
struct SearchInputs {
  tuning::SearchProblem problem;
  std::vector<Diagnostics> notes;
  // The evaluators of mappings; null for another text.
  std::unique_ptr<tuning::Evaluator> simulated, rehearsed;
  // The evaluator of the user, or one that runs a command; null: mappings are simulated.
  std::unique_ptr<tuning::Evaluator> own;
  std::unique_ptr<tuning::Proposer> proposer;
  std::optional<llm::ChatClient> model;
  tuning::TuneOptions options;

  tuning::Evaluator& evaluator() { return own != nullptr ? *own : *simulated; }
  // Returns the cheaper evaluator, as `groma tune` chooses it; may be null.
  tuning::Evaluator* estimator() {
    if (options.budget.estimates == 0) return nullptr;
    if (own != nullptr) return simulated.get();
    return proposer->name() == "guided" ? rehearsed.get() : nullptr;
  }
};

// A search and its thread. The functions are called with the GIL.
class PySearch {
 public:
  explicit PySearch(std::unique_ptr<SearchInputs> inputs, std::shared_ptr<RaisedException> raised)
      : inputs_(std::move(inputs)), raised_(std::move(raised)) {
    inputs_->options.on_event = [this](const tuning::TuneEvent& event) {
      add_event(tuning::to_json(event));
    };
    inputs_->options.stop = [this] { return stopped_.load(); };
    thread_ = std::thread([this] { search(); });
  }
  ~PySearch() { close(); }

  // Returns the JSON of the next event, or None if the search has ended. Raises the exception of a
  // callable, or KeyboardInterrupt after Ctrl-C; the search then ends.
  nb::object next() {
    for (;;) {
      std::optional<std::string> event;
      bool ended = false;
      {
        const nb::gil_scoped_release released;
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, std::chrono::milliseconds(50),
                          [this] { return !events_.empty() || ended_; });
        if (!events_.empty()) {
          event = std::move(events_.front());
          events_.pop_front();
          room_.notify_one();
        }
        ended = ended_ && !event;
      }
      if (event) return to_str(*event);
      if (PyErr_CheckSignals() != 0) {
        stopped_ = true;
        throw nb::python_error();
      }
      if (!ended) continue;
      rethrow(*raised_);
      if (error_) raise(*error_);
      return nb::none();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
  }

  // Stops the search and waits for the end of its thread, which may need the GIL.
  void close() {
    stop();
    const nb::gil_scoped_release released;
    if (thread_.joinable()) thread_.join();
  }

  // Returns the JSON and the text of the outcome. The search must have ended.
  nb::tuple outcome() {
    const std::lock_guard lock(mutex_);
    if (!outcome_) raise_bad_argument("the search has not ended", "read its events to the end");
    return nb::make_tuple(to_str(tuning::to_json(*outcome_)),
                          to_str(tuning::draw(*outcome_, inputs_->evaluator())));
  }

  nb::list notes() const {
    nb::list list;
    for (const Diagnostics& diags : inputs_->notes) list.extend(to_list(diags));
    return list;
  }

  std::string directory() const { return inputs_->options.directory; }

 private:
  // Runs in the thread of the search.
  void search() {
    auto outcome = tuning::tune(inputs_->problem, inputs_->evaluator(), *inputs_->proposer,
                                inputs_->model ? &*inputs_->model : nullptr, inputs_->estimator(),
                                inputs_->options);
    const std::lock_guard lock(mutex_);
    if (outcome) {
      outcome_ = std::move(outcome).value();
    } else {
      error_ = outcome.error();
    }
    ended_ = true;
    arrived_.notify_all();
  }

  void add_event(std::string event) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return events_.size() < kMaxWaitingEvents || stopped_; });
    if (events_.size() < kMaxWaitingEvents) events_.push_back(std::move(event));
    arrived_.notify_one();
  }

  std::unique_ptr<SearchInputs> inputs_;
  const std::shared_ptr<RaisedException> raised_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  // The events that Python has not taken, and the signals that one arrived or was taken.
  std::deque<std::string> events_;
  std::condition_variable arrived_, room_;
  bool ended_ = false;
  std::optional<tuning::TuneOutcome> outcome_;
  std::optional<Error> error_;
  std::thread thread_;
};

// The arguments of groma.tune() that are not objects of the library.
struct SearchArguments {
  nb::object get(const char* name) const { return values[name]; }
  std::string text(const char* name) const { return nb::cast<std::string>(values[name]); }
  double number(const char* name) const { return nb::cast<double>(values[name]); }
  std::int64_t count(const char* name) const { return nb::cast<std::int64_t>(values[name]); }
  bool flag(const char* name) const { return nb::cast<bool>(values[name]); }
  nb::dict values;
};

// Adds the machine, the applications and the evaluators of a search for mappings.
void add_applications(const SearchArguments& arguments, SearchInputs& inputs) {
  const nb::list apps = nb::cast<nb::list>(arguments.get("apps"));
  std::optional<Source> start;
  if (!arguments.get("start").is_none()) start = source_of(arguments.get("start"));
  tuning::MappingProblem made(start, {}, nb::len(apps) == 1);
  const auto machine = machine_of(arguments.get("machine"));
  inputs.options.marks.emplace_back("machine", machine_to_json(*machine));
  for (nb::handle each : apps) {
    const PyApplication app = application_of(each);
    inputs.options.marks.emplace_back(app.workload.name(), application_to_json(*app.app));
    if (const auto why = made.add(app.workload.name(), *machine, *app.app, app.workload)) {
      raise(*why);
    }
  }
  inputs.problem = std::move(made.problem);
  inputs.notes = std::move(made.notes);
  inputs.simulated =
      tuning::make_simulated_evaluator(inputs.problem.machine, inputs.problem.inputs);
  inputs.rehearsed =
      tuning::make_rehearsed_estimator(inputs.problem.machine, inputs.problem.inputs);
}

// Makes the client of the language model, if an endpoint is named.
std::optional<llm::ChatClient> make_model(const SearchArguments& arguments) {
  if (arguments.text("endpoint").empty() && arguments.text("replay").empty()) return std::nullopt;
  llm::ChatOptions options;
  options.endpoint = arguments.text("endpoint");
  options.model = arguments.text("model");
  options.replay = arguments.text("replay");
  options.api =
      arguments.text("api") == "anthropic" ? llm::ChatApi::kAnthropic : llm::ChatApi::kOpenAi;
  options.key = value_or_raise(llm::find_chat_key(""));
  options.max_tokens = arguments.count("tokens");
  return value_or_raise(llm::ChatClient::make(std::move(options)));
}

// Sets the options of the search, and prepares its directory.
void set_options(const SearchArguments& arguments, tuning::TuneOptions& options) {
  options.budget.evaluations = arguments.count("evaluations");
  options.budget.seconds = arguments.number("seconds");
  options.budget.tokens = arguments.count("tokens");
  options.seed = nb::cast<std::uint64_t>(arguments.get("seed"));
  options.threads = nb::cast<int>(arguments.get("threads"));
  options.least_gain = arguments.number("least_gain");
  const std::string feedback = arguments.text("feedback");
  const auto detail = guide_detail(feedback);
  if (!detail) raise_bad_argument("unknown feedback `" + feedback + "`");
  options.feedback = *detail;
  options.directory = arguments.text("directory");
  options.resume = arguments.flag("resume");
  options.fingerprint = "groma.tune of Python\n" + arguments.text("fingerprint");
  if (options.directory.empty()) return;
  if (auto error = tuning::not_a_directory(options.directory)) raise(*error);
  if (auto error = tuning::error_if_search_has_links(options.directory)) raise(*error);
  if (options.resume) return;
  if (auto error = tuning::error_if_search_replaces(options.directory)) raise(*error);
}

std::unique_ptr<PySearch> make_search(nb::dict values) {
  const SearchArguments arguments{std::move(values)};
  auto inputs = std::make_unique<SearchInputs>();
  const auto raised = make_raised_exception();
  const bool maps = nb::len(arguments.get("apps")) > 0;
  set_options(arguments, inputs->options);
  if (maps) {
    add_applications(arguments, *inputs);
  } else {
    const Source start = source_of(arguments.get("start"));
    inputs->problem.start = std::string(start.text());
    inputs->problem.about = arguments.text("about");
  }
  if (!arguments.get("evaluator").is_none()) {
    PythonMeasure measure;
    measure.evaluate = arguments.get("evaluator");
    measure.inputs = nb::cast<std::vector<std::string>>(arguments.get("inputs"));
    measure.unit = arguments.text("unit");
    measure.higher_is_better = arguments.flag("higher_is_better");
    measure.deterministic = arguments.flag("deterministic");
    inputs->own = make_python_evaluator(std::move(measure), raised);
    if (maps) {
      inputs->own =
          tuning::make_measured_mappings_evaluator(std::move(inputs->own), *inputs->simulated);
    }
  } else if (!maps) {
    raise_bad_argument("a search for a text that is not a mapping needs an evaluator");
  }
  const nb::object proposer = arguments.get("proposer");
  if (nb::isinstance<nb::str>(proposer)) {
    inputs->proposer = value_or_raise(tuning::make_proposer(nb::cast<std::string>(proposer),
                                                            inputs->problem, inputs->options.seed));
  } else {
    inputs->proposer = make_python_proposer(proposer, raised);
  }
  inputs->model = make_model(arguments);
  return std::make_unique<PySearch>(std::move(inputs), raised);
}

}  // namespace

void bind_tune(nb::module_& module) {
  bind_callbacks(module);
  nb::class_<PySearch>(module, "SearchThread", "A search in a thread of its own.")
      .def("next", &PySearch::next, nb::sig("def next(self) -> str | None"))
      .def("stop", &PySearch::stop)
      .def("close", &PySearch::close)
      .def("outcome", &PySearch::outcome, nb::sig("def outcome(self) -> tuple[str, str]"))
      .def_prop_ro("notes", &PySearch::notes, nb::sig("def notes(self) -> list[Diagnostic]"))
      .def_prop_ro("directory", &PySearch::directory);
  module.def("search", &make_search, nb::arg("arguments"),
             nb::sig("def search(arguments: dict[str, typing.Any]) -> SearchThread"));
  module.def("proposers", [] {
    nb::list list;
    for (const tuning::ProposerInfo& info : tuning::proposers()) {
      list.append(nb::make_tuple(to_str(info.name), to_str(info.what), info.asks_model));
    }
    return list;
  });
}

}  // namespace groma::python
