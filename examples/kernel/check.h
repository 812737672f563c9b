// What the driver programs of the examples share, and what a driver program of your own may copy:
// this header needs nothing but the standard library of C++17.
//
//   options     parse_options() reads --check, --time, --json and the like
//   data        random_values() makes inputs; encode() and decode() know half, bfloat16 and fp8
//   comparison  compare() finds the first wrong element; Guarded puts elements that must not change
//               before and after an array; find_wrong_row() checks a large matrix product
//   timing      time_runs() warms up, repeats, and takes the median
//   output      Report prints words, or JSON
//
// A driver program ends with one of these exit codes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace kernel_check {

enum ExitCode {
  kRight = 0,
  // The kernel is wrong: a result, its compilation, or its launch.
  kWrong = 1,
  kUsage = 2,
  // The device is missing, was lost, or has no memory for the data. This says nothing about the
  // kernel.
  kNoDevice = 3,
};

// ---- Options

struct Options {
  bool check = false, time = false, json = false, library = false;
  // The file with the kernel. Only the driver programs that read it at run time use it.
  std::string kernel;
  // The number of the device, or -1 to let the program choose.
  int device = -1;
  // The time in seconds for which each shape is timed.
  double seconds = 0.2;
  // All other words, such as the shapes.
  std::vector<std::string> words;
  // What is wrong with the arguments, or empty.
  std::string error;
};

// Reads the arguments of a program. The words `check`, `time` and `library` may stand without their
// dashes. Without `check`, `time` and `library`, the program checks and times the kernel.
inline Options parse_options(int argc, char** argv) {
  Options options;
  const auto value_of = [&](int& i) -> std::string {
    if (i + 1 < argc) return argv[++i];
    options.error = std::string(argv[i]) + " needs a value";
    return "";
  };
  const auto number_of = [&](int& i, double least, double most) {
    const std::string name = argv[i], text = value_of(i);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == 0 && value >= least && value <= most) return value;
    if (options.error.empty()) options.error = name + " does not take '" + text + "'";
    return least;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--check" || word == "check") {
      options.check = true;
    } else if (word == "--time" || word == "time") {
      options.time = true;
    } else if (word == "--library" || word == "library") {
      options.library = true;
    } else if (word == "--json") {
      options.json = true;
    } else if (word == "--kernel") {
      options.kernel = value_of(i);
    } else if (word == "--device") {
      options.device = static_cast<int>(number_of(i, 0, 1000));
    } else if (word == "--seconds") {
      options.seconds = number_of(i, 0.001, 1000);
    } else if (word.rfind("-", 0) == 0) {
      options.error = "there is no option " + word;
    } else {
      options.words.push_back(word);
    }
  }
  if (!options.check && !options.time && !options.library) options.check = options.time = true;
  return options;
}

// Reads a shape such as `512x384x1024`: `count` extents from 1 to `most`. Returns an empty list if
// the word is not such a shape.
inline std::vector<std::size_t> parse_shape(const std::string& word, std::size_t count,
                                            std::size_t most) {
  std::vector<std::size_t> extents;
  const char* at = word.c_str();
  while (extents.size() < count) {
    if (*at < '0' || *at > '9') return {};
    char* end = nullptr;
    const unsigned long long extent = std::strtoull(at, &end, 10);
    if (extent < 1 || extent > most) return {};
    extents.push_back(static_cast<std::size_t>(extent));
    const char expected = extents.size() == count ? '\0' : 'x';
    if (*end != expected) return {};
    at = end + 1;
  }
  return extents;
}

// Returns the extents as one word: `512x384x1024`.
inline std::string shape_name(const std::vector<std::size_t>& extents) {
  std::string name;
  for (const std::size_t extent : extents) {
    name += (name.empty() ? "" : "x") + std::to_string(extent);
  }
  return name;
}

// ---- Numbers

enum class Type { kDouble, kFloat, kHalf, kBfloat16, kFp8E4m3, kFp8E5m2 };

// The bits of a small floating-point type: a sign, then the exponent, then the mantissa.
struct TypeBits {
  int exponent, mantissa;
  // False if the largest exponent has ordinary numbers, too, as in fp8 E4M3.
  bool has_infinity;
};
inline TypeBits bits_of(Type type) {
  switch (type) {
    case Type::kDouble:
      return {11, 52, true};
    case Type::kFloat:
      return {8, 23, true};
    case Type::kHalf:
      return {5, 10, true};
    case Type::kBfloat16:
      return {8, 7, true};
    case Type::kFp8E4m3:
      return {4, 3, false};
    case Type::kFp8E5m2:
      return {5, 2, true};
  }
  return {11, 52, true};
}

