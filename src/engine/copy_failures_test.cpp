#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/copy.h"
#include "engine/testing/copying.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

using testing::ElementsAre;

// Its calls do something else first, and its blobs are read by a function.
class Altered final : public Source, public BlobReader {
 public:
  explicit Altered(Source& inside) : inside_(inside), capabilities_(inside.capabilities()) {
    capabilities_.blob_reader = this;
  }
  Result<std::optional<Session>> find(const SessionId& id) override {
    return ++finds == 1 ? first_find(id) : inside_.find(id);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return inside_.list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return inside_.read(id, range, sink);
  }
  Result<> read_blob(const BlobHash& /*hash*/,
                     const std::function<Flow(std::string_view)>& sink) override {
    REPRISE_TRY(blob);
    sink(*blob);
    return {};
  }
  const SourceCapabilities& capabilities() const override { return capabilities_; }

  std::function<Result<std::optional<Session>>(const SessionId&)> first_find =
      [this](const SessionId& id) { return inside_.find(id); };
  Result<std::string> blob = fail(Code::not_found, "no blob");
  int finds = 0;

 private:
  Source& inside_;
  SourceCapabilities capabilities_;
};

class CopyingABlob : public Copying {
 protected:
  CopyingABlob() {
    const BlobHash hash = *source_->capabilities().blobs->put_blob("the bytes");
    Message image = message("user", "look", 1);
    image.blocks.emplace_back(
        ImageBlock{.media_type = "image/png", .blob = hash, .url = {}, .extra = {}});
    EXPECT_TRUE(source_->append(id_, {image}, {}));
  }
  Altered altered_{*source_};
};

TEST_F(CopyingABlob, ComparesItsHash) {
  altered_.blob = "other bytes";
  const auto copied = copy_session(altered_, *target_, id_);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_THAT(copied->damage, ElementsAre(testing::EndsWith("its bytes have another hash")));
}

TEST_F(CopyingABlob, ReportsAMissingOne) {
  const auto copied = copy_session(altered_, *target_, id_);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_THAT(copied->damage, ElementsAre(testing::EndsWith("no blob")));
}

TEST_F(CopyingABlob, StopsWhereItCannotBeReadThisTime) {
  altered_.blob = fail(Code::io, "too many open files");
  const auto failed = copy_session(altered_, *target_, id_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "too many open files");
  SmallStore small(open_memory_store(), {});
  EXPECT_FALSE(copy_session(altered_, small, id_)) << "it would be within the message";
  altered_.blob = "the bytes";
  EXPECT_EQ(copy_session(altered_, *target_, id_)->messages, 1);
  EXPECT_EQ(copy_session(altered_, small, id_)->messages, 1);
}

TEST_F(Copying, TriesAgainToFindASessionThatIsMoved) {
  add(*source_, id_, 0, 3, "text ");
  Altered moved(*source_);
  moved.first_find = [](const SessionId&) { return std::optional<Session>(); };
  const auto copied = copy_session(moved, *target_, id_);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied->messages, 3);
}

// Has a damaged message, and the others after it.
class DamagedStore final : public Store {
 public:
  explicit DamagedStore(Store& inside)
      : inside_(inside), capabilities_{SourceCapabilities(inside.capabilities())} {}
  Result<> create(const Session& session) override { return inside_.create(session); }
  Result<std::optional<Session>> find(const SessionId& id) override { return inside_.find(id); }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return inside_.update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return inside_.list(query); }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    return inside_.append(id, std::move(messages), std::move(options));
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_TRY(inside_.read(id, range, [&](Message&& message) {
      return message.seq == Seq{1} ? Flow::proceed : sink(std::move(message));
    }));
    return ReadReport{.damage = {{"row 1", "not JSON", ""}}, .damaged = 1};
  }
  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  Store& inside_;
  Capabilities capabilities_;
};

TEST_F(Copying, WhatCannotBeComparedIsNotAConflict) {
  add(*source_, id_, 0, 3, "text ");
  copy(*target_);
  DamagedStore damaged(*target_);
  const auto copied = copy_session(*source_, damaged, id_);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, Code::corrupt);
  EXPECT_EQ(copied.error().message, "the target cannot be compared: row 1: not JSON");
}

}  // namespace
}  // namespace reprise
