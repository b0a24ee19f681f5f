#include "cli/output/show_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output/session_json.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

// The session's response ids, then those of its messages, without duplicates.
Result<std::vector<std::string>> response_ids(Source& source, const Session& session) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (!id.empty() && (ids.empty() || ids.back() != id)) {
      ids.push_back(id);
    }
  };
  for (const ResponseLink& link : session.response_chain) {
    add(link.response_id);
  }
  REPRISE_TRY(source.read(session.info.id, {}, [&](const Message& message) {
    if (std::ranges::find(session.response_chain, message.response_id,
                          &ResponseLink::response_id) == session.response_chain.end()) {
      add(message.response_id);
    }
    return Flow::proceed;
  }));
  return ids;
}

// Reads a blob that a block names: the whole, or only whether it is there. One that cannot be read
// is reported.
enum class BlobPart : std::uint8_t { all, beginning };
std::optional<std::string> read_named(BlobReader& blobs, const BlobHash& hash, BlobPart part,
                                      std::string_view where, ReadReport& report) {
  std::string bytes;
  const auto read = blobs.read_blob(hash, [&](std::string_view piece) {
    bytes += piece;
    return part == BlobPart::all ? Flow::proceed : Flow::stop;
  });
  if (!read) {
    report.damage.push_back({std::string(where), read.error().message, ""});
    return std::nullopt;
  }
  return bytes;
}

}  // namespace

void take_blobs(Source& source, Detail detail, Message& message, ReadReport& report) {
  BlobReader* const blobs = source.capabilities().blob_reader;
  if (blobs == nullptr) {
    return;
  }
  const std::string where = cat("message ", message.seq.value);
  for (Block& block : message.blocks) {
    auto* const result = std::get_if<ToolResultBlock>(&block);
    const auto* const image = std::get_if<ImageBlock>(&block);
    if (result != nullptr && result->blob) {
      const BlobPart part = detail == Detail::full ? BlobPart::all : BlobPart::beginning;
      const auto bytes = read_named(*blobs, *result->blob, part, where, report);
      if (bytes && part == BlobPart::all) {
        result->text = utf8::sanitize(*bytes);
      }
    } else if (image != nullptr && image->blob) {
      (void)read_named(*blobs, *image->blob, BlobPart::beginning, where, report);  // is not shown
    }
  }
}

Result<> add_signature(Source& source, const SessionId& id, ReadReport& report) {
  if (SignatureReader* const signatures = source.capabilities().signature_reader;
      signatures != nullptr) {
    REPRISE_ASSIGN(const Signature signature, signatures->signature(id));
    if (signature == Signature::failed) {
      report.damage.push_back({id.str(), "its signature does not match", ""});
    }
  }
  return {};
}

Result<ReadReport> write_show_document(Source& source, const SessionSnapshot& snapshot,
                                       ReadRange range,
                                       const std::function<Flow(std::string_view piece)>& write) {
  const Session& session = snapshot.session;
  REPRISE_ASSIGN(const std::vector<std::string> ids, response_ids(source, session));
  std::vector<Todo> todos;
  if (TodoReader* const list = source.capabilities().todo_reader; list != nullptr) {
    REPRISE_ASSIGN(todos, list->todos(session.info.id));
  }
  (void)write(cat("{\"session\":", session_document(source, session, ids), ",\"messages\":["));
  bool first = true;
  ReadReport blobs;
  REPRISE_ASSIGN(ReadReport report, source.read(session.info.id, range, [&](Message&& message) {
    take_blobs(source, Detail::shortened, message, blobs);
    return write(cat(std::exchange(first, false) ? "" : ",", message_document(message)));
  }));
  std::ranges::move(blobs.damage, std::back_inserter(report.damage));
  if (const auto& answer = snapshot.answer;
      answer && !answer->message.blocks.empty() && range.from <= answer->message.seq) {
    (void)write(cat(first ? "" : ",", answer_document(*answer)));
  }
  REPRISE_TRY(add_signature(source, session.info.id, report));
  (void)write(cat("],\"todos\":", todos_document(todos),
                  ",\"damage\":", damage_document(report.damage), "}\n"));
  return report;
}

}  // namespace reprise::cli
