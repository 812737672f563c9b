// TaskSlices: the slices that an index launch is cut into, packed. A cyclic launch has a slice for
// every point, so a list of them keeps of each only what differs from the slice before it: some 3
// bytes where slices follow each other, instead of the 192 of a TaskSlice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "groma/geometry.h"
#include "groma/machine.h"

namespace groma {

// Of slice_task (Legion: TaskSlice).
struct TaskSlice {
  Rect box;  // never empty
  Processor processor;
  bool recurse = false;  // slice it again where it arrives
  bool stealable = false;

  friend bool operator==(const TaskSlice& a, const TaskSlice& b) {
    return a.box.lower == b.box.lower && a.box.extents == b.box.extents &&
           a.processor == b.processor && a.recurse == b.recurse && a.stealable == b.stealable;
  }
};

// A list to which slices are added at the end, and which is gone through from the front. It holds
// any values, also those that validate() refuses, and gives them back as they were added.
//
// A slice takes a byte, and a byte or more for each of what follows that is not as in the slice
// before: the processor's kind, its node, its index; where the box begins, unless it begins where
// the one before ends in the last dimension; the box's extents.
class TaskSlices {
 public:
  TaskSlices() = default;
  TaskSlices(std::initializer_list<TaskSlice> slices) {
    for (const TaskSlice& slice : slices) push_back(slice);
  }

  // Amortized constant time.
  void push_back(const TaskSlice& slice);
  // Removes all slices. Keeps the memory for the next use.
  void clear();
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Of memory that the slices take, in bytes, without room for more.
  std::size_t bytes() const { return packed_.size(); }

  // Gives one slice after the other. What it points at changes when it moves on, and is invalid
  // when the list changes.
  class const_iterator {  // NOLINT(readability-identifier-naming): the standard's
   public:
    // NOLINTBEGIN(readability-identifier-naming): names of std::iterator_traits
    using iterator_category = std::input_iterator_tag;
    using value_type = TaskSlice;
    using difference_type = std::ptrdiff_t;
    using pointer = const TaskSlice*;
    using reference = const TaskSlice&;
    // NOLINTEND(readability-identifier-naming)

    const_iterator() = default;
    const TaskSlice& operator*() const { return slice_; }
    const TaskSlice* operator->() const { return &slice_; }
    const_iterator& operator++() {
      if (--left_ > 0) unpack();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.left_ == b.left_;
    }

   private:
    friend class TaskSlices;
    const_iterator(const std::uint8_t* at, std::size_t left) : at_(at), left_(left) {
      if (left_ > 0) unpack();
    }
    void unpack();

    const std::uint8_t* at_ = nullptr;  // behind the slice
    std::size_t left_ = 0;              // slices, with this one
    TaskSlice slice_;
  };
  const_iterator begin() const { return {packed_.data(), count_}; }
  const_iterator end() const { return {nullptr, 0}; }

 private:
  void add_number(std::uint64_t change);

  std::vector<std::uint8_t> packed_;
  std::size_t count_ = 0;
  TaskSlice last_;  // that was added
};

}  // namespace groma
