// Table<Id,Row>: an append-only list of rows that mints their ids; rows never move, so a reference to one
// stays good while others are added. SideTable<Id,T>: a fact for every id of a table, kept beside it. Both
// index by id only, in constant time.
#pragma once

#include "ir/base/assert.h"
#include "ir/base/visibility.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace DFC_PUBLIC dfc {

/// The ids [0, size) in order; iterates as ids.
template <class IdT>
class IdRange {
 public:
  /// @cond INTERNAL
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = IdT;
    using difference_type = std::ptrdiff_t;
    using pointer = const IdT*;
    using reference = IdT;
    Iterator() = default;
    explicit Iterator(uint32_t index) : index_(index) {}
    IdT operator*() const { return IdT(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(index_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    uint32_t index_ = 0;
  };
  /// @endcond

  /// The ids from `first` up to `last`, which is not one of them.
  IdRange(uint32_t first, uint32_t last) : first_(first), last_(last) {}
  /// The first id.
  Iterator begin() const { return Iterator(first_); }
  /// Behind the last id.
  Iterator end() const { return Iterator(last_); }
  /// How many ids.
  size_t size() const { return last_ - first_; }

 private:
  uint32_t first_, last_;
};

/// An append-only list of rows, named by the ids that it gives them.
template <class IdT, class Row>
class Table {
 public:
  /// Appends a row; its id.
  IdT add(Row row) {
    if (size_ % blockRows == 0) {
      blocks_.emplace_back();
    }
    Block& block = blocks_.back();
    block.reserve(blockRows); // moves rows only in a copy that nobody has added to yet
    block.push_back(std::move(row));
    return IdT(size_++);
  }
  /// The row of an id of this table; asserts that it is one.
  const Row& operator[](IdT id) const {
    DFC_ASSERT(id.index() < size_, "an id of another table");
    return blocks_[id.index() / blockRows][id.index() % blockRows];
  }
  /// The same for writing.
  Row& operator[](IdT id) {
    DFC_ASSERT(id.index() < size_, "an id of another table");
    return blocks_[id.index() / blockRows][id.index() % blockRows];
  }
  /// Whether the table has given this id.
  bool contains(IdT id) const { return id.index() < size_; }
  /// How many rows.
  size_t size() const { return size_; }
  /// Whether there is no row.
  bool empty() const { return size_ == 0; }
  /// All ids, in order.
  IdRange<IdT> ids() const { return {0, size_}; }

  /// @cond INTERNAL
  // The rows in the order of their ids.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = const Row*;
    using reference = const Row&;
    Iterator() = default;
    Iterator(const Table* table, uint32_t index) : table_(table), index_(index) {}
    reference operator*() const { return (*table_)[IdT(index_)]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(table_, index_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const Table* table_ = nullptr;
    uint32_t index_ = 0;
  };
  /// @endcond
  /// The rows in the order of their ids: begin.
  Iterator begin() const { return {this, 0}; }
  /// And end.
  Iterator end() const { return {this, size_}; }

 private:
  static constexpr uint32_t blockRows = 256;
  using Block = std::vector<Row>;
  std::vector<Block> blocks_; // blocks that never grow, so that rows never move
  uint32_t size_ = 0;
};

/// A fact for each id of a table.
template <class IdT, class T>
class SideTable {
 public:
  SideTable() = default;
  /// A fact for each of `size` ids, each `value`.
  explicit SideTable(size_t size, T value = T()) : facts_(size, std::move(value)) {}
  /// The fact of an id; asserts that there is one.
  decltype(auto) operator[](IdT id) const {
    DFC_ASSERT(id.index() < facts_.size(), "an id of another table");
    return facts_[id.index()];
  }
  /// The same for writing.
  decltype(auto) operator[](IdT id) {
    DFC_ASSERT(id.index() < facts_.size(), "an id of another table");
    return facts_[id.index()];
  }
  /// How many facts.
  size_t size() const { return facts_.size(); }
  /// Whether there is none.
  bool empty() const { return facts_.empty(); }
  /// Makes it `size` facts; new ones are `value`.
  void resize(size_t size, T value = T()) { facts_.resize(size, std::move(value)); }
  /// All ids, in order.
  IdRange<IdT> ids() const { return {0, static_cast<uint32_t>(facts_.size())}; }

 private:
  std::vector<T> facts_;
};

} // namespace dfc
