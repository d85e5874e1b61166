// Ids, tables, side tables and the string pool.
#include "ir/base/ids.h"
#include "ir/base/string_pool.h"
#include "ir/base/table.h"
#include "tests/support/catch.h"

#include <string>
#include <type_traits>

using namespace dfc;

static_assert(!std::is_convertible_v<OpId, ValueId>);
static_assert(!std::is_constructible_v<OpId, ValueId>);
static_assert(!std::is_convertible_v<uint32_t, OpId>);

TEST_CASE("table: mints ids in order; rows never move") {
  Table<OpId, std::string> table;
  const OpId first = table.add("first");
  const std::string& row = table[first];
  for (int i = 0; i < 1000; ++i) {
    table.add("another");
  }
  CHECK(&row == &table[first]);
  CHECK(table.size() == 1001);
  uint32_t expected = 0;
  for (const OpId id : table.ids()) {
    CHECK(id.index() == expected++);
  }
  CHECK(expected == 1001);
  CHECK(table.contains(OpId(1000)));
  CHECK_FALSE(table.contains(OpId(1001)));
  CHECK_THROWS_AS(table[OpId()], InternalError);
  CHECK_FALSE(OpId().valid());
}

TEST_CASE("side table: a fact for every id") {
  SideTable<ValueId, int> facts(3, 7);
  facts[ValueId(1)] = 8;
  CHECK(facts[ValueId(0)] == 7);
  CHECK(facts[ValueId(1)] == 8);
  CHECK(facts.ids().size() == 3);
  CHECK_THROWS_AS(facts[ValueId(3)], InternalError);
  SideTable<ValueId, bool> flags(2);
  flags[ValueId(0)] = true;
  CHECK(flags[ValueId(0)]);
  CHECK_FALSE(flags[ValueId(1)]);
}

TEST_CASE("string pool: each string once, and copies stand alone") {
  StringPool pool;
  CHECK(pool.intern("").index() == 0);
  const StringId a = pool.intern("a");
  CHECK(pool.intern("a") == a);
  CHECK(pool[a] == "a");
  CHECK_FALSE(pool.find("b").valid());
  const std::string_view before = pool[a];
  for (int i = 0; i < 1000; ++i) {
    pool.intern(std::to_string(i));
  }
  CHECK(before.data() == pool[a].data());

  StringPool copy = pool;
  CHECK(copy.find("999") == pool.find("999"));
  const StringId fresh = copy.intern("fresh");
  CHECK_FALSE(pool.find("fresh").valid());
  pool = std::move(copy);
  CHECK(pool[fresh] == "fresh");
  CHECK(pool[a] == "a");
  StringPool assigned;
  assigned = pool;
  CHECK(assigned.find("fresh") == fresh);
}

TEST_CASE("string pool: settled copies share what was there, and add for themselves") {
  StringPool pool;
  const StringId a = pool.intern("a");
  const std::string_view text = pool[a];
  pool.settle();
  CHECK(pool[a].data() == text.data());
  CHECK(pool.find("a") == a);
  CHECK(pool.find("").index() == 0);

  StringPool copy = pool;
  const StringId b = copy.intern("b");
  CHECK(b.index() == pool.size());
  CHECK_FALSE(pool.find("b").valid());
  CHECK(copy.intern("a") == a);
  CHECK(copy[b] == "b");

  const StringId other = pool.intern("other"); // the same number, another pool
  CHECK(other == b);
  CHECK(pool[other] == "other");

  for (int i = 0; i < 100; ++i) {
    copy.intern(std::to_string(i));
  }
  const std::string_view kept = copy[b];
  copy.settle(); // much was added: one table again
  CHECK(copy[b].data() == kept.data());
  CHECK(copy.find("b") == b);
  CHECK(copy.find("99").index() == copy.size() - 1);
  CHECK(copy.size() == pool.size() + 100);
  const StringPool last = copy;
  CHECK(last[a] == "a");
  CHECK(last.find("57") == copy.find("57"));
}
