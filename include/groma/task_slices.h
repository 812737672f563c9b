// TaskSlices: the slices of an index launch in packed form. A cyclic launch has a slice for every
// point. So the list keeps only the difference from the slice before: about 3 bytes for consecutive
// slices, instead of the 192 bytes of a TaskSlice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "groma/geometry.h"
#include "groma/machine.h"

namespace groma {

// One slice, as slice_task gives it (Legion: TaskSlice).
struct TaskSlice {
  // The points of the slice. The box is never empty.
  Rect box;
  Processor processor;
  // True if the slice is cut again at its processor.
  bool recurse = false;
  bool stealable = false;

  friend bool operator==(const TaskSlice& a, const TaskSlice& b) {
    return a.box.lower == b.box.lower && a.box.extents == b.box.extents &&
           a.processor == b.processor && a.recurse == b.recurse && a.stealable == b.stealable;
  }
};

// A list that grows at the end and is read from the front. It holds any values, including those
// that validate() refuses, and returns them unchanged.
//
// A slice takes one byte, and one or more bytes for each value that differs from the slice before:
// * the processor's kind, node and index
// * the corner of the box, unless the box begins where the one before ends in the last dimension
// * the extents of the box
class TaskSlices {
 public:
  TaskSlices() = default;
  TaskSlices(std::initializer_list<TaskSlice> slices) {
    for (const TaskSlice& slice : slices) push_back(slice);
  }

  // Adds a slice in amortized constant time.
  void push_back(const TaskSlice& slice);
  // Removes all slices. Keeps the memory for reuse.
  void clear();
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Returns the bytes that the slices take, without spare capacity.
  std::size_t bytes() const { return packed_.size(); }

  // Gives one slice after the other. The referenced slice changes when the iterator moves on, and
  // becomes invalid when the list changes.
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

    // The packed bytes behind the current slice.
    const std::uint8_t* at_ = nullptr;
    // The number of slices that are left, including the current one.
    std::size_t left_ = 0;
    TaskSlice slice_;
  };
  const_iterator begin() const { return {packed_.data(), count_}; }
  const_iterator end() const { return {nullptr, 0}; }

 private:
  void add_number(std::uint64_t change);

  std::vector<std::uint8_t> packed_;
  std::size_t count_ = 0;
  // The slice that was added last.
  TaskSlice last_;
};

}  // namespace groma
