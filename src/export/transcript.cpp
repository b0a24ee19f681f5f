#include "export/transcript.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "export/cited_sources.h"
#include "model/attachment.h"
#include "model/known_time.h"
#include "reprise/select.h"

namespace reprise {
namespace {

constexpr std::size_t kShortLines = 8;
constexpr std::size_t kShortCharacters = 600;
constexpr std::size_t kTranscriptPiece = 1 << 20;

std::string shortened(std::string_view text, Detail detail) {
  if (detail == Detail::full) {
    return std::string(text);
  }
  std::string_view beginning = grapheme_prefix(text, kShortCharacters);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < beginning.size(); ++at) {
    if (beginning[at] == '\n' && ++lines == kShortLines) {
      beginning = beginning.substr(0, at);
    }
  }
  return beginning.size() == text.size() ? std::string(text)
                                         : cat(beginning, "\n… (", text.size() - beginning.size(),
                                               " more bytes, shown by --full)");
}

// Uses a fence longer than any in the text, so that the text cannot close the block.
std::string fenced(std::string_view info, std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return cat(fence, info, "\n", text, text.ends_with('\n') ? "" : "\n", fence, "\n");
}

std::string as_quote(std::string_view text) {
  std::string out = "> ";
  for (const char c : trimmed(text)) {
    out += c;
    if (c == '\n') {
      out += "> ";
    }
  }
  return out + "\n";
}

struct BlockText {
  Detail detail;

  std::string operator()(const TextBlock& block) const {
    return cat(terminal_text(block.text), block.text.ends_with('\n') ? "" : "\n");
  }
  std::string operator()(const ThinkingBlock& block) const {
    return as_quote(shortened(terminal_text(cat("(thinking) ", block.text)), detail));
  }
  std::string operator()(const ToolUseBlock& block) const {
    return cat("tool call `", terminal_line(block.name), "` (", terminal_line(block.id), ")\n",
               fenced("json", shortened(terminal_text(block.input.text()), detail)));
  }
  std::string operator()(const ToolResultBlock& block) const {
    return cat(block.is_error ? "tool error (" : "tool result (", terminal_line(block.tool_use_id),
               ")\n", fenced("", shortened(terminal_text(block.text), detail)));
  }
  std::string operator()(const ImageBlock& block) const {
    std::string out = model::is_pdf(block) ? "(document" : "(image";
    for (const std::string& part : {block.media_type, block.url}) {
      if (!part.empty() && !part.starts_with("data:")) {
        out += cat(", ", terminal_line(part));
      }
    }
    return out + ")\n";
  }
  std::string operator()(const UnknownBlock& block) const {
    return cat("(a block of type ", terminal_line(block.type), ")\n",
               fenced("json", shortened(terminal_text(block.json.text()), detail)));
  }
};

std::string row(std::string_view name, std::string_view value) {
  return value.empty() ? "" : cat("- ", name, ": ", terminal_line(value), "\n");
}

std::string with_heading(const Message& message, std::string_view note, Detail detail) {
  std::string out = cat("\n## ", message.seq.value, " ", terminal_line(message.role),
                        is_injected(message) ? " (injected)" : "");
  if (message.author) {
    out += cat(" · ", terminal_line(message.author->str()));
  }
  if (is_known(message.created_at)) {
    out += cat(" · ", format_time(message.created_at));
  }
  if (!message.model.empty()) {
    out += cat(" · ", terminal_line(message.model));
  }
  out += cat(note, "\n");
  for (const Block& block : message.blocks) {
    out += cat("\n", transcript_block(block, detail));
  }
  return out + transcript_sources(message);
}

}  // namespace

std::string transcript_sources(const Message& message) {
  std::string out;
  int number = 0;
  for (const CitedSource& source : cited_sources(message)) {
    out += cat(out.empty() ? "\nSources:\n\n" : "", ++number, ". ", source_line(source), "\n");
  }
  return out;
}

