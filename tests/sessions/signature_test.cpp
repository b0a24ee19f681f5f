#include "store/sessions/signature.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sessions/fixture.h"
#include "store/document/document_format.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using std::filesystem::path;
using store::sessions::host_name;
using store::sessions::read_signed;
using store::sessions::SignedText;
using store::sessions::SigningKey;

std::string signature_of(const std::string& payload, const SigningKey& key) {
  const std::array<std::string_view, 1> pieces = {payload};
  return must(key.sign(pieces));
}

TEST(Signature, MatchesTheOriginal) {
  const SignedText text = must(read_signed(fixture()));
  EXPECT_EQ(text.signature, "oD0AFupdoviLVTTie5IMw4WOr8iR+nloLvtjZ1DHa3c=");
  EXPECT_EQ(text.host, "");
  EXPECT_EQ(signature_of(text.payload, fixture_key()), text.signature);
}

TEST(Signature, DoesNotDependOnTheSpelling) {
  std::string json = fixture();
  const auto replace = [&json](std::string_view from, std::string_view to) {
    const std::size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
  };
  replace("1.05e-4", "0.000105");
  replace("{\n", "{ ");
  replace("\"alpha\"", R"("\u0061lpha")");
  replace("\"version\": 1\n", "\"version\" :\t1 ");
  replace("  \"name\": \"\\u0061lpha\",\n", "");
  replace("\"version\"", "\"name\":\"alpha\",\"version\"");
  EXPECT_EQ(must(read_signed(json)).payload, must(read_signed(fixture())).payload);
}

TEST(Signature, CoversEverythingElse) {
  const std::string signature = *must(read_signed(fixture())).signature;
  for (const std::string_view part : {"alpha", "4096", "user", "Running tests", "python"}) {
    std::string changed = fixture();
    changed[changed.find(part)] ^= 1;
    EXPECT_NE(signature_of(must(read_signed(changed)).payload, fixture_key()), signature) << part;
  }
}

TEST(Signature, CoversWholeWrittenFiles) {
  store::FileSession file = read(fixture());
  store::add_message(file.stored, full_message());
  file.stored.session.extra.push_back({"zeta", raw(R"({"b":1e3,"a":"\u0041"})")});
  file.raw_entries.push_back({3, raw(R"({"b":0.10,"a":1})")});
  const SigningKey key = fixture_key();
  for (int round = 0; round < 3; ++round) {
    const std::string json = must(store::sessions::write_session(file, &key));
    const SignedText text = must(read_signed(json));
    EXPECT_EQ(text.host, "fixture");
    EXPECT_EQ(signature_of(text.payload, key), text.signature) << round;
    // Once from the cached encoding, and once from the file.
    store::add_message(file.stored, user("more", at(round)));
    if (round == 1) {
      file = read(json);
    }
  }
}

TEST(Signature, OfNullIsMissing) {
  EXPECT_EQ(must(read_signed("{}")).signature, std::nullopt);
  EXPECT_EQ(must(read_signed(R"({"signature":null})")).signature, std::nullopt);
  EXPECT_EQ(must(read_signed(R"({"signature":7})")).signature, "") << "not the same as none";
  EXPECT_TRUE(fails(read_signed("[]"), Code::corrupt));
}

TEST(SigningKey, NeedsALongSecret) {
  const TemporaryFolder folder;
  const path file = folder.path() / "machine_secret";
  EXPECT_EQ(must(store::sessions::read_secret(file)), std::nullopt);
  must(replace_file(file, "short"));
  EXPECT_EQ(must(store::sessions::read_secret(file)), std::nullopt);
  must(replace_file(file, kFixtureSecret));
  EXPECT_EQ(must(store::sessions::read_secret(file)), kFixtureSecret);
}

// A store with a secret beside it, like that of the original program.
class SignedStore : public testing::Test {
 protected:
  SignedStore() {
    must(make_private_folders(sessions()));
    must(replace_file(folder_.path() / "machine_secret", kFixtureSecret));
  }

  path sessions() const { return folder_.path() / "sessions"; }
  path file(std::string_view id = kFixtureId) const { return sessions() / cat(id, ".json"); }
  std::unique_ptr<Store> open() { return must(open_sessions_store(sessions())); }
  Signature signature(std::string_view id = kFixtureId) {
    const auto store = open();
    return must(store->capabilities().signatures->signature(session_id(id)));
  }
  // Writes a file like the original would on this host.
  void put_signed(std::string_view id, std::string_view host) {
    std::string json = file_with(entry("user", "a", "2025-12-16T15:00:01Z"));
    json.replace(json.find(kFixtureId), kFixtureId.size(), id);
    const SigningKey key = must(SigningKey::derive(kFixtureSecret, host));
    const std::string signature = signature_of(must(read_signed(json)).payload, key);
    json.insert(1, cat("\"signature\":\"", signature, "\","));
    must(replace_file(file(id), json));
  }
  void change(const path& file) {
    std::string json = must(read_file(file));
    json.replace(json.find("\"n\""), 3, "\"x\"");
    must(replace_file(file, json));
  }

