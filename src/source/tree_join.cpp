#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "source/tree.h"

namespace reprise::source {

// Each node is on one chain, which begins after a node of an earlier one.
class Tree::Joining {
 public:
  Joining(Tree& tree, std::span<const Time> times)
      : tree_(tree),
        times_(times),
        answer_of_(tree.nodes_.size()),
        leads_on_(tree.nodes_.size()),
        is_joined_(tree.nodes_.size()),
        next_(tree.nodes_.size(), kNone) {}

  void run() {
    if (is_chain()) {
      return drop_repeated_results();
    }
    follow_file_at_forks();
    note_answers();
    if (const std::uint32_t end = end_of_session(); end != kNone) {
      tree_.leaf_ = join(end);
    }
    for (std::uint32_t at = count(); at-- > 0;) {
      if (is_message(at) && !is_joined_[at]) {
        join(at);
      }
    }
    tree_.is_joined_ = true;
    for (Links& links : tree_.links_) {
      links.last_result = links.result_before = kNone;
    }
    order_parents_first();
  }

 private:
  using Key = std::pair<Time, std::uint32_t>;
  using Results = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // answers and their calls

  std::uint32_t count() const { return static_cast<std::uint32_t>(tree_.nodes_.size()); }
  std::uint32_t& parent(std::uint32_t at) { return tree_.links_[at].parent; }
  const Node& node(std::uint32_t at) const { return tree_.nodes_[at]; }
  bool is_message(std::uint32_t at) const { return node(at).is_message && !node(at).is_sidechain; }
  Key key(std::uint32_t at) const { return {at < times_.size() ? times_[at] : Time{}, at}; }

  bool is_chain() {
    bool is_chain = true;
    for (std::uint32_t at = 1; at < count() && is_chain; ++at) {
      is_chain = parent(at) == at - 1;
    }
    return is_chain;
  }

  void drop_repeated_results() {
    std::set<std::uint64_t> results;
    std::uint64_t answer = 0;
    for (Node& at : tree_.nodes_) {
      if (at.is_message && !at.is_result && std::exchange(answer, at.group) != at.group) {
        results.clear();
      } else if (at.is_result && answer != 0 && at.group != 0) {
        at.is_message = at.is_message && results.insert(at.group).second;
      }
    }
  }

  // A fork with a node that is no message is no rewind.
  void follow_file_at_forks() {
    std::vector<bool> has_messages(count());  // at the node or after it
    for (std::uint32_t at = count(); at-- > 0;) {
      has_messages[at] = has_messages[at] || node(at).is_message;
      if (has_messages[at] && parent(at) != kNone) {
        has_messages[parent(at)] = true;
      }
    }
    std::vector<std::uint32_t> last_child(count(), kNone);
    std::uint32_t before = kNone;
    for (std::uint32_t at = 0; at < count(); ++at) {
      if (!has_messages[at] || node(at).is_sidechain) {
        continue;
      }
      if (const std::uint32_t named = parent(at); named != kNone) {
        const std::uint32_t other = std::exchange(last_child[named], at);
        const bool is_fork = other != kNone && before != named;
        if (is_fork && (!node(at).is_message || !node(other).is_message)) {
          parent(at) = before;
          last_child[before] = at;
        }
      }
      before = at;
    }
  }

  // The nodes of each answer are its pieces and their results.
  void note_answers() {
    for (std::uint32_t at = 0; at < count(); ++at) {
      if (node(at).is_sidechain) {
        continue;
      }
      const bool is_piece = node(at).is_message && !node(at).is_result;
      answer_of_[at] = is_piece ? node(at).group : parent(at) == kNone ? 0 : answer_of_[parent(at)];
      if (node(at).is_message && answer_of_[at] != 0) {
        answers_[answer_of_[at]].push_back(at);
      }
    }
    for (std::uint32_t at = count(); at-- > 0;) {
      if (const std::uint32_t before = parent(at); before != kNone && !node(at).is_sidechain) {
        const bool is_other = node(at).is_message && answer_of_[at] != answer_of_[before];
        leads_on_[before] = leads_on_[before] || leads_on_[at] || is_other;
      }
    }
  }

  // The last message. Late results of earlier answers do not count.
  std::uint32_t end_of_session() const {
    std::uint32_t last = kNone;
    for (std::uint32_t at = count(); at-- > 0;) {
      if (!is_message(at)) {
        continue;
      }
      if (last != kNone && answer_of_[at] == answer_of_[last]) {
        return last;
      }
      last = at;
      if (!node(at).is_result || answer_of_[at] == 0) {
        return last;
      }
    }
    return last;
  }

  // Returns the end of the chain that `leaf` is on.
  std::uint32_t join(std::uint32_t leaf) {
    std::vector<std::uint32_t> path;
    std::uint32_t fork = leaf;
    for (; fork != kNone && !is_joined_[fork]; fork = parent(fork)) {
      path.push_back(fork);
      is_joined_[fork] = true;
    }
    std::ranges::reverse(path);
    fork = after_results(fork, path);
    const std::vector<std::uint32_t> chain = with_others(path);
    for (const std::uint32_t at : chain) {
      parent(at) = fork;
      if (at != chain.front()) {
        next_[fork] = at;
      }
      fork = at;
    }
    return fork;
  }

