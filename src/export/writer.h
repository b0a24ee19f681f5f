#pragma once

// What a format is made of: a writer, which is given a session message by message. formats.h has
// the table of all.

#include <memory>
#include <set>

#include "reprise/export.h"

namespace reprise::exporting {

using Losses = std::set<std::string, std::less<>>;

// One session on its way out.
struct Job {
  Source& source;
  const Session& session;
  ExportOutput& output;
  Losses losses = {};
  std::vector<Damage> damage = {};
};

class Writer {
 public:
  virtual ~Writer() = default;
  // Each is called in turn: begin(), message() for each, end(). An error is that of the output or
  // the source, and ends the export.
  virtual Result<> begin() { return {}; }
  virtual Result<> message(const Message& message) = 0;
  virtual Result<> end() { return {}; }
};

// A writer of this class.
template <class Class>
std::unique_ptr<Writer> make_writer(Job& job) {
  return std::make_unique<Class>(job);
}

}  // namespace reprise::exporting
