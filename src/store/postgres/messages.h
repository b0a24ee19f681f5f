#pragma once

// Writes messages, at the end or instead of a suffix. The statements are a single one, or, if
// tables are distributed and there is no function for the batch, first one that moves the head and
// then the inserts.

#include <set>

#include "reprise/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/postgres/sessions.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

using Names = std::set<std::string, std::less<>>;

// A batch, prepared once for all attempts.
struct Batch {
  const AppendOptions& options;
  const Engine& engine;
  std::string operation = {};  // its name in reprise_once; generated if the caller gave none
  std::int64_t activity = 0;   // the latest known time of a message, 0 for none; or its arrival
  std::optional<std::int64_t> ahead = {};  // the time that was later than the arrival
  // One element per message, in order.
  Integers positions = {};
  Integers times = {};
  Integers more = {};
  ByteStrings roles = {};
  ByteStrings contents = {};  // the first piece of each
  ByteStrings details = {};
  ByteStrings authors = {};
  bool has_author = false;  // any message has one
  struct Part {             // a later piece
    std::int64_t position;
    std::int64_t part;
    std::string bytes;
  };
  std::vector<Part> parts = {};
  std::vector<std::string> blobs = {};
  struct Request {
    std::string name;  // in reprise_once; "" if it is always counted
    Usage usage;
  };
  std::vector<Request> requests = {};

  std::int64_t size() const { return static_cast<std::int64_t>(positions.size()); }
  bool is_for_function() const;  // else two round trips cost little
};
Result<Batch> make_batch(const std::vector<Message>& messages, const AppendOptions& options,
                         const Engine& engine);

// One round trip in the normal case; two for distributed tables without a function for the batch.
Result<AppendResult> append_messages(Connection& connection, const Key& key, const Batch& batch,
                                     bool is_unsure);
struct Replacement {
  const Batch& batch;
  Seq from;
};
Result<AppendResult> replace_messages(Connection& connection, const Key& key,
                                      const Replacement& replacement, bool is_unsure);

// done: the session is locked, and its head has already been checked.
enum class HeadCheck : std::uint8_t { in_query, done };

// `counted`: the requests whose usage was already counted.
struct Counted {
  const Key& key;
  const Batch& batch;
  const Names& names;
};
Query append_query(const Counted& append, HeadCheck head_check);
// The same by a function, of a batch for which it is_for_function().
Query call_query(const Counted& append);
// The statements for other tables.
std::vector<Query> dependent_queries(const Counted& append);

Query move_query(const Counted& append, HeadCheck head_check);
// All remaining statements, with the previous head that move_query() returned.
std::vector<Query> insert_queries(const Counted& append, const Rows& moved);

}  // namespace reprise::postgres
