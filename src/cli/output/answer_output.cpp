#include "cli/output/answer_output.h"

#include <cstddef>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/output/tool_text.h"
#include "model/json_fields.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kInputShown = 100;

}  // namespace

TextAnswer::TextAnswer(Context& context)
    : context_(context),
      spinner_(context.console().err(),
               !context.globals().quiet && !context.globals().json &&
                   context.environment().find("TERM").value_or("dumb") != "dumb") {
  context.console().before_output([this] {
    spinner_.hide();
    const bool is_shared =
        context_.console().out().is_terminal() && context_.console().err().is_terminal();
    if (line_open_ && is_shared) {
      print("\n");
    }
  });
  spinner_.show();
}

TextAnswer::~TextAnswer() {
  context_.console().before_output({});
}

void TextAnswer::on_thinking(std::string_view text) {
  spinner_.add(text.size());
}

void TextAnswer::on_warning(std::string_view text) {
  context_.console().warn(text);
  resume_spinner();
}

void TextAnswer::on_note(std::string_view text) {
  context_.console().note(text);
  resume_spinner();
}

// Shows the spinner again after other output, but not within a line of the answer.
void TextAnswer::resume_spinner() {
  if (!line_open_) {
    spinner_.show();
  }
}

void TextAnswer::print(std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (context_.console().out().is_terminal()) {
    spinner_.hide();
  }
  context_.console().out().write(text);
  // A failure is reported at the end: the answer is still stored.
  (void)context_.console().out().flush();
  line_open_ = !text.ends_with('\n');
}

void TextAnswer::on_text(std::string_view text) {
  spinner_.add(text.size());
  if (context_.console().out().is_terminal()) {
    print(gate_.pass(text));
  } else {
    print(text);
  }
}

void TextAnswer::finish() {
  spinner_.hide();
  print(gate_.finish());
  if (line_open_) {
    print("\n");
  }
}

void TextAnswer::on_tool_call(const ToolUseBlock& call) {
  finish();
  context_.console().notice(
      cat("tool ", call.name, " ", tool_input_line(call.input.text(), kInputShown)));
}

void TextAnswer::on_tool_result(const ToolResultBlock& result) {
  if (result.is_error) {
    context_.console().notice(cat("the tool failed: ", grapheme_prefix(result.text, kInputShown)));
  }
  resume_spinner();
}

void JsonAnswer::print(std::string_view event) {
  begin_now();
  context_.console().print_json(event);
  // A failure is reported at the end.
  (void)context_.console().out().flush();
}

void JsonAnswer::begin_now() {
  if (unnamed_ != nullptr) {
    begin(std::exchange(unnamed_, nullptr)->session(), true);
  }
}

void JsonAnswer::begin(const Session& session, bool saved) {
  std::string out;
  json::ObjectWriter(out)
      .field("event", "session")
      .field("id", session.info.id.str())
      .field("provider", session.info.provider)
      .field("model", session.info.model)
      .field("saved", saved)
      .close();
  print(out);
}

void JsonAnswer::on_warning(std::string_view text) {
  begin_now();
  context_.console().warn(text);
}

void JsonAnswer::on_note(std::string_view text) {
  begin_now();
  context_.console().note(text);
}

void JsonAnswer::on_text(std::string_view text) {
  print(json::object_of("event", "delta", "text", text));
}

void JsonAnswer::on_thinking(std::string_view text) {
  print(json::object_of("event", "thinking", "text", text));
}

void JsonAnswer::on_tool_call(const ToolUseBlock& call) {
  std::string out;
  json::ObjectWriter(out)
      .field("event", "tool_use")
      .field("id", call.id)
      .field("name", call.name)
      .raw("input", call.input.text())
      .close();
  print(out);
}

void JsonAnswer::on_tool_result(const ToolResultBlock& result) {
  print(json::object_of("event", "tool_result", "tool_use_id", result.tool_use_id, "text",
                        result.text, "is_error", result.is_error));
}

// Stored answers and results follow a question, so their seq is not 0.
void JsonAnswer::on_message(const Message& stored) {
  if (stored.seq == Seq{}) {
    return;  // not stored
  }
  print(json::object_of("event", "message", "seq", stored.seq.value, "role", stored.role, "state",
                        stored.state == MessageState::complete ? "complete" : "incomplete"));
}

void JsonAnswer::on_usage(const Usage& usage) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("event", "usage");
  model::append_fields(object, usage);
  object.close();
  print(out);
}

void JsonAnswer::finish(Exit exit) {
  print(json::object_of("event", "done", "exit", static_cast<int>(exit)));
}

}  // namespace reprise::cli
