#pragma once

// The files of Codex threads: which of them make a session, and in which order.

#include <map>

#include "source/transcript.h"

namespace reprise::source::codex {

class ThreadFiles {
 public:
  // Lists them, and opens none but the index of names.
  static ThreadFiles find(const std::filesystem::path& place, ReadReport& report);

  std::vector<Located> sessions() const;
  // The parts of a session: what its newest file goes on from, and from where. What is missing is
  // damage.
  std::vector<FilePart> parts_of(const SessionId& id, ReadReport& report) const;

 private:
  struct Thread {
    SessionId id;
    std::vector<std::filesystem::path> files;  // the first one, then those that reverts began
    bool is_archived = false;
  };
  void add(const std::filesystem::path& file, bool is_archived, ReadReport& report);
  const Thread* thread(std::string_view id) const;
  // The base of a file, then the file itself.
  void add_with_base(const FilePart& part, int depth, std::vector<FilePart>& parts,
                     ReadReport& report) const;

  std::vector<Thread> threads_;
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace reprise::source::codex