// Returns the distance between 1 and the next larger number of the type.
inline double epsilon_of(Type type) { return std::ldexp(1.0, -bits_of(type).mantissa); }

// Returns the number with these bits. The type has at most 16 bits.
inline double decode(std::uint32_t bits, Type type) {
  const TypeBits layout = bits_of(type);
  const std::uint32_t most = (1U << layout.exponent) - 1, fractions = 1U << layout.mantissa;
  const std::uint32_t mantissa = bits & (fractions - 1), exponent = bits >> layout.mantissa & most;
  const double sign = (bits >> (layout.mantissa + layout.exponent) & 1U) != 0 ? -1 : 1;
  const int bias = static_cast<int>(most >> 1);
  if (exponent == most && (layout.has_infinity || mantissa == fractions - 1)) {
    return layout.has_infinity && mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                                                : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - layout.mantissa);
  return sign *
         std::ldexp(fractions + mantissa, static_cast<int>(exponent) - bias - layout.mantissa);
}

// Returns the bits of the nearest number of the type, ties to the even one. A value that is too
// large gives infinity, or NaN if the type has no infinity. The type has at most 16 bits.
inline std::uint32_t encode(double value, Type type) {
  const TypeBits layout = bits_of(type);
  const std::uint32_t most = (1U << layout.exponent) - 1, fractions = 1U << layout.mantissa;
  const std::uint32_t sign = std::signbit(value) ? 1U << (layout.mantissa + layout.exponent) : 0;
  const int bias = static_cast<int>(most >> 1);
  const std::uint32_t nan = sign | most << layout.mantissa | (fractions - 1);
  const std::uint32_t too_large = layout.has_infinity ? sign | most << layout.mantissa : nan;
  if (std::isnan(value)) return nan;
  if (std::isinf(value)) return too_large;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = fraction * 2^exponent, with the fraction in [0.5, 1)
  exponent = std::max(exponent - 1, 1 - bias);
  // The mantissa is a whole number in units of its last place. Rounding it up may carry into the
  // exponent, which the addition below does by itself.
  const double units = std::nearbyint(std::ldexp(std::abs(value), layout.mantissa - exponent));
  const bool is_subnormal = units < fractions;
  const std::uint64_t sum =
      (is_subnormal ? 0 : static_cast<std::uint64_t>(exponent + bias - 1) << layout.mantissa) +
      static_cast<std::uint64_t>(units);
  const std::uint32_t limit = layout.has_infinity ? most << layout.mantissa : nan & ~sign;
  return sum >= limit ? too_large : sign | static_cast<std::uint32_t>(sum);
}

// Returns the value of the type that is nearest to a value. Float and double are not changed more
// than by the type itself.
inline double rounded(double value, Type type) {
  if (type == Type::kDouble) return value;
  if (type == Type::kFloat) return static_cast<double>(static_cast<float>(value));
  return decode(encode(value, type), type);
}

// Returns values in [-1, 1) that the type holds exactly, the same in every run.
template <class T = double>
std::vector<T> random_values(std::size_t count, unsigned seed, Type type = Type::kDouble) {
  std::vector<T> values(count);
  for (T& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<T>(rounded(static_cast<double>(seed >> 8) / (1U << 23) - 1, type));
  }
  return values;
}

// ---- Comparison

// How far a value may lie from what is expected: absolute + relative * |expected|.
struct Tolerance {
  double absolute = 0, relative = 0;
  double at(double expected) const { return absolute + relative * std::abs(expected); }
};

// Returns the tolerance for a sum of `length` products of values below 1, added in any order in the
// type `sum` and then stored in the type `stored`.
inline Tolerance tolerance_of_sum(std::size_t length, Type sum, Type stored) {
  return {4 * static_cast<double>(length + 1) * epsilon_of(sum),
          stored == sum ? 0 : epsilon_of(stored)};
}

// NaN is near no number, not even to NaN: each comparison with NaN is false.
inline bool is_near(double value, double expected, Tolerance tolerance) {
  return std::abs(value - expected) <= tolerance.at(expected);
}