  TemporaryFolder folder_;
};

TEST_F(SignedStore, HasFourResults) {
  put_signed(kFixtureId, host_name());
  EXPECT_EQ(signature(), Signature::verified);
  change(file());
  EXPECT_EQ(signature(), Signature::failed);
  must(replace_file(file(), file_with("")));
  EXPECT_EQ(signature(), Signature::not_signed);
  put_signed(kFixtureId, host_name());
  std::filesystem::remove(folder_.path() / "machine_secret");
  EXPECT_EQ(signature(), Signature::unverifiable);
  must(replace_file(folder_.path() / "machine_secret", "short"));
  EXPECT_EQ(signature(), Signature::unverifiable);
}

TEST_F(SignedStore, IsUnverifiableIfAllWereSignedOnAnotherHost) {
  put_signed("one", "elsewhere");
  EXPECT_EQ(signature("one"), Signature::failed) << "alone it may as well have been changed";
  put_signed("two", "elsewhere");
  EXPECT_EQ(signature("one"), Signature::unverifiable);
  put_signed("three", host_name());
  EXPECT_EQ(signature("one"), Signature::failed);
  EXPECT_EQ(signature("three"), Signature::verified);
}

TEST_F(SignedStore, IsComparedWithEightOthersAtMost) {
  put_signed("one", "elsewhere");
  for (const char* const name : {"a", "b", "c", "d", "e", "f", "g"}) {
    put_signed(name, "elsewhere");
  }
  put_signed("z", host_name());
  EXPECT_EQ(signature("one"), Signature::failed) << "the eighth was signed here";
  put_signed("h", "elsewhere");
  EXPECT_EQ(signature("one"), Signature::unverifiable) << "nobody asks the ninth";
}

TEST_F(SignedStore, SignsWhatItWrites) {
  must(replace_file(file(), file_with("")));
  const auto store = open();
  must(store->append(session_id(kFixtureId), messages(2), {}));
  EXPECT_EQ(signature(), Signature::verified);
  must(store->update(session_id(kFixtureId), {.state = SessionState::active}));
  EXPECT_EQ(signature(), Signature::verified);
  change(sessions() / "active" / cat(kFixtureId, ".json"));
  EXPECT_EQ(signature(), Signature::failed);
}

// The file names its host: another host with the same secret can verify it.
TEST_F(SignedStore, ChecksOurFilesOfAnotherHost) {
  const store::FileSession session = read(file_with(""));
  const SigningKey key = must(SigningKey::derive(kFixtureSecret, "elsewhere"));
  must(replace_file(file(), written(session, &key)));
  EXPECT_EQ(signature(), Signature::verified);
  change(file());
  EXPECT_EQ(signature(), Signature::failed);
}

TEST_F(SignedStore, RefusesToChangeFailedFilesUntilAccepted) {
  put_signed(kFixtureId, host_name());
  change(file());
  const std::string before = must(read_file(file()));
  const SessionId id = session_id(kFixtureId);
  const auto store = open();
  EXPECT_TRUE(fails(store->append(id, messages(1), {}), Code::corrupt));
  EXPECT_TRUE(fails(store->update(id, {.state = SessionState::active}), Code::corrupt));
  EXPECT_EQ(must(read_file(file())), before) << "byte for byte";
  must(store->capabilities().trash->trash(id, at(0)));
  must(store->capabilities().trash->restore(id));
  EXPECT_EQ(must(read_file(file())), before) << "to the trash and back, too";
  EXPECT_EQ(must(read_all(*store, id)).size(), 1U) << "it can be read";
  must(store->capabilities().signatures->accept(id));
  EXPECT_EQ(signature(), Signature::verified);
  EXPECT_TRUE(works(store->append(id, messages(1), {})));
}

TEST_F(SignedStore, NoticesAChangeWhileItIsOpen) {
  const SessionId id = session_id(kFixtureId);
  put_signed(kFixtureId, host_name());
  const auto store = open();
  must(store->append(id, messages(1), {}));
  change(file());
  EXPECT_TRUE(fails(store->append(id, messages(1), {}), Code::corrupt));
}

TEST_F(SignedStore, WritesUnsignedWithoutTheSecret) {
  put_signed(kFixtureId, host_name());
  std::filesystem::remove(folder_.path() / "machine_secret");
  const auto store = open();
  must(store->append(session_id(kFixtureId), messages(1), {}));
  EXPECT_EQ(must(read_file(file())).find("\"signature\""), std::string::npos);
  EXPECT_EQ(signature(), Signature::not_signed);
}

}  // namespace
}  // namespace reprise::test
