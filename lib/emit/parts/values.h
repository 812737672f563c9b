// Values of the mapping language: checked integers, tuples, and the places of errors. Part of the
// code that `groma emit` writes (lib/emit/parts.cc).
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace groma::emit {
// @if in_tree
// The name of the mapping's file.
inline constexpr const char* kMapping = "";
// @end

// ---- Errors

// An error of the mapping that appears only for some point or machine. Its text begins with the
// place in the mapping.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Stores the current statement of the mapping, for error messages: here(line, column) precedes each
// statement. At the end of a function the caller's statement becomes current again.
class Here {
 public:
  Here() : before_(now()) {}
  ~Here() { now() = before_; }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;
  void operator()(int line, int column) const { now() = {line, column}; }

  static std::string text() {
    return kMapping + (":" + std::to_string(now().line)) + ":" + std::to_string(now().column);
  }

 private:
  struct Place {
    int line = 1, column = 1;
  };
  static Place& now() {
    thread_local Place place;
    return place;
  }
  Place before_;
};

[[noreturn]] inline void fail(const std::string& why) { throw Failure(Here::text() + ": " + why); }

// An expression of type T that can only fail.
template <typename T>
T failed(const std::string& why) {
  fail(why);
}

// ---- Integers

// A 64-bit integer whose overflow is an error.
class Int {
 public:
  Int() = default;
  Int(std::int64_t value) : value_(value) {}
  std::int64_t value() const { return value_; }

  friend Int operator+(Int a, Int b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &result)) too_large(a, "+", b);
    return result;
  }
  friend Int operator-(Int a, Int b) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &result)) too_large(a, "-", b);
    return result;
  }
  friend Int operator*(Int a, Int b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &result)) too_large(a, "*", b);
    return result;
  }
  friend Int operator/(Int a, Int b) {
    check_division(a, "/", b);
    return a.value_ / b.value_;
  }
  friend Int operator%(Int a, Int b) {
    check_division(a, "%", b);
    return a.value_ % b.value_;
  }
  friend Int operator-(Int a) { return Int(0) - a; }
  friend bool operator==(Int, Int) = default;
  friend auto operator<=>(Int, Int) = default;

 private:
  [[noreturn]] static void too_large(Int a, const char* sign, Int b) {
    fail(std::to_string(a.value_) + " " + sign + " " + std::to_string(b.value_) +
         " does not fit a 64-bit integer [overflow]");
  }
  static void check_division(Int a, const char* sign, Int b) {
    if (b.value_ == 0)
      fail("division by zero: " + std::to_string(a.value_) + " " + sign + " 0 [division-by-zero]");
    if (a.value_ == INT64_MIN && b.value_ == -1) too_large(a, sign, b);
  }

  std::int64_t value_ = 0;
};

// ---- Tuples

template <typename T>
class List {
 public:
  List() = default;
  List(std::initializer_list<T> items) : items_(items) {}

  std::size_t count() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  void add(T item) { items_.push_back(std::move(item)); }
  template <typename U>
  void add(const List<U>& items) {
    for (const U& item : items) items_.push_back(item);
  }

  Int len() const { return static_cast<std::int64_t>(items_.size()); }
  Int volume() const {
    Int product = 1;
    for (const T& item : items_) product = product * item;
    return product;
  }
  // Returns an item of the list. A negative index counts from the end.
  T operator[](Int index) const {
    const std::int64_t n = len().value(), i = index.value();
    if (i < -n || i >= n) {
      fail("no item " + std::to_string(i) + " in a tuple of " + std::to_string(n) +
           " [index-out-of-range]");
    }
    return items_[static_cast<std::size_t>(i < 0 ? i + n : i)];
  }
  // Returns a part of the list, as in Python: negative ends count from the back, and ends are
  // clamped to the list.
  List slice(Int from, Int to) const {
    const std::int64_t n = len().value();
    const auto end = [n](std::int64_t i) {
      return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n);
    };
    List result;
    for (std::int64_t i = end(from.value()); i < end(to.value()); ++i) {
      result.items_.push_back(items_[static_cast<std::size_t>(i)]);
    }
    return result;
  }
  List slice(Int from) const { return slice(from, len()); }

  friend bool operator==(const List& a, const List& b) {
    check_lengths(a.count(), "==", b.count());
    bool same = true;
    for (std::size_t i = 0; i < a.count(); ++i) same = a.items_[i] == b.items_[i] && same;
    return same;
  }
  static void check_lengths(std::size_t a, const char* sign, std::size_t b) {
    if (a == b) return;
    fail(std::string("`") + sign + "` needs tuples of the same length, not of " +
         std::to_string(a) + " and " + std::to_string(b) + " items [length-mismatch]");
  }

 private:
  std::vector<T> items_;
};
using Tuple = List<Int>;

