#include "source/export_tool.h"

#include <map>
#include <memory>

#include "base/file.h"
#include "base/json_view.h"
#include "base/text.h"
#include "source/file.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

// A conversation and its location.
struct Location {
  SessionInfo info;
  std::size_t part = 0;
  std::int64_t at = 0;
  std::int64_t bytes = 0;
};

class ExportTool final : public Tool {
 public:
  ExportTool(fs::path place, const ExportForm& form) : place_(std::move(place)), form_(form) {}

  Result<std::vector<Listed>> list(ReadReport& report) override {
    REPRISE_TRY(refresh());
    report = report_;
    std::vector<Listed> all;
    all.reserve(index_.size());
    for (const auto& [id, location] : index_) {
      all.push_back({location.info});
    }
    return all;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    REPRISE_TRY(refresh());
    const auto found = index_.find(id);
    if (found == index_.end()) {
      return nullptr;
    }
    const Location& location = found->second;
    const Download::Part& part = download_->parts()[location.part];
    auto text = std::make_shared<std::string>(static_cast<std::size_t>(location.bytes), '\0');
    REPRISE_ASSIGN(const std::size_t got, read_at(part.fd.get(), *text, location.at, part.file));
    if (got != text->size() || !is_json_object(*text)) {
      return fail(Code::corrupt, cat(part.file.native(), " has changed while it was read"));
    }
    REPRISE_ASSIGN(auto session, form_.open(std::move(text), download_));
    return session;
  }

  std::string state_of(const SessionId& /*id*/) override { return state(); }

 private:
  std::string state() const {
    std::string all = state_text(place_);
    for (const Download::Part& part : download_ ? download_->parts() : no_parts_) {
      all += state_text(part.file);
    }
    return all;
  }

  // Indexes the files again if they have changed.
  Result<> refresh() {
    if (download_ && state() == state_) {
      return {};
    }
    REPRISE_ASSIGN(download_, Download::open(place_, form_.is_part));
    state_ = state();
    index_.clear();
    report_ = {};
    for (std::size_t part = 0; part < download_->parts().size(); ++part) {
      const Download::Part& one = download_->parts()[part];
      REPRISE_TRY(for_each_element(one.fd.get(), one.file, form_.member, report_,
                                   [&](const Element& element) {
                                     add(element, part);
                                     return Flow::proceed;
                                   }));
    }
    return {};
  }

  void add(const Element& element, std::size_t part) {
    const auto opened =
        form_.open(std::make_shared<const std::string>(element.json.raw()), nullptr);
    if (!opened) {
      const std::string& file = download_->parts()[part].file.native();
      return add_damage(report_, {cat(file, ": byte ", element.at), opened.error().message, ""});
    }
    const SessionInfo& info = (*opened)->session.info;
    Location location{info, part, element.at, element.bytes()};
    // If several files have a session, as with a later export in the same folder, the newest wins.
    const auto [known, is_new] = index_.try_emplace(info.id, location);
    if (!is_new && known->second.info.updated_at <= info.updated_at) {
      known->second = std::move(location);
    }
  }

  fs::path place_;
  const ExportForm& form_;
  const std::vector<Download::Part> no_parts_;
  std::shared_ptr<const Download> download_;
  std::string state_;
  std::map<SessionId, Location> index_;
  ReadReport report_;
};

}  // namespace

bool is_conversations_file(std::string_view name) {
  return name.starts_with("conversations") && name.ends_with(".json");
}

Result<bool> is_export(const fs::path& place, const ExportForm& form) {
  const auto beginning = Download::beginning(place, form.is_part);
  // An unreadable file is not recognised.
  return beginning && begins_with_element(*beginning, form.member);
}

Result<std::unique_ptr<Source>> open_export(const fs::path& place, const ExportForm& form) {
  REPRISE_TRY(check_exists(place));
  return make_tool_source(std::make_unique<ExportTool>(place, form));
}

}  // namespace reprise::source
