// Races between operations of streams: what orders them, what of them is kept, and what is said.
#include "watch/operations.hpp"

#include <gmock/gmock.h>

#include "emu/memory.hpp"
#include "watch/check.hpp"

namespace emu::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct TwoStreams {
  Findings findings;
  Operations operations{findings};
  GlobalMemory memory{1 << 20};
  Timeline one = operations.add_stream("stream 1", true);
  Timeline two = operations.add_stream("stream 2", true);
  Timeline apart = operations.add_stream("stream 3 (non-blocking)", false);

  int number = 0;

  void does(Timeline line, Operations::Way way, Address at = 0, std::uint64_t bytes = 4) {
    operations.begin(line, "operation " + std::to_string(number++));
    operations.touch(way, at, bytes);
    operations.end(memory);
  }
  std::vector<std::string> found() {
    std::vector<std::string> out;
    findings.tell([&](const Finding& f) { out.push_back(f.what); });
    return out;
  }
};

std::vector<std::pair<Address, Address>> all(Ranges ranges) {
  std::vector<std::pair<Address, Address>> out;
  ranges.settle();
  for (Address at = 0; at < 64; ++at) {
    Ranges one;
    one.add({at, at + 1, 0});
    if (!ranges.shared_with(one)) continue;
    if (!out.empty() && out.back().second == at) {
      ++out.back().second;
    } else {
      out.emplace_back(at, at + 1);
    }
  }
  return out;
}

TEST(RangesOfBytes, AreJoinedAndTakenApart) {
  Ranges ranges;
  for (const auto& [begin, end] : {std::pair{8, 12}, {0, 4}, {4, 6}, {10, 20}, {30, 31}}) {
    ranges.add({static_cast<Address>(begin), static_cast<Address>(end), 0});
  }
  ranges.settle();
  EXPECT_EQ(ranges.size(), 3u);
  using Pairs = std::vector<std::pair<Address, Address>>;
  EXPECT_EQ(all(ranges), (Pairs{{0, 6}, {8, 20}, {30, 31}}));
  Ranges gone;
  gone.add({2, 3, 0});
  gone.add({5, 9, 0});
  gone.add({12, 40, 0});
  ranges.remove(gone);
  EXPECT_EQ(all(ranges), (Pairs{{0, 2}, {3, 5}, {9, 12}}));
  ranges.remove(ranges);
  EXPECT_TRUE(ranges.empty());
}

TEST(OperationsOfStreams, RaceWhereNothingOrdersThem) {
  TwoStreams t;
  t.does(t.one, Operations::kWrites);
  t.does(t.one, Operations::kReads);
  t.does(t.two, Operations::kWrites, 4);
  EXPECT_THAT(t.found(), ElementsAre());
  t.does(t.two, Operations::kReads);
  EXPECT_THAT(t.found(), ElementsAre(HasSubstr("read after another stream's write")));
  t.operations.host_waits_for_all();
  t.does(t.one, Operations::kReadsStrongly, 100);
  t.does(t.two, Operations::kWritesStrongly, 100);
  EXPECT_THAT(t.found(), ElementsAre());
  t.does(t.apart, Operations::kReads, 100);
  EXPECT_THAT(t.found(), ElementsAre(HasSubstr("read after another stream's write")));
}

TEST(OperationsOfStreams, AnEventStandsForWhatWasThereWhenItWasRecorded) {
  for (const bool late : {false, true}) {
    TwoStreams t;
    const StreamClock early = t.operations.record(t.one);
    t.does(t.one, Operations::kWrites);
    const StreamClock event = t.operations.record(t.one);
    t.operations.wait(t.two, late ? event : early);
    t.does(t.two, Operations::kWrites);
    EXPECT_EQ(t.found().size(), late ? 0u : 1u);
  }
}

TEST(OperationsOfStreams, WhatTheHostKnowsIsForgotten) {
  TwoStreams t;
  for (int i = 0; i < 1000; ++i) {
    t.does(t.one, Operations::kWrites, 0, 4096);
    t.does(t.two, Operations::kReads, 8192, 4096);
  }
  // What a later one stands for, too.
  EXPECT_EQ(t.operations.kept(), 2u);
  t.operations.host_waits_for(t.one);
  EXPECT_EQ(t.operations.kept(), 1u);
  t.operations.host_waits_for_all();
  EXPECT_EQ(t.operations.kept(), 0u);
  // Without an end, and never at one place: the oldest go.
  for (Address at = 0; at < 20'000; ++at) t.does(t.one, Operations::kWrites, 8 * at);
  EXPECT_LE(t.operations.kept(), 4096u);
  EXPECT_THAT(t.found(), ElementsAre());
}

TEST(OperationsOfStreams, AStreamThatIsGoneIsStillWaitedFor) {
  for (const bool by_default : {false, true}) {
    TwoStreams t;
    t.does(t.two, Operations::kWrites);
    t.operations.remove_stream(t.two);
    const Timeline next = t.operations.add_stream("stream 4", true);
    EXPECT_NE(next, t.two);  // of which something is kept
    if (by_default) t.does(Operations::kDefault, Operations::kReads, 64);
    t.does(next, Operations::kWrites);
    EXPECT_EQ(t.found().size(), by_default ? 0u : 1u);
    t.operations.host_waits_for_all();
    EXPECT_EQ(t.operations.add_stream("stream 5", true), t.two);
    t.does(t.one, Operations::kWrites);
    t.does(t.two, Operations::kWrites);
    EXPECT_EQ(t.found().size(), 1u);
  }
}

TEST(OperationsOfStreams, NodesOfAGraphAreOneStepOfTheStream) {
  TwoStreams t;
  for (int round = 0; round < 100; ++round) {
    Operations::Graph graph = t.operations.begin_graph(t.one);
    const Timeline first = t.operations.begin_node(graph, {});
    t.does(first, Operations::kWrites);
    const Timeline second = t.operations.begin_node(graph, {first});
    t.does(second, Operations::kReads);
    Operations::Graph inner = t.operations.begin_graph(second);
    t.does(t.operations.begin_node(inner, {}), Operations::kWrites);
    t.operations.end_graph(inner);
    t.operations.end_graph(graph);
  }
  EXPECT_THAT(t.found(), ElementsAre());
  EXPECT_LE(t.operations.kept(), 2u);
  t.does(t.two, Operations::kReads);
  EXPECT_EQ(t.found().size(), 1u);
  Operations::Graph graph = t.operations.begin_graph(t.apart);
  t.does(t.operations.begin_node(graph, {}), Operations::kWrites, 64);
  t.does(t.operations.begin_node(graph, {}), Operations::kWrites, 64);
  EXPECT_THAT(t.found(), ElementsAre(HasSubstr("two nodes of a graph")));
}

}  // namespace
}  // namespace emu::test
