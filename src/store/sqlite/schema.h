#pragma once

// The tables, indexes and triggers; described in docs/formats/sqlite.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace reprise::sqlite {

// The user_version of the first release; 1 to 4 were of builds before it.
inline constexpr std::int64_t kVersion = 5;
inline constexpr std::int64_t kApplicationId = 0x52505253;  // "RPRS"

// A column that the original program does not have.
struct Column {
  std::string_view name;
  std::string_view declaration;  // its default is the value for rows of the original program
};

std::span<const Column> session_columns();
std::span<const Column> message_columns();

struct Table {
  std::string_view name;
  std::string_view body;  // the part of CREATE TABLE after the name
};
// The tables that the original program does not have.
std::span<const Table> added_tables();

// CREATE statements. A new database gets tables_sql(), one of the original program
// added_tables_sql(); both then get triggers_sql().
std::string tables_sql();
std::string added_tables_sql();
std::string triggers_sql();

// A slot is about a minute; the index for lists by activity uses slots.
inline constexpr int kSlotBits = 26;
std::string slot_sql(std::string_view microseconds);
// Sets the slot of every session.
std::string fill_slots_sql();

// Retained suffixes, and their messages (sessions.h).
inline constexpr std::string_view kKeptTable = "reprise_kept";
inline constexpr std::string_view kKeptMessagesTable = "reprise_kept_messages";
// The times at which blobs were put.
inline constexpr std::string_view kPinsTable = "reprise_pins";

// A step from one version to the next.
struct Migration {
  // The user_version after it. Programs refuse a database with a version that they do not know, so
  // a step is needed only for what would break older ones.
  std::int64_t version;
  bool needs_copy;  // whether it changes existing data
  std::string (*statements)(std::int64_t now_us);
};
// The steps since kVersion, in order: none yet. The statements above create what they lead to.
std::span<const Migration> migrations();

}  // namespace reprise::sqlite
