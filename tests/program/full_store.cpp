#include "program/full_store.h"

#include "base/json_write.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

SessionId numbered_id(int number) {
  return session_id(cat("01990000-0000-7000-8000-00000000000", number));
}

RawJson quoted(const std::string& text) {
  return RawJson::string(text);
}

Session with_everything(int number, const Spelling& spell, const std::string& folder) {
  Session session{.info = {.id = numbered_id(number)}};
  session.info.title = spell(cat("title-", number));
  session.info.mode = spell("mode");
  session.info.provider = spell("provider");
  session.info.model = spell("model");
  session.info.working_dir = folder;
  session.info.created_at = at(10 * number);
  session.info.updated_at = at(10 * number + 1);
  session.system_prompt = spell("system_prompt");
  session.config = raw(cat("{\"setting\":", quoted(spell("config")).text(), "}"));
  session.prompt_history = {spell("prompt_history")};
  session.response_chain = {{spell("chain_provider"), spell("chain_response")}};
  return session;
}

// If the name is valid: names contain no control characters.
Author author(const Spelling& spell) {
  auto name = Author::parse(spell("author"));
  return name ? *std::move(name)
              : must(Author::parse("\xe2\x80\xae"
                                   "author"));
}

Message question(const Spelling& spell, int second) {
  Message message;
  message.role = role::kUser;
  message.created_at = at(second);
  message.author = author(spell);
  message.blocks = {
      TextBlock{spell("question"), {}},
      ImageBlock{"image/png", {}, spell("image_url"), {}},
      ImageBlock{"application/pdf", {}, spell("document_url"), {}},
  };
  return message;
}

Message answer(const Spelling& spell, Blobs* blobs, int second) {
  Message message;
  message.role = role::kAssistant;
  message.created_at = at(second);
  message.provider = spell("message_provider");
  message.model = spell("message_model");
  message.response_id = spell("message_response");
  message.usage = Usage{.input = {1001},
                        .output = {1002},
                        .reasoning = {1003},
                        .cached = {1004},
                        .cache_written = {1005},
                        .cost = Money{1'006'000},
                        .price_source = spell("price_source"),
                        .request_id = spell("request_id"),
                        .extra = {}};
  message.state = MessageState::incomplete;
  message.extra = {{"message_extra", quoted(spell("message_extra"))}};
  message.blocks = {
      TextBlock{spell("answer"), {{"text_extra", quoted(spell("text_extra"))}}},
      ThinkingBlock{spell("thinking"), spell("signature"), {}},
      ToolUseBlock{spell("tool_use_id"),
                   spell("tool_name"),
                   raw(cat("{\"argument\":", quoted(spell("argument")).text(), "}")),
                   {}},
      UnknownBlock{spell("block_type"), raw(cat("{\"type\":", quoted(spell("block_type")).text(),
                                                ",\"of_its_own\":\"x\"}"))},
  };
  if (blobs != nullptr) {
    message.blocks.emplace_back(
        ImageBlock{"image/jpeg", must(blobs->put_blob(spell("image"))), "", {}});
  }
  return message;
}

Message result(const Spelling& spell, Blobs* blobs, int second) {
  Message message;
  message.role = role::kUser;
  message.created_at = at(second);
  std::optional<BlobHash> blob;
  if (blobs != nullptr) {
    blob = must(blobs->put_blob(spell("whole_result")));
  }
  message.blocks = {ToolResultBlock{spell("tool_use_id"), spell("result"), true, blob, {}}};
  return message;
}

void interrupt(Store& store, const SessionId& id, const Spelling& spell) {
  const OperationId running = operation_id("interrupted");
  Owner gone = this_process();
  gone.started += 1;  // another process with the same id
  must(store.append(id, {user(spell("question"), at(51))},
                    {.begin_partial = PartialStart{running, gone, "echo", "m", at(52)}}));
  const std::vector<Block> delta = {TextBlock{spell("partial"), {}}};
  must(store.capabilities().partials->add_partial(id, running, delta));
}

}  // namespace

FullStore fill(Store& store, const Spelling& spell, const std::string& folder) {
  const FullStore ids = {numbered_id(1), numbered_id(2), numbered_id(3), numbered_id(4),
                         numbered_id(5)};
  const Capabilities& can = store.capabilities();
  must(store.create(with_everything(1, spell, folder)));
  must(store.append(ids.full,
                    {question(spell, 12), answer(spell, can.blobs, 13),
                     result(spell, can.blobs, 14), assistant(spell("last"), at(15))},
                    {}));
  if (can.todos != nullptr) {
    must(can.todos->edit_todos(ids.full, [&](std::vector<Todo>& todos) -> Result<> {
      todos = {{spell("todo"), TodoStatus::in_progress, spell("active_form"), {}},
               {spell("later"), TodoStatus::pending, "", {}},
               {spell("done"), TodoStatus::completed, "", {}}};
      return {};
    }));
  }
  if (can.forking != nullptr) {
    must(can.forking->fork(ids.full, Seq{2}, with_everything(2, spell, folder)));
    must(store.append(ids.fork, {user(spell("question"), at(22))}, {}));
  }
  must(store.create(with_everything(3, spell, folder)));
  must(store.append(ids.closed, {user(spell("question"), at(31))}, {}));
  must(store.update(ids.closed, {.state = SessionState::closed, .closed_at = at(39)}));
  must(store.create(with_everything(4, spell, folder)));
  if (can.trash != nullptr) {
    must(can.trash->trash(ids.trashed, at(49)));
  }
  must(store.create(with_everything(5, spell, folder)));
  if (can.partials != nullptr) {
    interrupt(store, ids.interrupted, spell);
  }
  return ids;
}

}  // namespace reprise::test
