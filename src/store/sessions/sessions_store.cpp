// The sessions: store, with one file per session, in the folder of the program that defined the
// format.

#include <array>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/document/document_format.h"
#include "store/document/document_store.h"
#include "store/paths.h"
#include "store/sessions/layout.h"
#include "store/sessions/ours.h"
#include "store/sessions/session_json.h"
#include "store/sessions/signature.h"

namespace reprise {
namespace store::sessions {
namespace {

namespace fs = std::filesystem;

class SessionsFiles final : public DocumentFormat {
 public:
  explicit SessionsFiles(const fs::path& root) : layout_(root) {}

  SourceCapabilities capabilities() const override {
    return {.one_open_per_folder = true, .new_ids = UuidVersion::v4};
  }
  std::int64_t file_bytes_max() const override { return kFileBytesMax; }
  const fs::path& root() const override { return layout_.root(); }
  bool is_folder() const override { return true; }
  fs::path lock_file() const override { return root() / ".lock"; }
  Result<fs::path> partial_file(const SessionId& id) const override {
    return root() / "active" / cat(id.str(), ".partial");
  }

  Result<std::optional<fs::path>> find_file(const SessionId& id) const override {
    return layout_.find(id);
  }
  Result<std::vector<fs::path>> files() const override { return layout_.files(); }
  fs::path path_of(const Session& session) const override {
    return layout_.path_of({session.info.id, session.info.state});
  }
  fs::path trash_path(const Session& session, SessionState before) const override {
    return layout_.path_of({session.info.id, SessionState::trashed, before});
  }
  std::vector<fs::path> folders() const override { return layout_.folders(); }

  Result<Document> decode(const fs::path& file, std::string_view bytes) const override;
  std::optional<Document> salvage(const fs::path& file, std::string_view bytes) const override;
  Result<std::string> encode(Document& document) const override;
  Result<> before_write(const fs::path& file, std::string_view bytes) const override;
  Result<> before_remove(const SessionId& id) const override {
    return remove_if_exists(layout_.ours(id));
  }
  Result<std::vector<fs::path>> files_beside() const override { return layout_.all_ours(); }
  void sweep() const override;
  bool has_signatures() const override { return true; }
  Result<Signature> signature(const fs::path& file) const override;
  Result<std::optional<std::vector<SessionInfo>>> infos(std::vector<Damage>& damage) const override;

 private:
  Result<std::optional<std::string>> secret() const {
    return read_secret(root().parent_path() / "machine_secret");
  }
  Result<bool> all_signatures_fail(const fs::path& except, std::string_view secret) const;

