#include "provider/kinds.h"

#include <gtest/gtest.h>

#include <set>

#include "reprise/provider.h"

namespace reprise {
namespace {

TEST(ProviderKinds, AreCompleteAndFound) {
  std::set<std::string_view> names;
  for (const ProviderKind& kind : provider_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(find_provider_kind(kind.name), &kind);
    EXPECT_FALSE(kind.protocol.empty());
    EXPECT_FALSE(kind.default_model.empty());
    EXPECT_FALSE(kind.dev_model.empty());
    const bool has_server = !kind.default_url.empty();
    EXPECT_EQ(has_server, kind.name != "echo");
    EXPECT_EQ(has_server, !kind.key_variable.empty());
    EXPECT_EQ(has_server, !kind.url_variable.empty());
    EXPECT_EQ(has_server ? 10U : 0U, kind.as_of.size()) << "a date, as models are withdrawn";
    EXPECT_TRUE(make_provider(kind.name, {.base_url = std::string(kind.default_url)}))
        << "each kind can be made";
  }
  EXPECT_EQ(find_provider_kind("nobody"), nullptr);
}

// Former defaults that are withdrawn, or soon will be.
TEST(ProviderKinds, DefaultsAreNotWithdrawn) {
  const std::set<std::string_view> ended = {
      "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-4o-mini", "gpt-5", "gpt-5-mini",
  };
  for (const ProviderKind& kind : provider_kinds()) {
    EXPECT_FALSE(ended.contains(kind.default_model)) << kind.name;
    EXPECT_FALSE(ended.contains(kind.dev_model)) << kind.name;
  }
}

TEST(AnthropicMaxTokens, IsTheModelsOwn) {
  const struct {
    std::string_view model;
    std::int64_t tokens;
  } known[] = {
      {"claude-sonnet-5-5", 128'000},
      {"claude-haiku-5-5", 128'000},
      {"claude-fable-5-1", 128'000},
      {"claude-opus-4-8", 128'000},
      {"claude-sonnet-4-6", 128'000},
      {"claude-sonnet-4-5-20250929", 64'000},
      {"claude-haiku-4-5", 64'000},
      {"claude-sonnet-4-20250514", 64'000},
      {"claude-sonnet-4@20250514", 64'000},
      {"claude-opus-4-20250514", 32'000},
      {"claude-opus-4-1-20250805", 32'000},
      {"claude-3-5-sonnet-20241022", 8'192},
      {"claude-3-opus-20240229", 4'096},
      {"anthropic/claude-3.7-sonnet", 64'000},
      {"us.anthropic.claude-opus-4-5-20251101-v1:0", 64'000},
      {"claude-saga-9", 64'000},
      {"llama3.2", 4'096},
  };
  for (const auto& [model, tokens] : known) {
    EXPECT_EQ(provider::anthropic_max_tokens(model), tokens) << model;
  }
}

}  // namespace
}  // namespace reprise
