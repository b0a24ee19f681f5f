#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.h"
#include "source/codex/codex_files.h"
#include "source/codex/codex_item.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/words.h"
#include "store/usage_sum.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;
using codex::ItemKind;

// The first versions had one object, then lines without a payload.
bool is_codex_line(JsonView line) {
  const std::string type = line["type"].text();
  const bool is_document = line["items"].is(json::Kind::array) && line["session"]["id"];
  const bool is_first_line = type.empty() && line["id"] && line["timestamp"] &&
                             (!line["instructions"].raw().empty() || line["git"]);
  if (is_document || is_first_line || line["record_type"].text() == "state") {
    return true;
  }
  return (type == "session_meta" || type == "response_item" || type == "event_msg") &&
         line["payload"].is(json::Kind::object);
}

bool is_summary(JsonView compaction_output) {
  return compaction_output && compaction_output.raw() != "false";
}

class CodexIndexer final : public Indexer {
 public:
  explicit CodexIndexer(Transcript& into) : into_(into) {}

  void take(const Record& record, std::size_t part) override {
    const auto [type, payload, time, items, ordinal] =
        record.json.members({"type", "payload", "timestamp", "items", "ordinal"});
    const std::string kind = type.text();
    part_ = part;
    if (kind.empty() && items.is(json::Kind::array)) {
      return take_document(record, items);
    }
    time_ = time_of(time);
    ordinal_ = ordinal ? std::optional(ordinal.count()) : std::nullopt;
    if (!into_.parts[part].is_inherited && !is_copied()) {
      note_time(into_.session.info, time);
    }
    if (kind == "session_meta") {
      take_meta(payload);
    } else if (kind == "turn_context") {
      model_ = payload["model"].text();
    } else if (kind == "event_msg") {
      take_event(record, payload);
    } else if (kind == "token_usage_record") {
      take_usage(payload["usage"], payload["response_id"].text());
    } else if (kind == "compacted") {
      add_summary(record, payload);
    } else if (kind == "response_item" || (!payload && !kind.empty())) {
      take_item(record, payload ? payload : record.json);
    }
  }

  void finish() override {
    end_open_turn();
    if (!has_items_) {
      // Files written by other programs may have only the displayed events.
      for (const auto& [node, bytes_hash] : shown_) {
        into_.tree.add(node, bytes_hash);
      }
    }
    if (has_confirmed_) {
      for (const Question& question : questions_) {
        into_.tree.node(question.node).is_injected = true;
      }
    }
    SessionInfo& info = into_.session.info;
    info.title = title_of(!name_.empty() ? name_ : !first_shown_.empty() ? first_shown_ : first_);
    info.model = model_;
    info.provider = provider_.empty() ? "openai" : provider_;
  }

 private:
  // A user's message that no event has confirmed yet.
  struct Question {
    std::uint32_t node;
    std::string text;
  };

  // Older forks, and sub-agents, begin with a copy of the parent thread's lines.
  bool is_copied() const {
    return (copied_until_ && time_ && *time_ < *copied_until_) ||
           (ordinal_ && *ordinal_ < own_from_);
  }
  // Of a sub-agent, only a question of its own may be its title.
  bool may_be_title() const { return !into_.is_child || !is_copied(); }

  void take_meta(JsonView meta) {
    if (into_.parts[part_].is_inherited || std::exchange(has_meta_, true)) {
      return;
    }
    into_.session.info.working_dir = meta["cwd"].text();
    provider_ = meta["model_provider"].text();
    const std::string base = meta["history_base"]["thread_id"].text();
    const std::string parent = meta["forked_from_id"].text();
    const bool is_pointer = !base.empty() && base != into_.session.info.id.str();
    if (auto id = SessionId::parse(is_pointer ? base : parent);
        id && *id != into_.session.info.id) {
      into_.fork_of = *std::move(id);
      copied_until_ = base.empty() ? time_of(meta["timestamp"]) : std::nullopt;
    }
    if (const JsonView agent = meta["source"]["subagent"]; agent) {
      into_.is_child = true;
      for (const JsonView by : {meta["parent_thread_id"], agent["thread_spawn"]["parent_thread_id"],
                                meta["session_id"]}) {
        if (std::string id = by.text();  // the last one is its own in some versions
            into_.parent.empty() && id != into_.session.info.id.str()) {
          into_.parent = std::move(id);
        }
      }
      own_from_ = meta["subagent_history_start_ordinal"].count();
    }
    if (auto id = SessionId::parse(into_.parent); id && own_from_ > 0 && !into_.fork_of) {
      into_.fork_of = *std::move(id);
    }
  }

  // The first version wrote a session as one object.
  void take_document(const Record& record, JsonView items) {
    const JsonView session = record.json["session"];
    note_time(into_.session.info, session["timestamp"]);
    items.each([&](JsonView item) {
      const std::int64_t at = record.at + (item.raw().data() - record.json.raw().data());
      take_item({item, at, record.line}, item);
    });
  }

