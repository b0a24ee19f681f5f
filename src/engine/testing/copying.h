#pragma once

// What the tests of copying share: a session to copy, and a store that holds less.

#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise {

inline Message message(std::string_view role, std::string_view text, std::int64_t second) {
  Message message;
  message.role = role;
  message.blocks.emplace_back(text_block(text));
  message.created_at = Time(std::chrono::seconds(1'700'000'000 + second));
  message.model = "m";
  return message;
}

// Holds less than its inner store, and has no optional interfaces.
class SmallStore final : public Store {
 public:
  SmallStore(std::unique_ptr<Store> inside, SourceCapabilities holds)
      : inside_(std::move(inside)), capabilities_{holds} {}
  Result<> create(const Session& session) override { return inside_->create(session); }
  Result<std::optional<Session>> find(const SessionId& id) override { return inside_->find(id); }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return inside_->update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return inside_->list(query); }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    if (fail_at_ && --*fail_at_ == 0) {
      return fail(failure_, failure_ == Code::io ? "the disk is full" : "the session is too large");
    }
    durabilities_.push_back(options.durability);
    return inside_->append(id, std::move(messages), std::move(options));
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return inside_->read(id, range, sink);
  }
  const Capabilities& capabilities() const override { return capabilities_; }

  void fail_at(int append, Code code = Code::io) {
    fail_at_ = append;
    failure_ = code;
    capabilities_.trash = inside_->capabilities().trash;
  }
  void set_beginning(DeferredCreation* beginning) { capabilities_.deferred_creation = beginning; }
  // Durabilities of the appends so far.
  const std::vector<Durability>& durabilities() const { return durabilities_; }

 private:
  std::unique_ptr<Store> inside_;
  Capabilities capabilities_;
  std::optional<int> fail_at_;
  Code failure_ = Code::io;
  std::vector<Durability> durabilities_;
};

class Copying : public testing::Test {
 protected:
  Copying() {
    Session session{.info = {.id = id_}};
    session.info.title = "one";
    session.info.mode = "draft";
    session.info.working_dir = "/here";
    session.system_prompt = "be brief";
    session.config = *RawJson::parse(R"({"a":1.0})");
    session.response_chain = {{"openai-responses", "r1"}};
    session.info.created_at = Time(std::chrono::seconds(1'700'000'000));
    session.info.updated_at = session.info.created_at;
    EXPECT_TRUE(source_->create(session));
  }

  static void add(Store& store, const SessionId& id, int from, int to, std::string_view text) {
    std::vector<Message> messages;
    for (int i = from; i < to; ++i) {
      messages.push_back(message(i % 2 == 0 ? "user" : "assistant", cat(text, i), i));
    }
    ASSERT_TRUE(store.append(id, std::move(messages), {}));
  }

  CopiedSession copy(Store& target) {
    auto copied = copy_session(*source_, target, id_);
    EXPECT_TRUE(copied) << copied.error().message;
    return copied.value_or(CopiedSession());
  }

  SessionId id_ = make_session_id(system_clock(), system_entropy());
  std::unique_ptr<Store> source_ = open_memory_store();
  std::unique_ptr<Store> target_ = open_memory_store();
};

}  // namespace reprise
