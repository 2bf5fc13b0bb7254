/// \file
/// Values as sums of what the host put into device memory: which elements of it have entered, and
/// how often. A value is a node of a graph; nodes come after those that they are made of, so one
/// walk back from a value gives the coefficient of each element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace emu {

class SumForms {
 public:
  using Node = std::uint32_t;
  static constexpr Node kPlain = 0;    ///< no element has entered it
  static constexpr Node kOfOrder = 2;  ///< none, but it depends on the order of threads

  enum class Kind : std::uint8_t {
    kPlain,
    kInput,      ///< bytes of an element: a, the number of its allocation; b, where
    kAdd,        ///< a + b
    kScale,      ///< a times constant number b
    kPlus,       ///< a, and constant number b
    kWiden,      ///< a sum, put into a wider register
    kPiece,      ///< bits of a, from number b on
    kFlip,       ///< a with some bits flipped: those of number b
    kJoin,       ///< bytes of a, and behind them b; either may be plain
    kLost,       ///< something else made of a and b: `size` is a Why
    kTerm,       ///< something else made of element a, or the product of elements a and b
    kUndefined,  ///< not a value: `size` is an Undefined, a and b say which
    kNoMore,     ///< there is no room for further nodes
  };
  /// Why a value isn't a sum.
  enum class Why : std::uint8_t {
    kOther,
    kNotFinite,  ///< infinity, or what is no number, was added
    kNarrowed    ///< of a piece: it has the low bits alone
  };
  static constexpr std::uint32_t kInPart = std::uint32_t{1} << 31;  ///< with a word's number
  /// Where a value comes from that nothing has made. Of a word of memory that has been written
  /// kInPart this is the rest.
  enum class Undefined : std::uint8_t {
    kGlobal,  ///< never written: a, the number of its allocation; b, the word
    kShared,  ///< b, the word
    kLocal,
    kRegister,  ///< never set
    kLane,      ///< handed over by lane b, which isn't there
    kLeftOpen,  ///< what PTX leaves undefined
    kIllegal    ///< read outside all memory
  };
  struct Entry {
    Kind kind = Kind::kPlain;
    std::uint8_t size = 0;  ///< bytes of an input, or of the first part of two; bits of a piece
    bool floating = false;
    std::uint8_t zeros = 0;  ///< so many low bits are what no element has brought
    std::uint32_t a = 0, b = 0;
    /// A bit for each allocation that has entered: bit_of its number; and kOfNothing.
    std::uint32_t from = 0;
    std::uint32_t site = 0;   ///< where it was made
    std::uint32_t block = 0;  ///< by which block, of all launches
    std::uint32_t chain = 0;  ///< the most additions one after another
  };
  /// Where nodes are made from now on.
  struct Maker {
    std::uint32_t site = 0, block = 0;
    bool floating = false;
  };

  SumForms();

  Node input(std::uint32_t allocation, std::uint32_t offset, unsigned bytes);
  /// Of two elements at most; 0 where more has entered.
  Node term(Node of_a);
  Node product(Node of_a, Node of_b);
  Node undefined(Undefined why, std::uint32_t a = 0, std::uint32_t b = 0);
  Node add(Node a, Node b);
  Node plus(Node a, double constant);
  Node scale(Node a, double factor);
  Node widen(Node a);
  /// Bytes, or bits, of a value, which has `width` bits.
  Node piece(Node a, unsigned offset, unsigned bytes) { return bits(a, 8 * offset, 8 * bytes); }
  Node bits(Node a, unsigned offset, unsigned count, unsigned width = 64);
  /// A word of a value of 64 bits, which `join` makes whole again, and what it is by itself.
  Node word(Node a, unsigned number);
  Node alone(Node word);
  Node flip(Node a, std::uint64_t bits);
  Node join(Node a, Node b, unsigned bytes_of_a);
  Node lost(Node a, Node b = kPlain, Why why = Why::kOther);
  /// `bytes` of `into`, from `offset` on, are those of `part`.
  Node insert(Node into, Node part, unsigned offset, unsigned bytes, unsigned whole);

  const Entry& operator[](Node n) const { return entries_[n]; }
  std::size_t size() const { return entries_.size(); }
  double constant(std::uint32_t number) const { return constants_[number]; }
  /// What is in a value beside its elements; not a number where that can't be told.
  double plain_part(Node n) const;
  bool full() const { return full_; }
  static constexpr std::uint32_t kOfNothing = std::uint32_t{1} << 31;  ///< an undefined value
  static std::uint32_t bit_of(std::uint32_t allocation) {
    return std::uint32_t{1} << (allocation < 30 ? allocation : 30);
  }
  /// The nodes that n is made of.
  std::pair<Node, Node> parts(Node n) const;

  Maker maker;

 private:
  Node element_in(Node n) const;
  Node make(Kind kind, std::uint32_t a, std::uint32_t b, unsigned size, std::uint32_t from,
            std::uint32_t chain, unsigned zeros = 0);
  Node without_low(Node a, unsigned bits);
  std::uint32_t number(double constant);

  std::vector<Entry> entries_;
  std::vector<double> constants_;
  std::map<double, std::uint32_t> numbers_;
  std::vector<std::uint64_t> flips_;
  bool full_ = false;
};

}  // namespace emu