// Returns a number as text, exact for a float.
inline std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Compares an array with what is expected. `value(i)` and `expected(i)` give the elements in
// row-major order. Returns an empty text, or the first wrong element:
// `c[3][17] is 1.25, expected 1.5`.
template <class Value, class Expected>
std::string compare(const std::string& name, const std::vector<std::size_t>& extents, Value value,
                    Expected expected, Tolerance tolerance) {
  std::size_t count = 1;
  for (const std::size_t extent : extents) count *= extent;
  for (std::size_t i = 0; i < count; ++i) {
    const double is = static_cast<double>(value(i)), should_be = static_cast<double>(expected(i));
    if (is_near(is, should_be, tolerance)) continue;
    std::string index;
    std::size_t rest = i;
    for (std::size_t e = extents.size(); e-- > 0; rest /= extents[e]) {
      index = "[" + std::to_string(rest % extents[e]) + "]" + index;
    }
    // Values that look alike get all digits.
    std::string is_text = number_text(is), should_be_text = number_text(should_be);
    if (is_text == should_be_text) {
      char text[2][40];
      std::snprintf(text[0], sizeof text[0], "%.17g", is);
      std::snprintf(text[1], sizeof text[1], "%.17g", should_be);
      is_text = text[0], should_be_text = text[1];
    }
    return name + index + " is " + is_text + ", expected " + should_be_text;
  }
  return "";
}

// An array with guard elements before and after it. A kernel that writes there is wrong. The array
// begins as `fill`, for which NaN is good: an element that was not written is then found.
template <class T>
struct Guarded {
  // The number of guard elements on each side. On a device, the array begins at a multiple of 1
  // KiB.
  static constexpr std::size_t kGuard = 4096;
  std::vector<T> all;
  T untouched;

  Guarded(std::size_t size, T fill, T guard) : all(kGuard, guard), untouched(guard) {
    all.insert(all.end(), size, fill);
    all.insert(all.end(), kGuard, guard);
  }
  std::size_t size() const { return all.size() - 2 * kGuard; }
  T* begin() { return all.data() + kGuard; }
  T* end() { return begin() + size(); }
  T operator[](std::size_t i) const { return all[kGuard + i]; }

  // Returns an empty text, or what is wrong: `c[-3] was written, which lies before the array`.
  std::string error(const std::string& name) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((i >= kGuard && i < kGuard + size()) || all[i] == untouched) continue;
      const std::string at =
          i < kGuard ? "-" + std::to_string(kGuard - i) : std::to_string(i - kGuard);
      return name + "[" + at + "] was written, which lies " +
             (i < kGuard ? "before" : "behind the end of") + " the array";
    }
    return "";
  }
};

// Checks the product C = A * B of matrices with `rows` x `depth` and `depth` x `columns` elements,
// as Freivalds does: C x must equal A (B x) for a random vector x. The functions give the elements
// by row and column. Returns an empty text, or the first row that is wrong. An error that is as
// small as rounding in a whole row is not found.
template <class A, class B, class C>
std::string find_wrong_row(std::size_t rows, std::size_t columns, std::size_t depth, A a, B b, C c,
                           Tolerance tolerance) {
  const std::vector<double> x = random_values(columns, 5);
  std::vector<double> product(depth);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = 0; j < columns; ++j) product[k] += static_cast<double>(b(k, j)) * x[j];
  }
  for (std::size_t i = 0; i < rows; ++i) {
    double is = 0, should_be = 0, allowed = 0;
    for (std::size_t k = 0; k < depth; ++k) should_be += static_cast<double>(a(i, k)) * product[k];
    for (std::size_t j = 0; j < columns; ++j) {
      const double element = static_cast<double>(c(i, j));
      is += element * x[j];
      allowed += tolerance.at(element);
    }
    if (!(std::abs(is - should_be) <= allowed)) {
      return "row " + std::to_string(i) + " of the timed product is wrong";
    }
  }
  return "";
}

// ---- Timing

// Returns the current time of a clock, in seconds.
inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Timing {
  // The median of the runs.
  double seconds = 0;
  // The distance between the quartiles of the runs, as a fraction of the median.
  double spread = 0;
};

