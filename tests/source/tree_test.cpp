#include "source/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/text.h"

namespace reprise::source {
namespace {

// The number of messages at the start of two branches that consist of the same nodes.
std::size_t count_shared(const Branch& one, const Branch& other) {
  std::size_t shared = 0;
  while (shared < std::min(one.size(), other.size()) &&
         std::ranges::equal(one.message(shared), other.message(shared))) {
    ++shared;
  }
  return shared;
}

Tree random_tree(std::mt19937& random) {
  Tree tree;
  const auto chance = [&](std::size_t of) { return random() % of == 0; };
  const std::size_t count = 2 + random() % 30;
  for (std::size_t at = 0; at < count; ++at) {
    Node node{.id = at + 1, .group = chance(2) ? 1 + random() % 2 : 0};
    node.parent = at == 0 ? 0 : 1 + (chance(3) ? random() % at : at - 1);
    node.link = at == 0 || chance(30) ? Link::root : Link::named;
    node.is_message = !chance(5);
    node.is_result = chance(3);
    node.is_sidechain = chance(15);
    tree.add(node, cat(at));
  }
  return tree;
}

void expect_measured(const Tree& tree, int round) {
  const auto leaf = tree.leaf();
  const Branch used = leaf ? tree.branch(*leaf) : Branch{};
  for (const AbandonedBranch& one : tree.abandoned_branches()) {
    const Branch branch = tree.branch(one.leaf);
    ASSERT_EQ(one.size, branch.size()) << round;
    ASSERT_EQ(one.shared, count_shared(used, branch)) << round;
    const Branch own = tree.own_messages(one, used);
    ASSERT_EQ(one.shared + own.size(), branch.size()) << round;
    for (std::size_t message = one.shared; message < branch.size(); ++message) {
      ASSERT_TRUE(std::ranges::equal(own.message(message - one.shared), branch.message(message)))
          << round;
    }
  }
}

TEST(Tree, BranchesHaveTheLengthsOfTheirMessages) {
  std::mt19937 random(1);  // NOLINT: repeats
  for (int round = 0; round < 5000; ++round) {
    expect_measured(random_tree(random), round);
  }
}

// The lengths still hold, and each message is on a branch.
TEST(Tree, JoinedAnswersLoseNothing) {
  std::mt19937 random(2);  // NOLINT: repeats
  for (int round = 0; round < 5000; ++round) {
    Tree tree = random_tree(random);
    std::vector<Time> times;
    for (std::size_t at = 0; at < tree.nodes().size(); ++at) {
      times.emplace_back(std::chrono::seconds(1 + at / 2 + random() % 3));
    }
    tree.join_answers(times);
    expect_measured(tree, round);
    std::vector<bool> is_on_branch(tree.nodes().size());
    const auto note = [&](std::uint32_t leaf) {
      for (const std::uint32_t at : tree.branch(leaf).nodes) {
        is_on_branch[at] = true;
      }
    };
    if (const auto leaf = tree.leaf()) {
      note(*leaf);
    }
    std::ranges::for_each(tree.abandoned_branches(),
                          [&](const AbandonedBranch& branch) { note(branch.leaf); });
    for (std::size_t at = 0; at < tree.nodes().size(); ++at) {
      const Node& node = tree.nodes()[at];
      ASSERT_TRUE(is_on_branch[at] || !node.is_message || node.is_sidechain) << round;
    }
  }
}

}  // namespace
}  // namespace reprise::source
