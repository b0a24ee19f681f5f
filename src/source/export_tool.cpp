#include "source/export_tool.h"

#include <map>
#include <memory>

#include "base/file.h"
#include "base/json_view.h"
#include "base/text.h"
#include "source/file.h"
#include "source/reuse_time.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

struct Position {
  std::size_t part = 0;
  std::int64_t at = 0;
  std::int64_t bytes = 0;
};

struct Conversation {
  SessionInfo info;
  Position position;
};

// The form of a file is known from its beginning.
constexpr std::size_t kFormBytes = 64U << 10;

bool is_of_lines(const ExportForm& form, std::string_view beginning) {
  return form.lines.are_in != nullptr && form.lines.are_in(beginning);
}

class ExportTool final : public Tool {
 public:
  ExportTool(fs::path location, const ExportForm& form)
      : location_(std::move(location)), form_(form) {}

  Result<std::vector<Listed>> list(ReadReport& report) override {
    REPRISE_TRY(refresh());
    report = report_;
    std::vector<Listed> sessions;
    sessions.reserve(index_.size());
    for (const auto& [id, conversation] : index_) {
      sessions.push_back({conversation.info});
    }
    return sessions;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    REPRISE_TRY(refresh());
    const auto found = index_.find(id);
    if (found == index_.end()) {
      return nullptr;
    }
    REPRISE_ASSIGN(const auto text, text_at(found->second.position));
    REPRISE_ASSIGN(auto session, form_.open(text, download_));
    return session;
  }

  std::string state_of(const SessionId& /*id*/) override { return state(); }

 private:
  const std::string& state() {
    if (reuse_.is_over()) {
      const auto start = ReuseTime::Clock::now();
      seen_state_ = download_ ? download_->state() : state_text(location_);
      reuse_.begin(start);
    }
    return seen_state_;
  }

  // Indexes the files again if they have changed, or if that failed.
  Result<> refresh() {
    if (is_indexed_ && state() == state_) {
      return {};
    }
    is_indexed_ = false;
    REPRISE_ASSIGN(download_, Download::open(location_, form_.is_part));
    reuse_ = {};
    state_ = state();
    index_.clear();
    report_ = {};
    for (const Damage& refused : download_->refused()) {
      add_damage(report_, refused);
    }
    has_lines_.clear();
    for (std::size_t part = 0; part < download_->parts().size(); ++part) {
      has_lines_.push_back(false);
      if (auto indexed = index(part); !indexed) {
        REPRISE_TRY(report_damage(report_, download_->parts()[part].file.native(),
                                  std::move(indexed).error()));
      }
    }
    is_indexed_ = true;
    return {};
  }

  Result<> index(std::size_t number) {
    const std::filesystem::path& file = download_->parts()[number].file;
    REPRISE_ASSIGN(const int fd, download_->open_part(number));
    REPRISE_ASSIGN(const std::string beginning, read_range(fd, 0, kFormBytes, file));
    has_lines_.back() = is_of_lines(form_, beginning);
    if (has_lines_.back()) {
      return form_.lines.each(fd, {file}, report_, [&](const LinesElement& lines) {
        add(lines.text, {number, lines.at, lines.bytes});
      });
    }
    return for_each_element(fd, file, form_.member, report_, [&](const Element& element) {
      add(std::make_shared<const std::string>(element.json.raw()),
          {number, element.at, element.bytes()});
      return Flow::proceed;
    });
  }

  Result<std::shared_ptr<const std::string>> text_at(const Position& position) {
    const std::filesystem::path& file = download_->parts()[position.part].file;
    REPRISE_ASSIGN(const int fd, download_->open_part(position.part));
    std::shared_ptr<const std::string> text;
    if (has_lines_[position.part]) {
      ReadReport known;  // reported when the file was indexed
      const FilePart lines{file, position.at, position.at + position.bytes};
      REPRISE_TRY(form_.lines.each(fd, lines, known, [&](const LinesElement& element) {
        text = text ? text : element.text;
      }));
    } else {
      REPRISE_ASSIGN(std::string bytes,
                     read_range(fd, position.at, static_cast<std::size_t>(position.bytes), file));
      text = std::make_shared<const std::string>(std::move(bytes));
    }
    return text && is_json_object(*text)
               ? Result<std::shared_ptr<const std::string>>(text)
               : fail(Code::conflict, cat(file.native(), " has changed while it was read"));
  }

  // Adds a conversation with this text.
  void add(const std::shared_ptr<const std::string>& text, const Position& position) {
    const auto opened = form_.open(text, nullptr);
    if (!opened) {
      const std::string& file = download_->parts()[position.part].file.native();
      return add_damage(report_, {cat(file, ": byte ", position.at), opened.error().message, ""});
    }
    Conversation conversation{(*opened)->session.info, position};
    const SessionInfo& info = conversation.info;
    // If several files have a session, as with a later export in the same folder, the newest wins.
    const auto [known, is_new] = index_.try_emplace(info.id, conversation);
    if (!is_new && known->second.info.updated_at <= info.updated_at) {
      known->second = std::move(conversation);
    }
  }

  fs::path location_;
  const ExportForm& form_;
  std::shared_ptr<const Download> download_;
  std::string state_;            // of what is indexed
  std::string seen_state_;       // the last one
  ReuseTime reuse_;              // of seen_state_: there may be many files
  bool is_indexed_ = false;      // in this state
  std::vector<bool> has_lines_;  // of each part
  std::map<SessionId, Conversation> index_;
  ReadReport report_;
};

}  // namespace

bool is_conversations_file(std::string_view name) {
  return name.starts_with("conversations") && name.ends_with(".json");
}

Result<bool> is_export(const fs::path& location, const ExportForm& form) {
  const auto beginning = Download::beginning(location, form.is_part);
  // An unreadable file is not recognised.
  return beginning &&
         (begins_with_element(*beginning, form.member) || is_of_lines(form, *beginning));
}

Result<std::unique_ptr<Source>> open_export(const fs::path& location, const ExportForm& form) {
  REPRISE_TRY(check_exists(location));
  return make_tool_source(std::make_unique<ExportTool>(location, form));
}

}  // namespace reprise::source
