#pragma once

// Writes messages, at the end or instead of a suffix.

#include "reprise/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/postgres/sessions.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// A batch, prepared once for all attempts.
struct Batch {
  const AppendOptions& options;
  const Engine& engine;
  std::string operation = {};  // its name in reprise_once; generated if the caller gave none
  std::int64_t activity = 0;   // the latest known time of a message, 0 for none
  // One element per message, in order.
  Integers places = {};
  Integers times = {};
  Integers more = {};
  ByteStrings roles = {};
  ByteStrings contents = {};  // the first piece of each
  ByteStrings details = {};
  ByteStrings authors = {};
  bool has_author = false;  // any message has one
  struct Part {             // a later piece
    std::int64_t place;
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

  std::int64_t size() const { return static_cast<std::int64_t>(places.size()); }
  bool is_for_function() const;  // else two round trips cost little
};
Result<Batch> make_batch(const std::vector<Message>& messages, const AppendOptions& options,
                         const Engine& engine);

// One round trip in the normal case; two for distributed tables without a function for the batch.
Result<Appended> append_messages(Connection& connection, const Key& key, const Batch& batch,
                                 bool is_unsure);
struct Replacement {
  const Batch& batch;
  Seq from;
};
Result<Appended> replace_messages(Connection& connection, const Key& key,
                                  const Replacement& replacement, bool is_unsure);

}  // namespace reprise::postgres
