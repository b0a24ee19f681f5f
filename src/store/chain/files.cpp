// The files of an index of conversations: FILE itself, FILE.lock, and FILE.trash (the trashed rows,
// in a file of the same format, which the original program does not read).

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/chain/codec.h"
#include "store/document/document_format.h"
#include "store/document/document_store.h"
#include "store/document/one_file.h"
#include "store/paths.h"
#include "store/stored_session.h"

namespace reprise {
namespace store::chain {
namespace {

namespace fs = std::filesystem;

// False for a file that does not exist or cannot be parsed.
Result<bool> has_row(const fs::path& file, const SessionId& id) {
  REPRISE_ASSIGN(const bool has_file, file_exists(file));
  if (!has_file) {
    return false;
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file));
  const Document document = chain::decode(file, bytes);
  return find_session(document, id) != document.sessions.end();
}

bool has_all_operations_of(const StoredSession& stored, const StoredSession& other) {
  return std::ranges::all_of(other.operations, [&stored](const auto& operation) {
    return stored.operations.contains(operation.first);
  });
}

// Merges two rows: the response ids of both, in order and without duplicates; otherwise the newer
// row.
StoredSession merge_rows(const StoredSession& ours, const StoredSession& found) {
  const bool is_newer = ours.session.info.updated_at > found.session.info.updated_at;
  StoredSession merged = is_newer ? ours : found;
  std::vector<ResponseLink> chain = found.session.response_chain;
  std::set<std::string_view> ids;
  for (const ResponseLink& link : found.session.response_chain) {
    ids.insert(link.response_id);
  }
  for (const ResponseLink& link : ours.session.response_chain) {
    if (ids.insert(link.response_id).second) {
      chain.push_back(link);
    }
  }
  merged.session.response_chain = std::move(chain);
  for (const StoredSession* const side : {&ours, &found}) {
    merge_operations(merged, *side);
  }
  return merged;
}

class ChainFiles final : public OneFile {
 public:
  using OneFile::OneFile;

  SourceCapabilities capabilities() const override {
    return {.messages = false, .many_folders = false, .blocks = false, .message_details = false};
  }
  Result<Document> decode(const std::filesystem::path& file, std::string_view bytes) const override;
  Result<std::string> encode(Document& document) const override;
  Document merge(const Document& written, Document found) const override;
  Result<> check_append(const std::vector<Message>& messages) const override;
  AppendResult after_append(StoredSession& stored, const AppendOptions& options,
                            const AppendResult& appended) const override;

 private:
  std::filesystem::path trash_of(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> trashed() const override;
};

}  // namespace

// One file of the same format holds all trashed rows.
fs::path ChainFiles::trash_of(const SessionId& /*id*/) const {
  return trash();
}

Result<std::vector<fs::path>> ChainFiles::trashed() const {
  REPRISE_ASSIGN(const bool has_trash, file_exists(trash()));
  return has_trash ? std::vector{trash()} : std::vector<fs::path>{};
}

// unsupported for messages with text: this format cannot store it, and dropping it silently would
// lose it.
Result<> ChainFiles::check_append(const std::vector<Message>& messages) const {
  const auto has_words = [](const Message& message) { return !message.blocks.empty(); };
  if (std::ranges::any_of(messages, has_words)) {
    return fail(Code::unsupported, "this store holds response ids, not the text of answers");
  }
  return {};
}

// Records which provider answered, and under which id.
AppendResult ChainFiles::after_append(StoredSession& stored, const AppendOptions& options,
                                      const AppendResult& /*appended*/) const {
  std::vector<ResponseLink>& chain = stored.session.response_chain;
  for (const SharedMessage& message : stored.log->own) {
    const ResponseLink link{message->provider, message->response_id};
    if (!link.response_id.empty() && std::ranges::find(chain, link) == chain.end()) {
      chain.push_back(link);
    }
  }
  stored.log = std::make_shared<Log>();
  stored.session.info.head = {};
  if (options.operation) {
    stored.operations.at(*options.operation).result = {.first = {}, .head = {}, .repeated = true};
  }
  return {};
}

Result<Document> ChainFiles::decode(const fs::path& file, std::string_view bytes) const {
  return chain::decode(file, bytes);
}

Result<std::string> ChainFiles::encode(Document& document) const {
  return chain::encode(document);
}

Document ChainFiles::merge(const Document& written, Document found) const {
  for (const FileSession& ours : written.sessions) {
    const SessionId& id = ours.stored.session.info.id;
    const auto row = find_session(found, id);
    if (row != found.sessions.end()) {
      if (!has_all_operations_of(row->stored, ours.stored)) {
        row->stored = merge_rows(ours.stored, row->stored);
      }
      continue;
    }
    // The row is missing: another program overwrote the file without having read it, unless the row
    // was moved to the trash. If the trash cannot be read, restore the row: a duplicate is better
    // than a loss.
    if (const auto trashed = has_row(trash(), id); !trashed || !*trashed) {
      found.sessions.push_back(ours);
    }
  }
  return found;
}

Result<bool> is_chain_file(const fs::path& file) {
  bool has_list = false;
  REPRISE_ASSIGN(const bool is_object,
                 is_object_file(file, [&has_list](std::string_view name, json::Scanner& scanner) {
                   has_list |= name == "conversations" && scanner.kind() == json::Kind::array;
                   return scanner.skip();
                 }));
  return is_object && has_list;
}

}  // namespace store::chain

Result<std::unique_ptr<Store>> open_chain_store(const std::filesystem::path& file,
                                                const StoreOptions& options) {
  REPRISE_ASSIGN(const std::filesystem::path target, store::resolved_path(file));
  auto files = std::make_unique<store::chain::ChainFiles>(target);
  REPRISE_TRY(store::check_file_exists(*files, file, options));
  return store::make_document_store(std::move(files), options);
}

}  // namespace reprise
