// Where lanes that part meet again: at the immediate post-dominator of the branch, the first
// place that every way from it to the function's end passes through (Cooper, Harvey and Kennedy's
// algorithm on the reversed graph). A way that ends in `exit` or `trap` doesn't count:
// lanes that are gone are not waited for.
#include "decode/joins.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace emu {
namespace {

using Index = std::uint32_t;
constexpr Index kNone = std::numeric_limits<Index>::max();

struct Graph {
  std::vector<Index> first;                ///< op at the head of each block
  std::vector<Index> block_of;             ///< of each op
  std::vector<std::vector<Index>> next;    ///< successors; the last block is the end
  std::vector<std::vector<Index>> before;  ///< predecessors
};

/// Calls f(target) for each place that a branch may lead to.
template <class F>
void for_each_target(const Op& op, const std::vector<Index>& lists, F f) {
  if (op.control == Control::kBranch) f(op.as<Branch>().target);
  if (op.control == Control::kSwitch) {
    const auto& labels = op.as<Switch>();
    for (Index k = 0; k < labels.count; ++k) f(lists[labels.first + k]);
  }
}

bool ends_block(const Op& op) {
  return op.control == Control::kBranch || op.control == Control::kSwitch ||
         op.control == Control::kExit || op.control == Control::kReturn ||
         op.control == Control::kCallPointer;
}

Graph make_graph(const std::vector<Op>& ops, const std::vector<Index>& lists) {
  std::vector<char> head(ops.size() + 1, 0);
  head[0] = 1;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ends_block(ops[i])) head[i + 1] = 1;
    for_each_target(ops[i], lists, [&](Index to) { head[to] = 1; });
  }
  Graph g;
  g.block_of.resize(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (head[i]) g.first.push_back(static_cast<Index>(i));
    g.block_of[i] = static_cast<Index>(g.first.size() - 1);
  }
  const auto end = static_cast<Index>(g.first.size());
  g.next.resize(end + 1);
  g.before.resize(end + 1);
  for (Index b = 0; b < end; ++b) {
    const Index last = (b + 1 < end ? g.first[b + 1] : static_cast<Index>(ops.size())) - 1;
    const Op& op = ops[last];
    const bool falls = !ends_block(op) || op.guarded || op.control == Control::kCallPointer;
    auto& next = g.next[b];
    for_each_target(op, lists, [&](Index to) { next.push_back(g.block_of[to]); });
    const bool returns =
        op.control == Control::kReturn || (op.control == Control::kExit && op.as<Exit>().returns);
    if (returns) next.push_back(end);
    if (falls) next.push_back(b + 1 < end ? b + 1 : end);
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    for (const Index n : next) g.before[n].push_back(b);
  }
  return g;
}

/// Of each block its immediate post-dominator, kNone where the end can't be reached.
std::vector<Index> post_dominators(const Graph& g) {
  const auto end = static_cast<Index>(g.next.size() - 1);
  std::vector<Index> order, number(g.next.size(), kNone);  // postorder from the end, backwards
  std::vector<std::pair<Index, std::size_t>> stack{{end, 0}};
  std::vector<char> seen(g.next.size(), 0);
  seen[end] = 1;
  while (!stack.empty()) {
    auto& [block, at] = stack.back();
    if (at < g.before[block].size()) {
      const Index b = g.before[block][at++];
      if (!seen[b]) {
        seen[b] = 1;
        stack.emplace_back(b, 0);
      }
    } else {
      number[block] = static_cast<Index>(order.size());
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::vector<Index> idom(g.next.size(), kNone);
  idom[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == end) continue;
      Index found = kNone;
      for (Index n : g.next[*it]) {
        if (idom[n] == kNone) continue;
        if (found == kNone) {
          found = n;
          continue;
        }
        while (found != n) {
          while (number[found] < number[n]) found = idom[found];
          while (number[n] < number[found]) n = idom[n];
        }
      }
      if (found != idom[*it]) {
        idom[*it] = found;
        changed = true;
      }
    }
  }
  idom[end] = kNone;
  return idom;
}

}  // namespace

void insert_joins(std::vector<Op>& ops, std::vector<Code::Place>& places,
                  std::vector<std::uint32_t>& lists) {
  if (ops.empty()) return;
  const Graph g = make_graph(ops, lists);
  const std::vector<Index> idom = post_dominators(g);
  const auto end = static_cast<Index>(g.next.size() - 1);

  std::vector<char> meets(ops.size(), 0);
  const auto meeting = [&](std::size_t i) {  // op index, or kNone
    const Index block = idom[g.block_of[i]];
    return block == kNone || block == end ? kNone : g.first[block];
  };
  const auto may_part = [&](const Op& op) {
    return (op.control == Control::kBranch && op.guarded) || op.control == Control::kSwitch ||
           op.control == Control::kCallPointer;
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (may_part(ops[i]) && meeting(i) != kNone) meets[meeting(i)] = 1;
  }

  std::vector<Index> moved(ops.size());  // where each op, or the join before it, comes to stand
  Index at = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    moved[i] = at;
    at += meets[i] ? 2 : 1;
  }
  std::vector<Op> out;
  std::vector<Code::Place> out_places;
  out.reserve(at);
  out_places.reserve(at);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (meets[i]) {
      Op join;
      join.control = Control::kJoin;
      join.counted = false;
      join.guard = ops[i].guard;  // looked at and not used
      out.push_back(join);
      out_places.push_back(places[i]);
    }
    Op op = ops[i];
    const Index meet = may_part(op) && meeting(i) != kNone ? moved[meeting(i)] : kNowhere;
    if (op.control == Control::kBranch) {
      op.put(Branch{moved[op.as<Branch>().target], meet});
    } else if (op.control == Control::kCallPointer) {
      op.as<PointerCall>().meet = meet;
    } else if (op.control == Control::kSwitch) {
      auto& labels = op.as<Switch>();
      labels.meet = meet;
      for (Index k = 0; k < labels.count; ++k) {
        lists[labels.first + k] = moved[lists[labels.first + k]];
      }
    }
    out.push_back(op);
    out_places.push_back(places[i]);
  }
  ops = std::move(out);
  places = std::move(out_places);
}

}  // namespace emu