  void take_event(const Record& record, JsonView event) {
    const std::string type = event["type"].text();
    const JsonView item = event["item"];
    if (type == "user_message") {
      confirm(event["message"].text());
      note_shown(record, event, false);
    } else if (type == "agent_message") {
      note_shown(record, event, true);
    } else if (type == "item_completed" && item["type"].text() == "UserMessage") {
      std::string text;
      item["content"].each([&](JsonView part) { text += part["text"].text(); });
      confirm(text);
    } else if (type == "token_count") {
      take_totals(event["info"]["total_token_usage"]);
    } else if (type == "thread_name_updated") {
      name_ = event["thread_name"].text();
    } else if (type == "thread_rolled_back") {
      roll_back(event["num_turns"].count());
    } else if (type == "turn_aborted" || is_end(type)) {
      if (type == "turn_aborted" || (answer_ != 0 && event["error"])) {
        cut_last_answer();
      }
      is_open_ = false;
    } else if (type == "task_started" || type == "turn_started") {
      end_open_turn();
      is_open_ = !into_.parts[part_].is_inherited && !is_copied();
      last_answer_.reset();
    }
  }

  void cut_last_answer() {
    if (last_answer_) {
      into_.tree.node(*last_answer_).detail |= codex::kCutBit;
    }
  }

  // A turn whose process was killed has no end.
  void end_open_turn() {
    if (std::exchange(is_open_, false)) {
      cut_last_answer();
    }
  }

  // Of a turn. An error after the last answer means that this is incomplete.
  static bool is_end(std::string_view event) {
    return event == "task_complete" || event == "turn_complete";
  }

  void note_shown(const Record& record, JsonView event, bool is_answer) {
    if (has_items_) {
      return;
    }
    Node node = node_at(record, part_, record.json);
    node.is_message = true;
    if (!is_answer && first_shown_.empty()) {
      first_shown_ = words_of_person(event["message"].text());
    }
    shown_.emplace_back(node, "");
  }

  // Confirms the first pending user message with this text.
  void confirm(const std::string& text) {
    has_confirmed_ = true;
    const auto found = std::ranges::find_if(questions_, [&](const Question& question) {
      return trimmed(question.text) == trimmed(text) ||
             (!trimmed(text).empty() && question.text.contains(trimmed(text)));
    });
    if (found == questions_.end()) {
      return;
    }
    turns_.push_back(into_.tree.before(found->node));
    first_shown_ = first_shown_.empty() && may_be_title() ? words_of_person(text) : first_shown_;
    questions_.erase(found);
  }