  // A branch from within an answer has all of it, unless it has results of its own.
  std::uint32_t after_results(std::uint32_t fork, std::span<const std::uint32_t> path) const {
    const std::uint64_t answer = fork == kNone ? 0 : answer_of_[fork];
    if (answer == 0 || std::ranges::any_of(path, [&](std::uint32_t at) {
          return node(at).is_message && answer_of_[at] == answer;
        })) {
      return fork;
    }
    for (std::uint32_t at = next_[fork]; at != kNone; at = next_[at]) {
      if (node(at).is_message && answer_of_[at] != answer) {
        break;
      }
      fork = node(at).is_message ? at : fork;
    }
    return fork;
  }

  // The path with the other nodes of its answers, each at its time.
  std::vector<std::uint32_t> with_others(std::span<const std::uint32_t> path) {
    Results results;
    std::vector<Key> latest;  // up to each node of the path
    for (const std::uint32_t at : path) {
      if (node(at).is_result && is_repeated(at, results)) {
        tree_.nodes_[at].is_message = false;
      }
      const Time before = latest.empty() ? Time{} : latest.back().first;
      latest.emplace_back(std::max(before, node(at).is_message ? key(at).first : before), at);
    }
    std::vector<std::pair<std::size_t, Key>> others;  // with their places on the path
    for (std::size_t i = 0; i < path.size(); ++i) {
      for (const std::uint32_t at : take_others(answer_of_[path[i]], results)) {
        const auto place = std::upper_bound(latest.begin() + static_cast<std::ptrdiff_t>(i),
                                            latest.end(), key(at));
        others.emplace_back(place - latest.begin(), key(at));
      }
    }
    std::ranges::sort(others);
    std::vector<std::uint32_t> chain;
    auto other = others.begin();
    for (std::size_t i = 0; i <= path.size(); ++i) {
      for (; other != others.end() && other->first == i; ++other) {
        chain.push_back(other->second.second);
      }
      if (i < path.size()) {
        chain.push_back(path[i]);
      }
    }
    return chain;
  }

  // The nodes of an answer that are on no chain yet. Without a result of a call that has one,
  // unless a branch leads over it.
  std::vector<std::uint32_t> take_others(std::uint64_t answer, Results& results) {
    std::vector<std::uint32_t> others;
    const auto found = answers_.find(answer);
    if (found == answers_.end()) {
      return others;
    }
    std::vector<std::uint32_t> nodes = std::exchange(found->second, {});
    std::ranges::sort(nodes, {}, [this](std::uint32_t at) { return key(at); });
    for (const std::uint32_t at : nodes) {
      if (is_joined_[at]) {
        continue;
      }
      if (!node(at).is_result || !is_repeated(at, results)) {
        is_joined_[at] = true;
        others.push_back(at);
      } else if (!leads_on_[at]) {
        is_joined_[at] = true;
        tree_.nodes_[at].is_message = false;
      }
    }
    return others;
  }

  bool is_repeated(std::uint32_t at, Results& results) const {
    return node(at).group != 0 && answer_of_[at] != 0 &&
           !results.emplace(answer_of_[at], node(at).group).second;
  }

  // Moves nodes behind their parents.
  void order_parents_first() {
    bool is_ordered = true;
    for (std::uint32_t at = 0; at < count() && is_ordered; ++at) {
      is_ordered = parent(at) == kNone || parent(at) < at;
    }
    if (is_ordered) {
      return;
    }
    std::vector<std::vector<std::uint32_t>> children(count());
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> next;
    for (std::uint32_t at = 0; at < count(); ++at) {
      if (parent(at) == kNone) {
        next.push(at);
      } else {
        children[parent(at)].push_back(at);
      }
    }
    std::vector<Node> nodes = std::exchange(tree_.nodes_, {});
    std::vector<Links> links = std::exchange(tree_.links_, {});
    std::vector<std::uint32_t> place(nodes.size(), kNone);
    tree_.by_id_ = {};
    while (!next.empty()) {
      const std::uint32_t at = next.top();
      next.pop();
      std::ranges::for_each(children[at], [&](std::uint32_t child) { next.push(child); });
      place[at] = count();
      links[at].parent = links[at].parent == kNone ? kNone : place[links[at].parent];
      tree_.nodes_.push_back(nodes[at]);
      tree_.links_.push_back(links[at]);
      if (nodes[at].id != 0 && !tree_.find(nodes[at].id)) {
        tree_.by_id_.add_last(tree_.nodes_);
      }
    }
    tree_.leaf_ = tree_.leaf_ ? std::optional(place[*tree_.leaf_]) : std::nullopt;
    tree_.previous_ = tree_.previous_ == kNone ? kNone : place[tree_.previous_];
  }

  Tree& tree_;
  std::span<const Time> times_;
  std::vector<std::uint64_t> answer_of_;  // by node; 0: of none
  std::vector<bool> leads_on_;            // whether messages that are not of its answer follow it
  std::vector<bool> is_joined_;
  std::vector<std::uint32_t> next_;  // on the same chain
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> answers_;
};

void Tree::join_answers(std::span<const Time> times) {
  Joining(*this, times).run();
}

}  // namespace reprise::source
