#pragma once

// A session in a memory store, and its export.

#include <memory>

#include "reprise/capabilities.h"
#include "reprise/export.h"
#include "reprise/open_store.h"

namespace reprise::test {

// Collects the output in memory.
class MemoryOutput final : public ExportOutput {
 public:
  Result<> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  bool accepts_files() const override { return has_files; }
  Result<std::string> add_file(std::string_view name,
                               const std::function<Result<>(const Piece&)>& fill) override;

  std::string text;
  std::vector<std::pair<std::string, std::string>> files;
  bool has_files = false;
};

inline constexpr std::string_view kExportedId = "01a208dc-faed-7b2b-97ef-067a33fdd6d9";

// A memory store with one session of these messages.
std::unique_ptr<Store> store_with(const Session& session, std::vector<Message> messages);
// With a title, a folder and a system prompt.
Session exported_session();

struct ExportedText {
  std::string text;
  ExportResult exported;
};
ExportedText exported_as(std::string_view format, Source& source,
                         std::string_view id = kExportedId);
// The export of exported_session() with these messages.
ExportedText exported_as(std::string_view format, std::vector<Message> messages);
std::vector<std::string> lines_of(std::string_view text);

// A question, an answer with thinking and two calls, their results, an answer.
std::vector<Message> exchange_with_tools();

}  // namespace reprise::test
