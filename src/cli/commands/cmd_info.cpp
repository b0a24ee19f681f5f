// reprise info: a session's metadata, and usage and cost per turn.

#include <algorithm>
#include <iterator>

#include "base/json_scan.h"
#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/output/table.h"
#include "cli/program/store_opener.h"
#include "cli/settings/time_value.h"
#include "model/json_fields.h"
#include "model/known_time.h"
#include "reprise/sessions.h"
#include "session/import.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kBeginningCharacters = 50;
constexpr std::size_t kInfoPieceBytes = 64 << 10;

// Mentions cached tokens only if there are any.
std::string tokens_text(const Usage& usage) {
  std::string out = cat(usage.input.value, " in, ", usage.output.value, " out");
  if (usage.cached.value != 0) {
    out += cat(", ", usage.cached.value, " read from the cache");
  }
  if (usage.cache_written.value != 0) {
    out += cat(", ", usage.cache_written.value, " written to it");
  }
  return out;
}

// A table of the turns, which is printed while they are read: a session may have very many.
class TurnTable {
 public:
  explicit TurnTable(Output& out) : out_(out) {}

  void add(const TurnSummary& turn) {
    rows_.push_back({std::to_string(turn.first.value), terminal_line(turn.model),
                     std::to_string(turn.messages), std::to_string(turn.usage.input.value),
                     std::to_string(turn.usage.output.value), cost_text(turn.usage)});
    if (rows_.size() == kRowsAtOnce) {
      print();
    }
  }

  // The columns of later rows are at least as wide as those before.
  void print() {
    if (rows_.empty()) {
      return;
    }
    const std::string table = format_table(columns_, rows_, kColumnsMax);
    out_.write(is_first_ ? "\n" + table : table.substr(table.find('\n') + 1));
    is_first_ = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::size_t width = display_width(columns_[i].heading);
      for (const std::vector<std::string>& row : rows_) {
        width = std::max(width, display_width(row[i]));
      }
      columns_[i].heading.assign(width, ' ');
    }
    rows_.clear();
  }

 private:
  static constexpr std::size_t kRowsAtOnce = 1000;
  static constexpr std::size_t kColumnsMax = 200;

  Output& out_;
  std::vector<Column> columns_ = {{.heading = "seq", .align = Alignment::right},
                                  {.heading = "model"},
                                  {.heading = "messages", .align = Alignment::right},
                                  {.heading = "in", .align = Alignment::right},
                                  {.heading = "out", .align = Alignment::right},
                                  {.heading = "cost", .align = Alignment::right}};
  std::vector<std::vector<std::string>> rows_;
  bool is_first_ = true;
};

// The state of the last answer; "" if it is complete.
std::string last_answer(const Exchange& last) {
  if (!last.incomplete && !last.running) {
    return "";
  }
  const std::string beginning = excerpt(last.answer, kBeginningCharacters);
  if (beginning.empty()) {
    return last.running ? "running" : "none";
  }
  return cat(last.running ? "running: " : "incomplete: ", beginning);
}

