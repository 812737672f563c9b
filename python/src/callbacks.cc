// Calls the user's evaluator and proposer from the threads of a search.
#include "callbacks.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "errors.h"
#include "groma/evaluators.h"

namespace groma::python {

namespace nb = nanobind;
using tuning::Evaluation;

class RaisedException {
 public:
  ~RaisedException() {
    const nb::gil_scoped_acquire gil;
    exception_ = nullptr;
  }
  // Keeps the exception that is being handled, unless there is one already.
  void keep_current() {
    const std::lock_guard lock(mutex_);
    if (exception_ == nullptr) exception_ = std::current_exception();
  }
  bool is_set() const {
    const std::lock_guard lock(mutex_);
    return exception_ != nullptr;
  }
  std::exception_ptr exception() const {
    const std::lock_guard lock(mutex_);
    return exception_;
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr exception_;
};

std::shared_ptr<RaisedException> make_raised_exception() {
  return std::make_shared<RaisedException>();
}

void rethrow(const RaisedException& raised) {
  if (const auto exception = raised.exception()) std::rethrow_exception(exception);
}

namespace {

// An object of Python that any thread may release.
class SharedObject {
 public:
  explicit SharedObject(nb::object object) : object_(std::move(object)) {}
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject() {
    const nb::gil_scoped_acquire gil;
    object_.reset();
  }
  const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

// Returns what happened to a text that has no value.
Evaluation without_value(Evaluation::Status status, std::string why) {
  Evaluation evaluation;
  evaluation.status = status;
  evaluation.feedback.status = GuideFeedback::Status::kError;
  evaluation.feedback.known = true;
  evaluation.feedback.execution = std::move(why);
  return evaluation;
}

// Returns the text of an exception. Characters that UTF-8 cannot hold become question marks; an
// exception whose text cannot be made has none.
std::string message_of(const nb::python_error& error) {
  try {
    const nb::object bytes = nb::str(error.value()).attr("encode")("utf-8", "replace");
    const auto text = nb::cast<nb::bytes>(bytes);
    return {text.c_str(), text.size()};
  } catch (const std::exception&) {
    return "";
  }
}

bool is_instance_of(const nb::python_error& error, const char* name) {
  return error.matches(nb::module_::import_("groma._errors").attr(name));
}

class PythonEvaluator final : public tuning::Evaluator {
 public:
  PythonEvaluator(PythonMeasure measure, std::shared_ptr<RaisedException> raised)
      : evaluate_(std::move(measure.evaluate)),
        inputs_(std::move(measure.inputs)),
        unit_(std::move(measure.unit)),
        higher_is_better_(measure.higher_is_better),
        deterministic_(measure.deterministic),
        raised_(std::move(raised)) {}

  std::vector<std::string> inputs() const override { return inputs_; }
  std::string unit() const override { return unit_; }
  bool higher_is_better() const override { return higher_is_better_; }
  bool simulated() const override { return deterministic_; }
  std::optional<Error> error() const override {
    if (!raised_->is_set()) return std::nullopt;
    return Error{Error::Code::kStopped, "the evaluator raised an exception"};
  }

  Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    const nb::gil_scoped_acquire gil;
    try {
      return evaluation_of(evaluate_.get()(to_str(request.text)));
    } catch (nb::python_error& error) {
      if (is_instance_of(error, "Refused")) {
        return without_value(Evaluation::Status::kRefused, message_of(error));
      }
      if (is_instance_of(error, "Failed")) {
        return without_value(Evaluation::Status::kFailed, message_of(error));
      }
      raised_->keep_current();
    } catch (const std::exception&) {
      raised_->keep_current();
    }
    return without_value(Evaluation::Status::kFailed, "the evaluator raised an exception");
  }

 private:
  // Converts the result of the callable. Throws groma.GromaError if it is not a value for each
  // input.
  Evaluation evaluation_of(const nb::object& result) const {
    Evaluation evaluation;
    evaluation.status = Evaluation::Status::kOk;
    const bool is_number = PyNumber_Check(result.ptr()) != 0 && !nb::hasattr(result, "__len__");
    if (is_number) {
      evaluation.values.push_back(nb::cast<double>(nb::float_(result)));
    } else if (!nb::isinstance<nb::str>(result) && nb::hasattr(result, "__iter__")) {
      for (nb::handle each : result)
        evaluation.values.push_back(nb::cast<double>(nb::float_(each)));
    }
    if (evaluation.values.size() != inputs_.size()) {
      raise_bad_argument("the evaluator returned " + nb::cast<std::string>(nb::repr(result)) +
                             ", not a number for each of " + std::to_string(inputs_.size()) +
                             " inputs",
                         "return a number above 0, or raise groma.Refused or groma.Failed");
    }
    for (const double value : evaluation.values) {
      if (std::isfinite(value) && value > 0) continue;
      raise_bad_argument("the evaluator returned " + std::to_string(value) +
                             ", which is not a finite number above 0",
                         "raise groma.Failed(\"why\") for a text that has no value");
    }
    const double mean = tuning::geometric_mean(evaluation.values);
    evaluation.score = higher_is_better_ ? 1 / mean : mean;
    evaluation.feedback.status = GuideFeedback::Status::kOk;
    return evaluation;
  }

  const SharedObject evaluate_;
  const std::vector<std::string> inputs_;
  const std::string unit_;
  const bool higher_is_better_;
  const bool deterministic_;
  const std::shared_ptr<RaisedException> raised_;
};

// A step of the search, as a proposer sees it.
struct PyStep {
  tuning::Step step;
};

// The round of a search, which is valid during the call of the proposer.
struct PyRound {
  tuning::SearchRound* round = nullptr;

