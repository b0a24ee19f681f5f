#pragma once

// The files of Codex threads: which files make up a session, and their order.

#include <map>

#include "source/transcript.h"  // IWYU pragma: export

namespace reprise::source::codex {

// The position in a thread that the first line of a file continues.
struct Base {
  std::string thread;
  std::int64_t ordinal_end = 0;
  std::int64_t byte_end = 0;
};

class ThreadFiles {
 public:
  // Lists the files and reads only the index of names.
  static ThreadFiles find(const std::filesystem::path& location, ReadReport& report);

  std::vector<Located> sessions() const;
  // The parts of a session: its newest file, and the files that it is based on, up to the named
  // byte. A missing file is damage.
  Result<std::vector<FilePart>> parts_of(const SessionId& id, ReadReport& report) const;

 private:
  struct Thread {
    SessionId id;
    std::vector<std::filesystem::path> files;  // the first file, then the segments begun by reverts
    bool is_archived = false;
  };
  void add(const std::filesystem::path& file, bool is_archived, ReadReport& report);
  const Thread* thread(std::string_view id) const;
  Result<const std::filesystem::path*> file_of(const Base& base,
                                               const std::filesystem::path& successor) const;

  std::vector<Thread> threads_;
  std::map<std::string, std::size_t, std::less<>> indexes_;  // of threads, by id
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace reprise::source::codex
