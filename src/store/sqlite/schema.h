#pragma once

// The tables, indexes and triggers, as they are described in docs/formats/sqlite.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace reprise::sqlite {

inline constexpr std::int64_t kVersion = 2;                 // user_version
inline constexpr std::int64_t kApplicationId = 0x52505253;  // "RPRS"

// A column that is ours, beside those the original program knows.
struct Column {
  std::string_view name;
  std::string_view declaration;  // its default is what an original row means
};

std::span<const Column> session_columns();
std::span<const Column> message_columns();

struct Table {
  std::string_view name;
  std::string_view body;  // what follows the name in CREATE TABLE
};
// The tables that the original program does not know.
std::span<const Table> own_tables();

// CREATE statements. A new database has tables_sql(), one that was the original program's gets
// own_tables_sql() instead; both then get triggers_sql().
std::string tables_sql();
std::string own_tables_sql();
std::string triggers_sql();

// About a minute of a time in microseconds: lists by activity are found by it.
inline constexpr int kSlotBits = 26;
std::string slot_sql(std::string_view microseconds);
// Gives every session the slot of its time.
std::string fill_slots_sql();

// Which blobs were put when.
inline constexpr std::string_view kPinsTable = "reprise_pins";

// What earlier databases lack, from the first version on, each made of what the ones before it
// made.
struct Migration {
  // user_version after it. Programs that know only an earlier one refuse the database, so that it
  // moves only with what they cannot leave alone.
  std::int64_t version;
  std::string_view table;  // where this column is there once it has run
  std::string_view column;
  bool keeps_copy;  // it changes what is there
  std::string (*statements)(std::int64_t now_us);
};
std::span<const Migration> migrations();

}  // namespace reprise::sqlite
