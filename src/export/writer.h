#pragma once

// A format implements a Writer, which receives a session message by message. formats.h has the
// table of formats.

#include <memory>
#include <set>

#include "reprise/export.h"

namespace reprise::exporting {

using Losses = std::set<std::string, std::less<>>;

// A session being exported.
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
  // Called in this order: begin(), message() for each message, end(). An error of the output or the
  // source aborts the export.
  virtual Result<> begin() { return {}; }
  virtual Result<> message(const Message& message) = 0;
  virtual Result<> end() { return {}; }
};

// Creates a writer of this class.
template <class Class>
std::unique_ptr<Writer> make_writer(Job& job) {
  return std::make_unique<Class>(job);
}

}  // namespace reprise::exporting
