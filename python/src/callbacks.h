// Python callables as the evaluator and the proposer of a search.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "groma/search.h"

namespace groma::python {

// Keeps the first exception that a callable of the user raised and that ends the search. Any thread
// may use it.
class RaisedException;

// How a callable measures texts.
struct PythonMeasure {
  nanobind::object evaluate;
  std::vector<std::string> inputs = {"the text"};
  std::string unit = "s";
  bool higher_is_better = false;
  // True if a text always has the same value, so that no text is measured twice.
  bool deterministic = false;
};

std::shared_ptr<RaisedException> make_raised_exception();
// Throws the exception, if there is one. The caller holds the GIL.
void rethrow(const RaisedException& raised);

// Makes an evaluator that calls `measure.evaluate(text)`, which returns a number, or one number for
// each input. groma.Refused and groma.Failed are results; any other exception ends the search.
std::unique_ptr<tuning::Evaluator> make_python_evaluator(PythonMeasure measure,
                                                         std::shared_ptr<RaisedException> raised);

// Makes a proposer that calls `propose(round)`. The callable returns a text, a list of texts, or
// None to end the search. An exception ends the search.
std::unique_ptr<tuning::Proposer> make_python_proposer(nanobind::object propose,
                                                       std::shared_ptr<RaisedException> raised);

// Adds the classes Round and Step to the module.
void bind_callbacks(nanobind::module_& module);

}  // namespace groma::python