  void roll_back(std::int64_t turns) {
    if (turns <= 0 || turns_.empty()) {
      return;
    }
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(turns), turns_.size());
    into_.tree.continue_from(turns_[turns_.size() - count]);
    turns_.resize(turns_.size() - count);
    answer_ = 0;
  }

  void take_item(const Record& record, JsonView item) {
    const ItemKind kind = codex::kind_of_item(item);
    if (kind == ItemKind::none) {
      return;
    }
    has_items_ = true;
    Node node = node_at(record, part_, record.json);
    node.is_message = true;
    node.is_inherited = into_.parts[part_].is_inherited || is_copied();
    node.is_injected =
        kind == ItemKind::program || is_summary(record.json["metadata"]["compaction_output"]);
    if (kind == ItemKind::model && !node.is_injected) {
      answer_ = answer_ == 0 ? ++answers_ : answer_;
      node.group = node_id(cat("answer ", answer_));
      node.detail = name_number(into_, model_);
    } else if (kind != ItemKind::model) {
      answer_ = 0;
    }
    const bool is_person = kind == ItemKind::person;
    node.is_injected = node.is_injected || (is_person && codex::is_program_text(item));
    const auto node_index = into_.tree.add(node, record.json.raw());
    if (node_index && kind == ItemKind::model && !node.is_injected) {
      last_answer_ = node_index;
    }
    if (node_index && is_person && !node.is_injected) {
      const std::string text = codex::person_text(item);
      first_ = first_.empty() && may_be_title() ? words_of_person(text) : first_;
      if (codex::names_author(item)) {
        turns_.push_back(into_.tree.before(*node_index));
        first_shown_ =
            first_shown_.empty() && may_be_title() ? words_of_person(text) : first_shown_;
      } else {
        questions_.push_back({*node_index, text});
      }
    }
  }

  void add_summary(const Record& record, JsonView compacted) {
    if (compacted["message"].text().empty()) {
      return;
    }
    Node node = node_at(record, part_, record.json);
    node.is_message = true;
    node.is_injected = true;
    node.is_inherited = into_.parts[part_].is_inherited || is_copied();
    into_.tree.add(node, record.json.raw());
    answer_ = 0;
  }

  void take_usage(JsonView counts, const std::string& response) {
    const bool has_total = !std::exchange(has_usage_records_, true) && last_answer_ &&
                           into_.tree.nodes()[*last_answer_].usage != 0;
    if (!counts) {
      return;
    }
    if (has_total) {  // of the same request
      into_.usages[into_.tree.nodes()[*last_answer_].usage - 1] = codex::usage_of(counts, response);
      responses_.insert(response);
    } else if (response.empty() || responses_.insert(response).second) {
      add_usage(codex::usage_of(counts, response));
    }
  }

  // An answer has the usage of one request. A compaction is another one.
  void add_usage(Usage usage) {
    const bool is_inherited = into_.parts[part_].is_inherited || is_copied();
    const auto end = into_.tree.end();
    if (last_answer_ && into_.tree.nodes()[*last_answer_].usage == 0) {
      into_.tree.node(*last_answer_).usage = note_usage(into_.usages, std::move(usage));
    } else if (end && !is_inherited) {
      into_.other_usages.emplace(*end, note_usage(into_.usages, std::move(usage)));
    }
  }

  // Older versions report cumulative totals, repeatedly.
  void take_totals(JsonView total) {
    if (!total || has_usage_records_) {
      return;
    }
    const Usage now = codex::usage_of(total, "");
    Usage spent = now;
    if (now.input >= total_.input && now.output >= total_.output) {
      spent.input.value -= total_.input.value;
      spent.output.value -= total_.output.value;
      spent.cached.value -= total_.cached.value;
      spent.cache_written.value -= total_.cache_written.value;
      spent.reasoning.value -= total_.reasoning.value;
    }
    total_ = now;
    const bool is_new = spent.input.value > 0 || spent.output.value > 0;
    if (is_new) {
      spent.request_id = cat(into_.session.info.id.str(), "#", into_.usages.size());
      add_usage(std::move(spent));
    }
  }

  Transcript& into_;
  std::size_t part_ = 0;
  std::optional<Time> time_;
  std::optional<Time> copied_until_;
  std::optional<std::int64_t> ordinal_;
  std::int64_t own_from_ = 0;  // the ordinal of a sub-agent's first line of its own
  bool is_open_ = false;       // whether a turn has begun that has not ended
  bool has_meta_ = false;
  bool has_items_ = false;
  bool has_confirmed_ = false;
  bool has_usage_records_ = false;
  std::set<std::string> responses_;  // whose usage is known
  std::string provider_;
  std::string model_;
  std::string name_;
  std::string first_;
  std::string first_shown_;
  std::vector<Question> questions_;
  std::vector<std::optional<std::uint32_t>> turns_;  // the node before each turn
  std::vector<std::pair<Node, std::string>> shown_;
  std::optional<std::uint32_t> last_answer_;
  std::uint64_t answer_ = 0;  // the answer whose items are being read; 0 between answers
  std::uint64_t answers_ = 0;
  Usage total_;
};

// Thread-safe.
class Codex final : public JsonlTool {
 public:
  explicit Codex(fs::path location) : location_(std::move(location)) {}

  std::string_view name() const override { return "codex"; }

  std::vector<Located> locate(ReadReport& report) const override {
    const std::lock_guard lock(mutex_);
    files_ = codex::ThreadFiles::find(location_, report);
    return files_.sessions();
  }

  Result<> resolve(Located& located, ReadReport& report) const override {
    const std::lock_guard lock(mutex_);
    REPRISE_ASSIGN(auto parts, files_.parts_of(located.id, report));
    if (!parts.empty()) {
      located.parts = std::move(parts);
    }
    return {};
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return std::make_unique<CodexIndexer>(into);
  }

  Result<Message> message(const Transcript& transcript,
                          std::span<const Piece> pieces) const override {
    Message message = codex::message_of(pieces, transcript.session.info.provider);
    if (message.role == role::kAssistant) {
      message.model = name_of(transcript, pieces.front().node.detail & ~codex::kCutBit);
    }
    for (const Piece& piece : pieces) {
      if (piece.node.usage == 0) {
        continue;
      }
      Usage sum = transcript.usages[piece.node.usage - 1];
      store::add_usage(sum, message.usage.value_or(Usage{}));
      message.usage = std::move(sum);
    }
    return message;
  }

 private:
  fs::path location_;
  mutable std::mutex mutex_;
  mutable codex::ThreadFiles files_;  // from the last listing
};

}  // namespace

Result<bool> is_codex(const fs::path& location) {
  return has_lines_of(location, 4, is_codex_line);
}

Result<std::unique_ptr<Source>> open_codex(const fs::path& location, const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Codex>(location), location, options);
}

}  // namespace reprise::source