std::string transcript_head(Source* source, const Session& session) {
  const SessionInfo& info = session.info;
  std::string out =
      cat("# ", info.title.empty() ? "(no title)" : terminal_line(info.title), "\n\n");
  if (source != nullptr) {
    out += row("id", info.id.str());
    const std::string brief = unique_short_id(*source, info.id).value_or(short_id(info.id));
    out += row("short id", brief == info.id.str() ? "" : brief);
  }
  out += row("state", is_interrupted(info) ? "interrupted" : to_string(info.state));
  out += row("mode", info.mode);
  const bool has_both = !info.provider.empty() && !info.model.empty();
  out += row("model", cat(info.provider, has_both ? ", " : "", info.model));
  out += row("folder", info.working_dir);
  out += row("started", is_known(info.created_at) ? format_time(info.created_at) : "unknown");
  if (info.forked_from) {
    out += row("forked from",
               cat(info.forked_from->session.str(), " at ", info.forked_from->at.value));
  }
  if (!session.system_prompt.empty()) {
    out += cat("\n## system\n\n", terminal_text(session.system_prompt), "\n");
  }
  return out;
}

std::string transcript_prompts(const std::vector<std::string>& newest_first) {
  std::string out = newest_first.empty() ? "" : "\n## prompts, newest first\n";
  for (const std::string& prompt : newest_first) {
    out += cat("\n", as_quote(terminal_text(prompt)));
  }
  return out;
}

std::string transcript_block(const Block& block, Detail detail) {
  return std::visit(BlockText{detail}, block);
}

std::string transcript_message(const Message& message, Detail detail) {
  const bool is_incomplete = message.state == MessageState::incomplete;
  return with_heading(message, is_incomplete ? " · incomplete" : "", detail);
}

std::string_view unfinished_note(const UnfinishedAnswer& answer) {
  return answer.owner == OwnerState::alive ? " · running" : " · incomplete";
}

bool is_unanswered(const SessionSnapshot& now, const Message* last) {
  const bool has_answer =
      now.answer && (now.answer->owner == OwnerState::alive || !now.answer->message.blocks.empty());
  return !has_answer && last != nullptr && last->role != role::kAssistant &&
         (now.answer || now.session.info.incomplete);
}

std::string transcript_end(const SessionSnapshot& now, const Message* last, Detail detail) {
  if (is_unanswered(now, last)) {
    return cat("\n", kNoAnswer, "\n");
  }
  return now.answer ? with_heading(now.answer->message, unfinished_note(*now.answer), detail) : "";
}

Result<> write_transcript(Source* source, const Session& session, std::vector<Message> unsaved,
                          const std::filesystem::path& named) {
  REPRISE_ASSIGN(const std::filesystem::path file, resolve_folder_of(named));
  auto opened = open_file(file, O_WRONLY | O_CREAT | O_EXCL);
  if (!opened && opened.error().os_errno == EEXIST) {
    return fail(Code::conflict, cat(file.string(), " already exists; choose another file"), EEXIST);
  }
  if (!opened) {
    return std::unexpected(std::move(opened).error());
  }
  SessionSnapshot now{session};
  if (source != nullptr) {
    REPRISE_ASSIGN(now, get_snapshot(*source, session.info.id));
  }
  std::string piece = transcript_head(source, now.session);
  std::optional<Message> last;
  const auto add = [&](Message message) -> Result<> {
    piece += transcript_message(message, Detail::full);
    last = std::move(message);
    return piece.size() < kTranscriptPiece
               ? Result<>()
               : write_all(opened->get(), std::exchange(piece, ""), file);
  };
  Result<> written;
  if (source != nullptr) {
    REPRISE_TRY(source->read(session.info.id, now.range(), [&](Message&& message) {
      written = add(std::move(message));
      return written ? Flow::proceed : Flow::stop;
    }));
  }
  for (std::size_t i = 0; written && i < unsaved.size(); ++i) {
    unsaved[i].seq = last ? last->seq.next() : Seq{0};
    written = add(std::move(unsaved[i]));
  }
  REPRISE_TRY(written);
  if (unsaved.empty()) {
    piece += transcript_end(now, last ? &*last : nullptr, Detail::full);
  }
  REPRISE_TRY(write_all(opened->get(), piece, file));
  return opened->close(file);
}

}  // namespace reprise
