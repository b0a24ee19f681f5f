#include <algorithm>

#include "engine/origin.h"
#include "export/writer.h"  // IWYU pragma: export
#include "model/attachment.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"

namespace reprise::exporting {
namespace {

struct BlockParts {
  Part kind;
  bool has_signature = false;
  bool has_fields = false;
};

BlockParts parts_of(const Block& block) {
  struct Visitor {
    BlockParts operator()(const TextBlock& text) const {
      return {Part::message_fields, false, !text.extra.empty()};
    }
    BlockParts operator()(const ThinkingBlock& thinking) const {
      return {Part::thinking, !thinking.signature.empty(), !thinking.extra.empty()};
    }
    BlockParts operator()(const ToolUseBlock& call) const {
      return {Part::tools, false, !call.extra.empty()};
    }
    BlockParts operator()(const ToolResultBlock& /*result*/) const { return {Part::tools}; }
    BlockParts operator()(const ImageBlock& image) const {
      return {model::is_pdf(image) ? Part::documents : Part::images};
    }
    BlockParts operator()(const UnknownBlock& /*block*/) const { return {Part::other_blocks}; }
  };
  return std::visit(Visitor{}, block);
}

std::string_view name_of(Part part) {
  switch (part) {
    case Part::title:
      return "the title";
    case Part::system_prompt:
      return "the system prompt";
    case Part::settings:
      return "the session's settings";
    case Part::prompt_history:
      return "the history of prompts";
    case Part::todos:
      return "the todos";
    case Part::artefacts:
      return "the files of its steps";
    case Part::session_fields:
      return "fields of the session from other programs";
    case Part::system_messages:
      return "messages that are neither the user's nor the model's";
    case Part::incomplete_answers:
      return "whether answers are incomplete";
    case Part::times:
      return "the messages' times";
    case Part::authors:
      return "the messages' authors";
    case Part::models:
      return "the messages' models";
    case Part::usage:
      return "the messages' usage";
    case Part::response_ids:
      return "the messages' response ids";
    case Part::injected:
      return "which messages programs wrote";
    case Part::message_fields:
      return "fields of messages from other programs";
    case Part::thinking:
      return "thinking";
    case Part::signatures:
      return "the signatures of thinking";
    case Part::tools:
      return "calls of tools and their results";
    case Part::images:
      return "images";
    case Part::documents:
      return "documents";
    case Part::other_blocks:
      return "blocks of unknown types";
  }
  return "";
}

void add(Job& job, Parts parts, Part part, bool has_part) {
  if (has_part && parts.has(part)) {
    job.losses.emplace(name_of(part));
  }
}

// What Reprise itself notes for later requests means nothing elsewhere.
bool is_users_field(const ExtraField& field) {
  return field.name != "maker" && field.name != "refused";
}

}  // namespace

Result<> add_losses(Job& job, Parts parts) {
  const Session& session = job.session;
  add(job, parts, Part::title, !session.info.title.empty());
  add(job, parts, Part::system_prompt, !session.system_prompt.empty());
  add(job, parts, Part::settings, !session.config.is_null());
  add(job, parts, Part::prompt_history, !session.prompt_history.empty());
  add(job, parts, Part::session_fields, !session.extra.empty());
  add(job, parts, Part::response_ids, !session.response_chain.empty());
  if (TodoReader* const todos = job.source.capabilities().todo_reader;
      todos != nullptr && parts.has(Part::todos)) {
    REPRISE_ASSIGN(const std::vector<Todo> list, todos->todos(session.info.id));
    add(job, parts, Part::todos, !list.empty());
  }
  if (ArtefactReader* const files = job.source.capabilities().artefact_reader;
      files != nullptr && parts.has(Part::artefacts)) {
    REPRISE_ASSIGN(const auto list, files->list_artefacts(session.info.id));
    add(job, parts, Part::artefacts,
        std::ranges::any_of(list, [](const ArtefactReader::Entry& entry) {
          return !entry.name.starts_with(kOriginalsFolder);
        }));
  }
  return {};
}

void add_losses(Job& job, const Message& message, Parts parts) {
  add(job, parts, Part::system_messages,
      message.role != role::kUser && message.role != role::kAssistant &&
          message.role != role::kTool);
  add(job, parts, Part::injected, is_injected(message));
  add(job, parts, Part::incomplete_answers, message.state == MessageState::incomplete);
  add(job, parts, Part::times, is_known(message.created_at));
  add(job, parts, Part::authors, message.author.has_value());
  add(job, parts, Part::models, !message.model.empty());
  add(job, parts, Part::usage, message.usage.has_value());
  add(job, parts, Part::response_ids, !message.response_id.empty());
  add(job, parts, Part::message_fields, std::ranges::any_of(message.extra, is_users_field));
  for (const Block& block : message.blocks) {
    const BlockParts has = parts_of(block);
    if (has.kind != Part::message_fields) {
      add(job, parts, has.kind, true);
    }
    add(job, parts, Part::signatures, has.has_signature);
    add(job, parts, Part::message_fields, has.has_fields);
  }
}

}  // namespace reprise::exporting
