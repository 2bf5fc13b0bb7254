/// \file
/// What judge_sums finds and says: the results as linear forms, and how an element came to be in
/// one too often or not at all.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "watch/check.hpp"
#include "watch/sums.hpp"

/// Of judge_sums alone.
namespace emu::sum_parts {

using Node = Sums::Node;
using Kind = SumForms::Kind;

constexpr std::size_t kMostStories = 3;
inline constexpr const char* kUnfollowed =
    "some of the code isn't followed: recursion, calls by pointer, or copies into other blocks";

/// A run of numbers: from `first` on, `count` of them, each `step` after the one before.
struct Run {
  std::uint64_t first = 0, count = 0, step = 1;
  std::uint64_t last() const { return first + (count - 1) * step; }
};

std::string plural(std::uint64_t n, const std::string& thing);
/// Numbers in order as runs, which may have steps where they are long.
std::vector<Run> runs_of(const std::vector<std::uint64_t>& numbers);
std::string text_of(const Run& run);
/// "element 7", "elements 96 … 127, 200 and 45 others".
std::string elements_in_words(const std::vector<std::uint64_t>& numbers);
std::string times_in_words(double times);

/// One number as a linear form.
struct Form {
  bool is_sum = true;
  std::uint32_t lost_at = 0;  ///< a site, where it is none…
  SumForms::Why why = SumForms::Why::kOther;
  unsigned bits = 0;  ///< …and how many are left, where others were cut off
  double constant = 0;
  bool floating = false, widened = false;
  std::uint64_t elements = 0;
  std::set<std::uint32_t> terms;   ///< sites that make something else of an element
  std::uint32_t partner = kAlone;  ///< the allocation whose elements others are multiplied by
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
};

/// An element's part in an output.
struct Leaf {
  std::uint32_t output, offset;
  std::uint8_t bytes;
  double factor;
};

/// Walks from the results back to the elements, and says who is in them.
class Judge {
 public:
  Judge(const Sums& sums, SumWalks& walks, std::vector<SumOutput> outputs,
        const std::string& spoiled, Findings& findings);
  void say();

 private:
  // --- forms: sum_report.cpp -----------------------------------------------------------------

  /// Pieces of a value, each times what its place is worth, are the value.
  struct Piece {
    unsigned offset, bits;
    double factor;
    std::uint32_t site;
  };
  /// Walks from an output back to the elements.
  void take(const SumOutput& output);
  void take_term(const SumForms::Entry& term, double factor, Form& form,
                 std::map<std::uint32_t, std::vector<Leaf>>& by_region);
  void put_together(Node n, std::vector<Piece>& pieces, Form& form);
  static void lose(Form& form, std::uint32_t site, SumForms::Why why = SumForms::Why::kOther,
                   unsigned bits = 0);
  std::size_t launch_of(std::uint32_t block) const;
  void note_launch(std::uint32_t block, Kind kind);

  // --- judging: sum_report.cpp ---------------------------------------------------------------

  /// Values that nothing has made, in results or in what decided about them.
  void accuse_undefined();
  void accuse_undefined(const std::set<std::uint32_t>& outputs);
  void accuse_decisions();
  void describe_others();
  std::string reason(const Form& form) const;
  /// What counts as once, of how often elements are in one result.
  double unit_of(const std::map<double, std::uint64_t>& factors, double usual) const;
  void describe_several(std::uint32_t from, const std::vector<Leaf>& leaves);
  /// False where these are nothing that should hold each element once. `together`: if anything
  /// should, then all of these.
  bool say_of(std::uint32_t from, const std::vector<Leaf>& leaves, bool together);
  /// What else than elements themselves is added up.
  void describe_terms(std::uint32_t from, const std::vector<std::uint32_t>& outputs,
                      std::vector<std::string>& details) const;
  void praise(std::uint32_t from, const std::vector<Leaf>& leaves, std::uint64_t held,
              SumElements in, const std::map<std::uint32_t, std::uint64_t>& of_output);
  /// Whether this holds for other data too.
  bool add_standing(std::uint32_t from, const std::vector<std::uint32_t>& outputs, bool floating,
                    bool widened, std::vector<std::string>& details);
  void add(bool fault, const std::string& what, std::vector<std::string> details,
           std::vector<std::string> places = {}, std::optional<SumElements> in = std::nullopt);

  // --- names: sum_stories.cpp ----------------------------------------------------------------

  const Sums::Region* region(std::uint32_t number) const { return sums_.by_number[number]; }
  std::string name(std::uint32_t number) const;
  /// Of the last launch that had a part in the outputs.
  std::string kernel() const;
  static std::string short_name(const std::string& mangled);
  std::string places_of(const std::vector<Leaf>& leaves) const;
  std::string places_of_outputs(const std::set<std::uint32_t>& outputs) const;

  // --- stories: sum_stories.cpp --------------------------------------------------------------

  /// The last place that held a missing element, and what became of it.
  struct Last {
    Node node = 0;
    std::size_t stored = 0;  ///< in the log, from 1; 0: in a register only
    std::size_t over = 0;
  };
  /// Where undefined values come from, a line for each kind and place.
  std::vector<std::string> sources_of(const std::set<Node>& undefined,
                                      std::set<std::string>& places) const;
  std::string source_of(const SumForms::Entry& first, const SumForms::Entry& last) const;
  void accuse(std::uint32_t from, const std::vector<Leaf>& leaves, unsigned bytes,
              const std::vector<std::uint64_t>& missing, const std::vector<std::uint64_t>& unread,
              const std::map<double, std::vector<std::uint64_t>>& odd, SumElements in);
  static std::vector<Run> first_of(std::vector<Run> runs);
  static std::vector<std::uint64_t> elements_of(const Run& run);
  bool is_element(const SumForms::Entry& e, std::uint32_t from, std::uint64_t element,
                  unsigned bytes) const;
  /// Where an element enters a sum in which it is already, or is turned round.
  std::string again(std::uint32_t from, std::uint64_t element, unsigned bytes,
                    const std::vector<Leaf>& leaves, double share, std::set<std::string>& places);
  Last last_of(std::uint32_t from, std::uint64_t element, unsigned bytes) const;
  std::string lost(std::uint32_t from, const Run& run, unsigned bytes,
                   std::set<std::string>& places);
  std::string block_name(std::uint32_t block) const;
  /// "tile[96 … 127] of block (0, 0, 0)".
  std::string memory(const Sums::Stored& s, std::uint64_t to) const;
  static std::string plain_name(const std::string& mangled);

  const Sums& sums_;
  const SumForms& forms_;
  std::string spoiled_;
  Findings& findings_;
  std::vector<SumOutput> outputs_;
  std::vector<Form> parts_;                            ///< of each output
  std::map<std::uint32_t, std::set<Node>> undefined_;  ///< by output: those in it
  std::set<std::uint32_t> ill_defined_;                ///< allocations with such outputs
  std::map<std::uint32_t, std::vector<Leaf>> leaves_;  ///< by the allocation that they are of
  std::set<std::size_t> launches_;
  std::uint32_t last_block_ = ~std::uint32_t{0};
  std::vector<double>& factor_;
  std::vector<std::uint32_t>& stamp_;
  std::uint32_t& now_;
  std::uint64_t visited_ = 0;
  bool cut_ = false;
};

}  // namespace emu::sum_parts
