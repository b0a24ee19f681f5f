#include "store/chain/codec.h"

#include <algorithm>
#include <set>

#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/document/document_format.h"
#include "store/document/one_file.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store::chain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConversations = "conversations";
constexpr std::string_view kRowSeparator = ",\n    ";

class Reader {
 public:
  Reader(const fs::path& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  Document run() {
    json::Scanner scanner(bytes_);
    const bool is_valid =
        scanner.kind() == json::Kind::object &&
        scanner.object([&](std::string_view name) { return member(scanner, name); });
    if (!is_valid || !scanner.end() || rows_.empty()) {
      Document empty;
      empty.unreadable = damage(scanner.failed() ? scanner.fault().message
                                                 : "it does not contain a list of conversations");
      return empty;
    }
    if (!utf8::is_valid(bytes_)) {
      set_unreadable("not valid UTF-8");
    }
    read_rows();
    return std::move(document_);
  }

 private:
  Damage damage(std::string_view reason) const {
    return {file_.native(), std::string(reason), excerpt_of(bytes_)};
  }

  void set_unreadable(std::string_view reason) {
    if (!document_.unreadable) {
      document_.unreadable = damage(reason);
    }
  }

  bool member(json::Scanner& scanner, std::string_view name) {
    const bool is_list = scanner.kind() == json::Kind::array;
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (name != kConversations) {
      document_.extra.push_back({std::string(name), json::take(raw)});
      return true;
    }
    if (!rows_.empty()) {
      set_unreadable("it has two lists of conversations");
    }
    rows_ = is_list ? raw : "";
    return true;
  }

  void read_rows() {
    json::Scanner scanner(rows_);
    // The whole document was validated before.
    (void)scanner.array([&] {
      std::string_view raw;
      if (!scanner.raw(raw)) {
        return false;
      }
      row(raw);
      return true;
    });
  }

  void row(std::string_view raw) {
    auto stored = decode_row(raw);
    if (stored && ids_.insert(stored->session.info.id).second) {
      FileSession& session = document_.sessions.emplace_back(FileSession{*std::move(stored)});
      session.encoded.text = format_row(raw);
      return;
    }
    const auto number = document_.sessions.size() + document_.raw_entries.size() + 1;
    document_.damage.push_back({cat(file_.native(), ": row ", number),
                                stored ? "another row has its id" : stored.error().message,
                                excerpt_of(raw)});
    document_.raw_entries.push_back(
        {static_cast<std::int64_t>(document_.sessions.size()), json::take(raw)});
  }

  const fs::path& file_;
  std::string_view bytes_;
  std::string_view rows_;
  std::set<SessionId> ids_;
  Document document_;
};

bool is_as_read(const StoredSession& stored, std::string_view text) {
  const auto read =
      text.empty() ? Result<StoredSession>(fail(Code::corrupt, "")) : decode_row(text);
  return read && read->session == stored.session &&
         read->state_before_trash == stored.state_before_trash &&
         std::ranges::equal(
             read->operations, stored.operations, {},
             [](const auto& operation) { return operation.first; },
             [](const auto& operation) { return operation.first; });
}

std::string rows_text(Document& document) {
  std::string out;
  auto entry = document.raw_entries.begin();
  std::int64_t position = 0;
  const auto add = [&out](std::string_view row) {
    out += out.empty() ? kRowSeparator.substr(1) : kRowSeparator;
    out += row;
  };
  const auto add_raw_entries = [&](std::int64_t until) {
    for (; entry != document.raw_entries.end() && entry->before <= until; ++entry) {
      add(format_row(entry->json.text()));
    }
  };
  for (FileSession& session : document.sessions) {
    add_raw_entries(position++);
    if (!is_as_read(session.stored, session.encoded.text)) {
      session.encoded.text = encode_row(session.stored);
    }
    add(session.encoded.text);
  }
  add_raw_entries(std::numeric_limits<std::int64_t>::max());
  return out.empty() ? "[]" : cat("[", out, "\n  ]");
}

}  // namespace

Document decode(const fs::path& file, std::string_view bytes) {
  return Reader(file, bytes).run();
}

std::string encode(Document& document) {
  IndentedObject lines(1);
  lines.raw(kConversations, rows_text(document));
  for (const ExtraField& field : document.extra) {
    lines.raw(field.name, field.value.text());
  }
  return lines.object();
}

}  // namespace reprise::store::chain
