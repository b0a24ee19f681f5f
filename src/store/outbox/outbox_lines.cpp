#include <fcntl.h>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/outbox.h"
#include "store/document/sidecar.h"
#include "store/outbox/outbox_file.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::outbox {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kFirstLineMax = 65536;

struct Head {
  std::int64_t version = 0;
  std::string store;
  std::string session;
  std::string fork;
};

Session empty_session(SessionId id) {
  return {.info = {.id = std::move(id)}};
}

Result<Head> read_head(std::string_view line) {
  Head head;
  json::Scanner scanner(line);
  const bool is_valid = scanner.object([&](std::string_view name) {
    if (name == "reprise_spill") {
      return scanner.integer(head.version);
    }
    if (name == "store") {
      return scanner.string(head.store);
    }
    if (name == "session") {
      return scanner.string(head.session);
    }
    return name == "aside" ? scanner.string(head.fork) : scanner.skip();
  });
  if (!is_valid || !scanner.end() || head.version < 1) {
    return fail(Code::corrupt, "this is not an outbox file");
  }
  if (head.version > kVersion) {
    return fail(Code::unsupported, cat("it was written by a newer version of reprise (format ",
                                       head.version, "): update reprise"));
  }
  return head;
}

bool read_operation(json::Scanner& scanner, std::optional<OperationId>& out) {
  std::string text;
  if (!scanner.string(text)) {
    return false;
  }
  auto id = OperationId::parse(text);
  if (!id) {
    return scanner.fail("this is not the name of an operation");
  }
  out = *std::move(id);
  return true;
}

bool read_messages(json::Scanner& scanner, OutboxStep& step) {
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  auto messages = messages_from_json(raw);
  if (!messages) {
    return scanner.fail("this is not a list of messages");
  }
  step.messages = *std::move(messages);
  return true;
}

bool read_outbox_blob(json::Scanner& scanner, std::string_view name, OutboxStep& step) {
  std::string base64;
  if (!scanner.string(base64)) {
    return false;
  }
  auto hash = BlobHash::parse(name);
  auto bytes = base64_decode(base64);
  if (!hash || !bytes) {
    return scanner.fail("this is not a blob");
  }
  step.blobs.push_back({*std::move(hash), *std::move(bytes)});
  return true;
}

bool read_member(json::Scanner& scanner, std::string_view name, OutboxStep& step,
                 std::optional<OperationId>& operation) {
  if (name == "operation") {
    return read_operation(scanner, operation);
  }
  if (name == "after") {
    return scanner.integer(step.after.value);
  }
  if (name == "replace_from") {
    return scanner.integer(step.replace_from.emplace().value);
  }
  if (name == "end") {
    return read_operation(scanner, step.end_partial);
  }
  if (name == "messages") {
    return read_messages(scanner, step);
  }
  if (name == "blobs") {
    return scanner.object(
        [&](std::string_view hash) { return read_outbox_blob(scanner, hash, step); });
  }
  return scanner.skip();
}

Result<OutboxStep> read_step(std::string_view line) {
  OutboxStep step{.operation = *OperationId::parse("none")};
  std::optional<OperationId> operation;
  json::Scanner scanner(line);
  const bool is_valid = scanner.object(
      [&](std::string_view name) { return read_member(scanner, name, step, operation); });
  if (!is_valid || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  if (!operation || !is_valid_head(step.after) ||
      (step.replace_from && (step.replace_from->value < 0 || *step.replace_from > step.after))) {
    return fail(Code::corrupt, "it names no operation, or no position for one");
  }
  step.operation = *std::move(operation);
  return step;
}

Result<OutboxSession> begin_session(std::string_view head_line) {
  REPRISE_ASSIGN(Head head, read_head(head_line));
  REPRISE_ASSIGN(SessionId id, SessionId::parse(head.session));
  REPRISE_ASSIGN(SessionId fork, SessionId::parse(head.fork));
  return OutboxSession{.session = empty_session(std::move(id)),
                       .fork = std::move(fork),
                       .store = std::move(head.store)};
}

// Removes the first line from `bytes` and returns it without its line end. nullopt if no complete
// line remains.
std::optional<std::string_view> take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  return line;
}

std::unexpected<Error> line_error(const std::filesystem::path& file, int line, const Error& error) {
  const Code code = error.code == Code::unsupported ? Code::unsupported : Code::corrupt;
  return fail(code, cat(file.native(), " line ", line, ": ", error.message));
}

}  // namespace

std::string head_lines(const Session& session, const SessionId& fork, std::string_view store) {
  const std::string head = json::object_of("reprise_spill", kVersion, "store", store, "session",
                                           session.info.id.str(), "aside", fork.str());
  const std::string sidecar = session_sidecar({.session = session}, empty_session(session.info.id));
  return cat(head, "\n", sidecar.empty() ? "{}" : sidecar, "\n");
}

std::string step_line(const OutboxStep& step) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("operation", step.operation.str()).field("after", step.after.value);
  if (step.replace_from) {
    object.field("replace_from", step.replace_from->value);
  }
  if (step.end_partial) {
    object.field("end", step.end_partial->str());
  }
  object.raw("messages", messages_to_json(step.messages));
  if (!step.blobs.empty()) {
    std::string blobs;
    json::ObjectWriter named(blobs);
    for (const OutboxBlob& blob : step.blobs) {
      named.field(blob.hash.str(), base64_encode(blob.bytes));
    }
    named.close();
    object.raw("blobs", blobs);
  }
  object.close();
  return out += '\n';
}

Result<OutboxSession> read_outbox(const std::filesystem::path& file) {
  REPRISE_ASSIGN(const std::string bytes, read_file(file));
  std::string_view remaining = bytes;
  const auto head = take_line(remaining);
  const auto session = take_line(remaining);
  if (!head || !session) {
    return fail(Code::corrupt, cat(file.native(), ": this is not an outbox file"));
  }
  auto outbox = begin_session(*head);
  if (!outbox) {
    return line_error(file, 1, outbox.error());
  }
  StoredSession stored{.session = std::move(outbox->session)};
  if (const auto read = add_session_sidecar(stored, *session); !read) {
    return line_error(file, 2, read.error());
  }
  outbox->session = std::move(stored.session);
  int number = 3;
  for (auto line = take_line(remaining); line; line = take_line(remaining)) {
    auto step = read_step(*line);
    if (!step) {
      return line_error(file, number, step.error());
    }
    outbox->steps.push_back(*std::move(step));
    ++number;
  }
  return outbox;
}

std::optional<std::string> store_of_outbox(const std::filesystem::path& file) {
  const auto fd = open_file(file, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    return std::nullopt;
  }
  std::string bytes(kFirstLineMax, '\0');
  bytes.resize(read_at(fd->get(), bytes, 0, file).value_or(0));
  std::string_view remaining = bytes;
  const auto line = take_line(remaining);
  auto head = line ? read_head(*line) : fail(Code::corrupt, "");
  return head ? std::optional(std::move(head->store)) : std::nullopt;
}

}  // namespace reprise::store::outbox