// Runs `run` until `seconds` are over, and at least three times. Two runs before that, which do not
// count, warm up. `prepare` runs before each run and is not timed.
template <class Prepare, class Run>
Timing time_runs(double seconds, Prepare prepare, Run run) {
  std::vector<double> times;
  const auto timed = [&] {
    prepare();
    const double before = now();
    run();
    return now() - before;
  };
  for (int i = 0; i < 2; ++i) timed();
  for (const double begin = now(); now() - begin < seconds || times.size() < 3;) {
    times.push_back(timed());
  }
  std::sort(times.begin(), times.end());
  const auto quantile = [&](std::size_t quarters) {
    return times[(times.size() - 1) * quarters / 4];
  };
  Timing timing;
  timing.seconds = quantile(2);
  timing.spread = timing.seconds > 0 ? (quantile(3) - quantile(1)) / timing.seconds : 0;
  return timing;
}

// ---- Output

// The results of a program, as words or as JSON:
//
//   {"check": "right", "shapes": [{"name": "512x384x1024", "seconds": 0.004, "gflops": 100,
//    "spread": 0.02}], "gflops": 100, "spread": 0.02}
//
// `check` is "right", "wrong" or "not run". `gflops` is the geometric mean over the shapes, and
// `spread` is the largest of their spreads. Both are missing if nothing was timed. After an error
// there is a member `error` with its words.
//
// The kernel cannot print results: from the first line of main() on, everything else that is
// printed to the standard output goes to the standard error.
class Report {
 public:
  explicit Report(bool json) : json_(json) {
    std::fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    out_ = kept < 0 ? nullptr : fdopen(kept, "w");
    if (out_ == nullptr) std::_Exit(kUsage);
    fcntl(kept, F_SETFD, FD_CLOEXEC);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // Prints a line for people. With JSON it goes to the standard error.
  void note(const std::string& line) { std::fprintf(json_ ? stderr : out_, "%s\n", line.c_str()); }

  // Notes that the kernel gives right results.
  void set_right() { check_ = "right"; }

  // Notes an error, and returns its exit code.
  int fail(ExitCode code, const std::string& text) { return note_error(code, text, "error: "); }

  // Notes that the kernel does not compile. The lines of the compiler are printed as they are.
  int fail_compilation(const std::string& log) { return note_error(kWrong, log, ""); }

  // Adds a timed shape that has this number of floating-point operations.
  void add(const std::string& name, double operations, Timing timing) {
    const double gflops = operations / timing.seconds * 1e-9;
    note(name + ": " + short_number(gflops) + " GFLOP/s, spread " +
         short_number(100 * timing.spread) + " %");
    if (!shapes_.empty()) shapes_ += ", ";
    shapes_ += "{\"name\": " + quoted(name) + ", \"seconds\": " + number_text(timing.seconds) +
               ", \"gflops\": " + number_text(gflops) +
               ", \"spread\": " + number_text(timing.spread) + "}";
    logarithms_ += std::log(gflops);
    spread_ = std::max(spread_, timing.spread);
    ++timed_;
  }

  // Prints the summary, and ends the process with the exit code without running more code of the
  // kernel (such as destructors), so that the kernel cannot print the last line.
  [[noreturn]] void finish(int exit_code) {
    const double mean = timed_ > 0 ? std::exp(logarithms_ / timed_) : 0;
    if (json_) {
      std::string text = "{\"check\": " + quoted(check_) + ", \"shapes\": [" + shapes_ + "]";
      if (timed_ > 0 && exit_code == kRight) {
        text += ", \"gflops\": " + number_text(mean) + ", \"spread\": " + number_text(spread_);
      }
      if (!error_.empty()) text += ", \"error\": " + quoted(error_);
      std::fprintf(out_, "%s}\n", text.c_str());
    } else if (exit_code == kRight) {
      if (check_ == "right") std::fprintf(out_, "right\n");
      if (timed_ > 0) std::fprintf(out_, "GFLOP/s: %.5g\n", mean);
    }
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }

 private:
  int note_error(ExitCode code, const std::string& text, const char* prefix) {
    if (code == kWrong) check_ = "wrong";
    error_ = text;
    note(prefix + text);
    return code;
  }
  static std::string short_number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }
  // Returns a text as a JSON string. Bytes outside ASCII become question marks.
  static std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') made += '\\';
      if (c == '\n') {
        made += "\\n";
      } else {
        made += c >= ' ' && c < 127 ? c : '?';
      }
    }
    return made + '"';
  }

  bool json_;
  std::FILE* out_ = nullptr;
  std::string check_ = "not run", error_, shapes_;
  double logarithms_ = 0, spread_ = 0;
  int timed_ = 0;
};

}  // namespace kernel_check
