// A Python module with the C++ calls beside which benchmarks/python_calls.py times those of the
// module groma: the same library, in the same process.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/geometry.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/source.h"
#include "groma/workload.h"

namespace {

namespace nb = nanobind;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A mapping with its machine and application, so that a timed call includes nothing else.
class Calls {
 public:
  Calls(std::string text, const std::string& machine, const std::string& app)
      : source_("<text>", std::move(text)),
        machine_(groma::load_machine(machine).value()),
        workload_(groma::Workload::make(groma::load_application(app).value()).value()) {
    groma::Diagnostics diags(source_);
    bound_ = groma::bind(groma::compile(source_, diags), machine_, diags);
    if (!bound_) throw std::runtime_error(groma::render(diags));
  }

  // Returns the seconds of one check: of the text on the machine, and with the application.
  double check(bool with_app) const {
    const auto begin = Clock::now();
    groma::Diagnostics diags(source_);
    groma::check(source_, &machine_, with_app ? &workload_ : nullptr, diags);
    const double seconds = seconds_since(begin);
    if (diags.has_errors()) throw std::runtime_error(groma::render(diags));
    return seconds;
  }

  // Returns the seconds of one placement, and the sum of its numbers. With `from_text`, the text is
  // compiled and bound in that time, too.
  std::pair<double, std::int64_t> place(const std::string& task,
                                        const std::vector<std::int64_t>& extents,
                                        bool from_text) const {
    const auto begin = Clock::now();
    groma::PlaceQuery query;
    query.task = task;
    query.domain = groma::LaunchDomain(groma::Rect::make(groma::Point(extents)).value());
    groma::Diagnostics diags(source_);
    const auto made =
        from_text ? groma::bind(groma::compile(source_, diags), machine_, diags) : bound_;
    const auto placement = groma::place_numbers(*made, query, diags);
    const double seconds = seconds_since(begin);
    if (!placement) throw std::runtime_error(groma::render(diags));
    std::int64_t sum = 0;
    for (const std::int32_t number : placement->points) sum += number;
    return {seconds, sum};
  }

 private:
  groma::Source source_;
  groma::Machine machine_;
  groma::Workload workload_;
  std::optional<groma::BoundProgram> bound_;
};

}  // namespace

NB_MODULE(groma_cpp_calls, module) {
  nb::class_<Calls>(module, "Calls")
      .def(nb::init<std::string, const std::string&, const std::string&>())
      .def("check", &Calls::check)
      .def("place", [](const Calls& calls, const std::string& task,
                       const std::vector<std::int64_t>& extents, bool from_text) {
        const auto [seconds, sum] = calls.place(task, extents, from_text);
        return nb::make_tuple(seconds, sum);
      });
}