  Layout layout_;
};

Result<Document> SessionsFiles::decode(const fs::path& file, std::string_view bytes) const {
  REPRISE_ASSIGN(const Location location, layout_.location(file));
  const auto ours = read_ours(layout_.ours(location.id), location, bytes);
  const auto readable = ours ? *ours : std::nullopt;
  REPRISE_ASSIGN(FileSession session, readable ? read_session_with(*readable, location, bytes)
                                               : read_session(location, bytes));
  if (!ours) {
    session.damage.push_back({layout_.ours(location.id).native(), ours.error().message, ""});
  }
  Document document;
  document.sessions.push_back(std::move(session));
  return document;
}

// The original program sees closed sessions only.
Result<> SessionsFiles::before_write(const fs::path& file, std::string_view bytes) const {
  REPRISE_ASSIGN(const Location location, layout_.location(file));
  return location.state == SessionState::closed ? replace_file(layout_.ours(location.id), bytes)
                                                : Result<>();
}

// The original has removed these sessions, or has them open for a month.
void SessionsFiles::sweep() const {
  constexpr std::chrono::days kKept{30};
  for (const fs::path& file : layout_.ours_without_session().value_or(std::vector<fs::path>())) {
    std::error_code failed;
    const auto written = fs::last_write_time(file, failed);
    if (!failed && fs::file_time_type::clock::now() - written > kKept) {
      (void)remove_if_exists(file);  // the next one tries again
    }
  }
}

std::optional<Document> SessionsFiles::salvage(const fs::path& file, std::string_view bytes) const {
  const std::string complete = salvage_truncated(bytes);
  auto document = decode(file, complete);
  return document ? std::optional(*std::move(document)) : std::nullopt;
}

Result<std::string> SessionsFiles::encode(Document& document) const {
  std::optional<SigningKey> key;
  REPRISE_ASSIGN(const auto secret, this->secret());
  if (secret) {
    // Without OpenSSL there is no key, and the file is written unsigned.
    if (auto derived = SigningKey::derive(*secret, host_name()); derived) {
      key = *std::move(derived);
    }
  }
  return write_session(document.sessions.front(), key ? &*key : nullptr);
}

// Verifies a file's signature using only the file and the secret.
Result<Signature> check(const SignedText& text, std::string_view secret) {
  if (!text.signature) {
    return Signature::not_signed;
  }
  const auto key = SigningKey::derive(secret, text.host.empty() ? host_name() : text.host);
  if (!key) {
    return Signature::unverifiable;
  }
  const std::array<std::string_view, 1> pieces = {text.payload};
  REPRISE_ASSIGN(const std::string expected, key->sign(pieces));
  return equal_in_constant_time(expected, *text.signature) ? Signature::verified
                                                           : Signature::failed;
}

Result<Signature> SessionsFiles::signature(const fs::path& file) const {
  REPRISE_ASSIGN(const std::string bytes, read_file(file, kFileBytesMax));
  REPRISE_ASSIGN(const auto secret, this->secret());
  if (!secret) {
    const std::string_view signature = json::find_member(bytes, "signature");
    return signature.empty() || signature == "null" ? Signature::not_signed
                                                    : Signature::unverifiable;
  }
  REPRISE_ASSIGN(const SignedText text, read_signed(bytes));
  REPRISE_ASSIGN(const Signature signature, check(text, *secret));
  if (signature != Signature::failed || !text.host.empty()) {
    return signature;
  }
  // The file does not name the host that signed it. If all other signatures fail as well, the name
  // of this host has changed, not the files.
  REPRISE_ASSIGN(const bool is_other_host, all_signatures_fail(file, *secret));
  return is_other_host ? Signature::unverifiable : Signature::failed;
}

// Whether other files appear to be signed on this host, and all of the checked signatures fail.
Result<bool> SessionsFiles::all_signatures_fail(const fs::path& except,
                                                std::string_view secret) const {
  constexpr int kCheckedMax = 8;
  REPRISE_ASSIGN(const std::vector<fs::path> files, layout_.files());
  int failed = 0;
  for (const fs::path& file : files) {
    const auto bytes = file == except ? std::string() : read_file(file, kFileBytesMax).value_or("");
    const auto text = read_signed(bytes);
    if (!text || !text->signature || (!text->host.empty() && text->host != host_name())) {
      continue;
    }
    REPRISE_ASSIGN(const Signature signature, check(*text, secret));
    if (signature != Signature::failed) {
      return false;
    }
    if (++failed == kCheckedMax) {
      break;
    }
  }
  return failed > 0;
}

Result<std::optional<std::vector<SessionInfo>>> SessionsFiles::infos(
    std::vector<Damage>& damage) const {
  REPRISE_ASSIGN(const std::vector<LocatedFile> files, layout_.sessions(damage));
  std::vector<SessionInfo> infos;
  infos.reserve(files.size());
  for (const LocatedFile& file : files) {
    auto info = read_info(file.file, file.location, layout_.ours(file.location.id));
    if (!info && info.error().code == Code::not_found) {
      // It was moved or removed meanwhile.
      REPRISE_ASSIGN(const auto moved, layout_.find(file.location.id));
      REPRISE_ASSIGN(const Location location,
                     moved ? layout_.location(*moved) : Result<Location>(file.location));
      info = read_info(moved.value_or(file.file), location, layout_.ours(location.id));
    }
    if (info) {
      infos.push_back(*std::move(info));
      continue;
    }
    REPRISE_ASSIGN(const FileKind kind, kind_of(file.file));
    if (info.error().code != Code::not_found || kind == FileKind::link) {
      damage.push_back({file.file.native(), std::move(info.error().message), ""});
    }
  }
  return infos;
}

}  // namespace
}  // namespace store::sessions

Result<std::unique_ptr<Store>> open_sessions_store(const std::filesystem::path& folder,
                                                   const StoreOptions& options) {
  REPRISE_ASSIGN(const std::filesystem::path root, store::resolved_path(folder));
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(root));
  if (kind != FileKind::none && kind != FileKind::folder) {
    return fail(Code::invalid_argument, cat(folder.native(), " is not a folder"));
  }
  if (options.access == Access::read && kind == FileKind::none) {
    return fail(Code::not_found, cat("no sessions at ", folder.native()));
  }
  return store::make_document_store(std::make_unique<store::sessions::SessionsFiles>(root),
                                    options);
}

}  // namespace reprise