  tuning::SearchRound& get() const {
    if (round == nullptr) raise_bad_argument("the round is over", "use it in the proposer only");
    return *round;
  }
};

nb::list list_of(const std::vector<tuning::Step>& steps) {
  nb::list list;
  for (const tuning::Step& step : steps) list.append(nb::cast(PyStep{step}));
  return list;
}

class PythonProposer final : public tuning::Proposer {
 public:
  PythonProposer(nb::object propose, std::shared_ptr<RaisedException> raised)
      : propose_(std::move(propose)), raised_(std::move(raised)) {}

  std::string_view name() const override { return "python"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }

  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    const nb::gil_scoped_acquire gil;
    const nb::object given = nb::cast(PyRound{&round});
    std::vector<tuning::Proposal> proposals;
    try {
      proposals = proposals_of(propose_.get()(given), round.max_proposals());
    } catch (const std::exception&) {
      raised_->keep_current();
      proposals.clear();
    }
    nb::cast<PyRound&>(given).round = nullptr;
    return proposals;
  }

 private:
  static tuning::Proposal proposal_of(nb::handle given) {
    tuning::Proposal proposal;
    if (nb::isinstance<nb::tuple>(given) && nb::len(given) == 2) {
      proposal.text = nb::cast<std::string>(given[0]);
      proposal.why = nb::cast<std::string>(given[1]);
      return proposal;
    }
    if (!nb::isinstance<nb::str>(given)) {
      raise_bad_argument(
          "the proposer returned " + nb::cast<std::string>(nb::repr(given)),
          "return a text, a pair of a text and the reason, a list of these, or None");
    }
    proposal.text = nb::cast<std::string>(given);
    return proposal;
  }

  static std::vector<tuning::Proposal> proposals_of(const nb::object& given, std::size_t most) {
    std::vector<tuning::Proposal> proposals;
    if (given.is_none()) return proposals;
    if (nb::isinstance<nb::str>(given) || nb::isinstance<nb::tuple>(given)) {
      proposals.push_back(proposal_of(given));
      return proposals;
    }
    if (!nb::hasattr(given, "__iter__")) proposal_of(given);  // raises
    for (nb::handle each : given) {
      if (proposals.size() == most) break;
      proposals.push_back(proposal_of(each));
    }
    return proposals;
  }

  const SharedObject propose_;
  const std::shared_ptr<RaisedException> raised_;
};

nb::object step_or_none(const tuning::Step* step) {
  return step == nullptr ? nb::none() : nb::cast(PyStep{*step});
}

nb::list strings(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(to_str(text));
  return list;
}

}  // namespace

std::unique_ptr<tuning::Evaluator> make_python_evaluator(PythonMeasure measure,
                                                         std::shared_ptr<RaisedException> raised) {
  return std::make_unique<PythonEvaluator>(std::move(measure), std::move(raised));
}

std::unique_ptr<tuning::Proposer> make_python_proposer(nb::object propose,
                                                       std::shared_ptr<RaisedException> raised) {
  return std::make_unique<PythonProposer>(std::move(propose), std::move(raised));
}

void bind_callbacks(nb::module_& module) {
  nb::class_<PyStep>(module, "Step", "A text that a search has tried.")
      .def_prop_ro("number", [](const PyStep& x) { return x.step.number; })
      .def_prop_ro("text", [](const PyStep& x) { return to_str(x.step.proposal.text); })
      .def_prop_ro("why", [](const PyStep& x) { return to_str(x.step.proposal.why); })
      .def_prop_ro("ok", [](const PyStep& x) { return x.step.evaluation.ok(); })
      .def_prop_ro("values", [](const PyStep& x) { return x.step.evaluation.values; })
      .def_prop_ro(
          "score", [](const PyStep& x) { return x.step.evaluation.score; },
          "Smaller is better. Infinite for a text that has no value.")
      .def_prop_ro("execution",
                   [](const PyStep& x) { return to_str(x.step.evaluation.feedback.execution); })
      .def_prop_ro("explain",
                   [](const PyStep& x) { return strings(x.step.evaluation.feedback.explain); })
      .def_prop_ro("suggest",
                   [](const PyStep& x) { return strings(x.step.evaluation.feedback.suggest); });
  nb::class_<PyRound>(module, "Round", "What a proposer knows when it makes proposals.")
      .def_prop_ro(
          "start", [](const PyRound& x) { return to_str(x.get().problem().start); },
          "The text with which the search began.")
      .def_prop_ro(
          "best", [](const PyRound& x) { return step_or_none(x.get().history().best()); },
          nb::sig("def best(self) -> Step | None"))
      .def_prop_ro(
          "last", [](const PyRound& x) { return step_or_none(x.get().history().last()); },
          nb::sig("def last(self) -> Step | None"))
      .def_prop_ro(
          "best_first", [](const PyRound& x) { return list_of(x.get().history().best_first()); },
          nb::sig("def best_first(self) -> list[Step]"))
      .def_prop_ro(
          "recent", [](const PyRound& x) { return list_of(x.get().history().recent()); },
          nb::sig("def recent(self) -> list[Step]"))
      .def_prop_ro(
          "failures", [](const PyRound& x) { return list_of(x.get().history().failures()); },
          nb::sig("def failures(self) -> list[Step]"))
      .def_prop_ro("max_proposals", [](const PyRound& x) { return x.get().max_proposals(); });
}

}  // namespace groma::python