class Info final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", kSessionHelp, &sel_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Source* const source, context.stores().source());
    REPRISE_ASSIGN(const SessionInfo info,
                   context.stores().select(*source, sel_, Use::read, every_state()));
    REPRISE_ASSIGN(const SessionSnapshot snapshot, get_snapshot(*source, info.id));
    REPRISE_ASSIGN(const Exchange last, last_exchange(*source, info.id));
    const SideData side_data = read_side_data(*source, info.id);
    std::vector<Damage> damage;
    if (context.globals().json) {
      REPRISE_ASSIGN(damage, print_json(context, *source, snapshot, side_data));
    } else {
      Output& out = context.console().out();
      out.write(text(context, *source, snapshot.session, last, side_data.todos));
      out.write(side_data.signature.empty() ? ""
                                            : cat("signature     ", side_data.signature, "\n"));
      TurnTable table(out);
      REPRISE_ASSIGN(
          damage, read_turns(*source, info.id, [&](const TurnSummary& turn) { table.add(turn); }));
      table.print();
    }
    std::ranges::copy(side_data.damage, std::back_inserter(damage));
    warn_of_damage(context, damage);
    return damage.empty() ? Exit::success : Exit::failed;
  }

 private:
  // Data other than messages. Parts that cannot be read are reported as damage.
  struct SideData {
    std::vector<Todo> todos = {};
    std::string signature = {};
    std::vector<Damage> damage = {};
  };
  static SideData read_side_data(Source& source, const SessionId& id) {
    SideData out;
    const SourceCapabilities& can = source.capabilities();
    if (can.todo_reader != nullptr) {
      auto todos = can.todo_reader->todos(id);
      if (todos) {
        out.todos = *std::move(todos);
      } else {
        out.damage.push_back({"todos", todos.error().message, ""});
      }
    }
    if (can.signature_reader != nullptr) {
      const auto signature = can.signature_reader->signature(id);
      out.signature = signature ? to_string(*signature) : "";
      if (!signature) {
        out.damage.push_back({"signature", signature.error().message, ""});
      }
    }
    return out;
  }

  // Printed while the turns are read. Returns the unreadable parts of the history.
  static Result<std::vector<Damage>> print_json(Context& context, Source& source,
                                                const SessionSnapshot& snapshot,
                                                const SideData& side_data) {
    const Session& session = snapshot.session;
    std::vector<std::string> ids;
    ids.reserve(session.response_chain.size());
    for (const ResponseLink& link : session.response_chain) {
      ids.push_back(link.response_id);
    }
    std::string out;
    json::ObjectWriter object(out);
    object.raw("session", session_document(source, session, ids)).key("turns");
    json::ArrayWriter array(out);
    REPRISE_ASSIGN(std::vector<Damage> damage,
                   read_turns(source, session.info.id, [&](const TurnSummary& turn) {
                     array.item();
                     json::ObjectWriter item(out);
                     item.field("seq", turn.first.value)
                         .field("messages", turn.messages)
                         .field("model", turn.model);
                     model::append_fields(item, turn.usage);
                     item.close();
                     if (out.size() > kInfoPieceBytes) {
                       context.console().print_json_piece(std::exchange(out, ""));
                     }
                   }));
    array.close();
    if (snapshot.answer) {
      object.raw("unfinished", answer_document(*snapshot.answer));
    }
    object.raw("todos", todos_document(side_data.todos));
    if (!side_data.signature.empty()) {
      object.field("signature", side_data.signature);
    }
    std::vector<Damage> all = damage;
    std::ranges::copy(side_data.damage, std::back_inserter(all));
    object.raw("damage", damage_document(all));
    object.close();
    context.console().print_json(out);
    return damage;
  }

  static std::string text(Context& context, Source& source, const Session& session,
                          const Exchange& last, const std::vector<Todo>& todos) {
    const SessionInfo& info = session.info;
    const Time now = context.clock().now();
    std::string out;
    const auto line = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) {
        out += cat(name, std::string(14 - name.size(), ' '), terminal_line(value), "\n");
      }
    };
    line("title", info.title);
    line("id", info.id.str());
    line("short id", brief_id(source, info.id));
    line("state", state_text(info));
    line("mode", info.mode);
    line("provider", info.provider);
    line("model", info.model);
    line("folder", info.working_dir);
    line("messages", std::to_string(info.head.value));
    line("last answer", last_answer(last));
    const auto when = [now](Time time) {
      return is_known(time) ? cat(format_time(time), " (", age_text(time, now), ")") : "unknown";
    };
    line("started", when(info.created_at));
    line("last activity", when(info.updated_at));
    line("closed", info.closed_at ? format_time(*info.closed_at) : "");
    line("forked from",
         info.forked_from ? cat(info.forked_from->session.str(), " at ", info.forked_from->at.value)
                          : "");
    if (const auto origin = origin_of(session)) {
      line("imported", cat(origin->tool, ":", origin->id,
                           origin->gone == Gone::session    ? " (gone there)"
                           : origin->gone == Gone::messages ? " (with messages that are gone there)"
                                                            : ""));
    }
    line("todos", todos.empty() ? "" : std::to_string(todos.size()));
    const Usage usage = total_usage(session);
    line("tokens", tokens_text(usage));
    const RawJson* const token_count = json::find_field(session.extra, "token_count");
    line("other tokens", token_count == nullptr ? "" : terminal_line(token_count->text()));
    const std::string& priced_by = usage.price_source;
    line("cost", cat(usage.cost ? cost_text(usage) : "",
                     priced_by.empty() ? "" : cat(" (by ", priced_by, ")")));
    return out;
  }

  std::string sel_;
};

}  // namespace

std::unique_ptr<Command> make_info() {
  return std::make_unique<Info>();
}

}  // namespace reprise::cli
