// What chapter 14's GPUs hand over, where it could go wrong unseen: the halves of a sum that come
// to their ends on different GPUs, more words and more GPUs than a warp has lanes, and a flag that
// must not be raised early. A GPU alone does nearly all of it, one part after the other.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../gpus.cuh"
#include "../kernels.cuh"
#include "book/chapter.hpp"

namespace {

using chapter14::Word;

/// Words in device memory: what they are before a launch, and have to be after it.
class Words : public book::Problem {
 public:
  Words(std::vector<Word> before, std::vector<Word> after)
      : before_(std::move(before)), after_(std::move(after)) {}
  Word* data() const { return words_.data(); }

  std::size_t device_bytes(const book::Shape&) const override {
    return before_.size() * sizeof(Word);
  }
  void prepare(const book::Shape&, std::uint64_t, book::Fill) override {
    words_.grow(before_.size());
  }
  void release() override { words_ = {}; }
  void poison() override { words_.copy_from(before_); }
  book::Verdict check() override {
    const std::vector<Word> found = words_.to_host(after_.size());
    const auto [is, wanted] = std::ranges::mismatch(found, after_);
    if (is == found.end()) return {true, "all words are right"};
    return {false, "word " + std::to_string(is - found.begin()) + " is " + std::to_string(*is) +
                       ", and has to be " + std::to_string(*wanted)};
  }
  book::UsefulBytes useful_bytes(const book::Shape&) const override { return {}; }