template <typename T, typename F>
auto each(const List<T>& items, const F& item_of) {
  List<decltype(item_of(*items.begin()))> result;
  for (const T& item : items) result.add(item_of(item));
  return result;
}

// Concatenates tuples and single items into one list, as in `(*a, b)`.
template <typename T, typename... Parts>
List<T> join(const Parts&... parts) {
  List<T> result;
  (result.add(parts), ...);
  return result;
}

// Applies `f` to the items of two lists of equal length, one pair after the other.
template <typename A, typename B, typename F>
auto zip(const List<A>& a, const char* sign, const List<B>& b, const F& f) {
  List<A>::check_lengths(a.count(), sign, b.count());
  List<decltype(f(*a.begin(), *b.begin()))> result;
  auto other = b.begin();
  for (const A& item : a) result.add(f(item, *other++));
  return result;
}
// @if ignore

// Does nothing with the values that a `print` in a function would write. They are evaluated,
// because they may fail.
template <typename... Values>
void ignore(const Values&...) {}
// @end
// @if add
template <typename A, typename B>
auto operator+(const List<A>& a, const List<B>& b) {
  return zip(a, "+", b, std::plus<>());
}
template <typename A>
auto operator+(const List<A>& a, Int b) {
  return each(a, [b](const A& item) { return item + b; });
}
template <typename B>
auto operator+(Int a, const List<B>& b) {
  return each(b, [a](const B& item) { return a + item; });
}
// @end
// @if subtract
template <typename A, typename B>
auto operator-(const List<A>& a, const List<B>& b) {
  return zip(a, "-", b, std::minus<>());
}
template <typename A>
auto operator-(const List<A>& a, Int b) {
  return each(a, [b](const A& item) { return item - b; });
}
template <typename B>
auto operator-(Int a, const List<B>& b) {
  return each(b, [a](const B& item) { return a - item; });
}
// @end
// @if multiply
template <typename A, typename B>
auto operator*(const List<A>& a, const List<B>& b) {
  return zip(a, "*", b, std::multiplies<>());
}
template <typename A>
auto operator*(const List<A>& a, Int b) {
  return each(a, [b](const A& item) { return item * b; });
}
template <typename B>
auto operator*(Int a, const List<B>& b) {
  return each(b, [a](const B& item) { return a * item; });
}
// @end
// @if divide
template <typename A, typename B>
auto operator/(const List<A>& a, const List<B>& b) {
  return zip(a, "/", b, std::divides<>());
}
template <typename A>
auto operator/(const List<A>& a, Int b) {
  return each(a, [b](const A& item) { return item / b; });
}
template <typename B>
auto operator/(Int a, const List<B>& b) {
  return each(b, [a](const B& item) { return a / item; });
}
// @end
// @if modulo
template <typename A, typename B>
auto operator%(const List<A>& a, const List<B>& b) {
  return zip(a, "%", b, std::modulus<>());
}
template <typename A>
auto operator%(const List<A>& a, Int b) {
  return each(a, [b](const A& item) { return item % b; });
}
template <typename B>
auto operator%(Int a, const List<B>& b) {
  return each(b, [a](const B& item) { return a % item; });
}
// @end

}  // namespace groma::emit