 private:
  std::vector<Word> before_, after_;
  book::Buffer<Word> words_;
};

template <class Queue>
book::Variant variant(std::string name, const char* region, std::vector<Word> before,
                      std::vector<Word> after, Queue queue) {
  return {
      .name = std::move(name),
      .from = "chapter14_many_gpus",
      .region = region,
      .grid = book::one_block,
      .launch = {.type = typeid(Words),
                 .make = {},
                 .queue = [queue](book::Problem& words,
                                  const book::Shape&) { queue(static_cast<Words&>(words).data()); },
                 .problem = std::make_shared<Words>(std::move(before), std::move(after))},
  };
}

constexpr Word kNone = 0xbad0bad0bad0bad0;

/// The rare case of hand_in, made on purpose: of three GPUs another is the last at one half of the
/// sum than at the other. What the first has done, the words say already.
///
/// \param zero  the half that comes to its end first has the total 0
book::Variant apart(std::string name, bool low_first, bool zero = false) {
  const long long low = zero ? 0 : 0x1'8000'0001;  // two halves of 32 bits
  const long long high = -5;
  const long long first = zero ? 7ll << 32 : -7'000'000'000'123;
  const long long second = 0x7fff'ffff'ffff;
  const auto lower = [](long long sum) { return sum & 0xffffffff; };
  const auto counted = [](long long half, unsigned parties) {
    return (static_cast<Word>(half) << 16) + parties;
  };
  // The half that has ended takes the second GPU's for a next sum's.
  const long long lows = low + lower(first) + (low_first ? 0 : lower(second));
  const long long highs = high + (first >> 32) + (low_first ? second >> 32 : 0);
  const auto total = static_cast<Word>(lows + highs * (1ll << 32));
  const Word sums[] = {static_cast<Word>(first), static_cast<Word>(second)};
  return variant(std::move(name), "system-hand-in",
                 {counted(low, low_first ? 2 : 1), counted(high, low_first ? 1 : 2), 0, kNone,
                  sums[0], sums[1]},
                 {low_first ? counted(lower(second), 1) : 0,
                  low_first ? 0 : counted(second >> 32, 1), 0, total, sums[0], sums[1]},
                 [](Word* words) {
                   auto* const out = reinterpret_cast<long long*>(words + 3);
                   for (const long long* sum : {out + 1, out + 2}) {
                     chapter14::hand_in_sum<<<1, 1>>>(sum, words, out, 3);
                   }
                 });
}

/// The same at once from two GPUs, where there are two: which of them comes first is open, so both
/// have the same sum. The race check sees whether their atomics reach that far.
book::Variant crossing() {
  constexpr long long kSum = -7'000'000'000'123;
  constexpr Word kLow = static_cast<Word>(kSum & 0xffffffff) << 16;
  const auto total = static_cast<Word>((kSum & 0xffffffff) + 2 * (kSum >> 32) * (1ll << 32));
  const auto sum = static_cast<Word>(kSum);
  return variant("halves_on_two_gpus", "system-hand-in", {2, 1, 0, kNone, sum},
                 {kLow + 1, 0, 0, total, sum}, [](Word* words) {
                   auto* const out = reinterpret_cast<long long*>(words + 3);
                   chapter14::Gpus& gpus = chapter14::Gpus::here();
                   const unsigned count = gpus.count() > 1 && gpus.give_atomics(2).empty() ? 2 : 1;
                   gpus.fork(count);
                   for (const unsigned g : {count - 1, 0u}) {
                     const chapter14::OnDevice there(gpus[g].device);
                     chapter14::hand_in_sum<<<1, 1, 0, gpus[g].stream>>>(out + 1, words, out, 3);
                   }
                   gpus.join(count);
                 });
}

/// More than a warp's lanes, twice over: of each GPU's words, and of GPUs.
constexpr unsigned kCount = 70, kGpus = 75;
Word word(unsigned gpu, unsigned k) {
  return (Word{gpu} * kCount + k + 1) * 0x9e37'79b9'7f4a'7c15;
}

/// All GPUs send, and one collects.
book::Variant many() {
  // The words of all GPUs, their slots, the sums, and two flags in a word.
  constexpr std::size_t kAll = std::size_t{kGpus} * kCount;
  std::vector<Word> before(2 * kAll + kCount, kNone);
  before.resize(before.size() + (kGpus + 1) / 2, 0);
  for (std::size_t i = 0; i < kAll; ++i) before[i] = word(i / kCount, i % kCount);
  std::vector<Word> after = before;
  std::copy_n(before.begin() + kCount, kAll - kCount, after.begin() + kAll + kCount);
  for (unsigned k = 0; k < kCount; ++k) {
    Word& sum = after[2 * kAll + k] = 0;
    for (unsigned g = 0; g < kGpus; ++g) sum += word(g, k);
  }
  return variant("more_than_lanes", "collect-words", std::move(before), std::move(after),
                 [](Word* words) {
                   Word* const slots = words + kAll;
                   Word* const sums = slots + kAll;
                   auto* const flags = reinterpret_cast<unsigned*>(sums + kCount);
                   for (unsigned g = 1; g < kGpus; ++g) {
                     const std::size_t at = std::size_t{g} * kCount;
                     chapter14::send<<<1, 32>>>(words + at, kCount, slots + at, flags + g);
                   }
                   chapter14::collect<<<1, 32>>>(words, kCount, slots, flags, kGpus, sums);
                 });
}

/// The flag lies in the last word's place, which another lane stores: so one sees whether it is
/// raised after that.
book::Variant flag_last() {
  std::vector<Word> before(2 * kCount, kNone);
  for (unsigned k = 0; k < kCount; ++k) before[k] = word(0, k);
  std::vector<Word> after = before;
  std::copy_n(before.begin(), kCount, after.begin() + kCount);
  after.back() = (after.back() >> 32 << 32) + 1;
  return variant("flag_last", "send-words", std::move(before), std::move(after), [](Word* words) {
    Word* const slot = words + kCount;
    chapter14::send<<<1, 32>>>(words, kCount, slot, reinterpret_cast<unsigned*>(slot + kCount - 1));
  });
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{
      "chapter14_hand_over", "What GPUs hand over, where it could go wrong", "", {.devices = 2}};
  chapter.add(apart("low_half_first", true));
  chapter.add(apart("high_half_first", false));
  chapter.add(apart("first_half_0", true, true));
  chapter.add(crossing());
  chapter.add(flag_last());
  book::Variant most = many();
  most.blocks = book::any_block(1, 1);  // once per n will do
  chapter.add(std::move(most));
  return chapter.run(argc, argv);
}
