/// \file
/// A kernel and the functions it calls, on their way to code. The decoder's own: decoder.cpp,
/// spaces.cpp, branches.cpp and calls.cpp have a part each.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decode.hpp"
#include "decode/reach.hpp"
#include "decode/register_file.hpp"

namespace emu {

/// A function's names and places while it is decoded.
struct Frame {
  const Function* function = nullptr;
  bool is_kernel = false;
  std::map<std::pair<int, std::string_view>, std::pair<Slot, unsigned>> registers;
  std::map<const Declaration*, std::uint64_t> places;  ///< of variables, in their own space
  std::optional<Slot> carry;
  /// A function that may be active several times over in one thread, or that is called through a
  /// pointer: its variables lie on the thread's stack, `base` holds where, and its arguments come
  /// in the mailbox that all such functions share.
  bool framed = false;
  Slot base = 0;
  std::uint64_t align = 16;  ///< of the frame
  std::uint64_t bytes = 0;   ///< of the frame
  std::vector<std::pair<Slot, unsigned>> registers_used;
  std::uint32_t entry = 0;
  std::vector<Op> ops;
  std::vector<Code::Place> op_places;
  std::vector<const Row*> rows;       ///< of each instruction
  std::vector<std::uint32_t> starts;  ///< first op of each instruction; then the end
  struct Jump {
    std::size_t op;
    std::string_view label;
    int scope;
    int line;
    bool in_list;  ///< `op` is an index in `lists`
  };
  std::vector<Jump> jumps;
  std::vector<std::size_t> to_end;      ///< branches to the function's return
  std::vector<const Function*> called;  ///< Call::entry is an index here, until all is linked
  std::vector<std::uint32_t> lists;     ///< targets of brx.idx, as op indices
};

class Decoder {
 public:
  Decoder(const Names& names, const Function& kernel, std::size_t& budget);
  Decoded run();

  // What builders use.
  [[noreturn]] void refuse(const std::string& what, int line) const;
  void spend(int line);  ///< one operation of the budget
  const Names& names() const { return names_; }
  Code& code() { return *code_; }
  RegisterFile& registers() { return registers_; }
  Frame& frame_of(const Function* f) { return frames_.at(f); }
  std::uint32_t keep_text(const Instruction& in);  ///< its place in Code::texts

  Slot new_register(unsigned width);
  /// A register's slot and width in bits.
  std::optional<std::pair<Slot, unsigned>> register_named(Frame& frame, int scope,
                                                          std::string_view name);
  const Declaration* variable(const Frame& frame, int scope, std::string_view name) const;

  /// The place of a variable in its space (an offset); laid out at first use.
  std::uint64_t place(Frame& frame, const Declaration& d);
  static constexpr std::uint64_t kDynamicShared = ~std::uint64_t{0};
  /// Where the driver's kilobyte of shared memory begins, which cooperative groups use for tiles
  /// wider than a warp. Here it is a part of the kernel's own.
  std::uint64_t reserved_shared(int line);
  Slot stack();

  /// Where the arguments of functions with frames lie, in local memory.
  std::uint64_t mailbox() const { return mailbox_; }
  /// The number of a form that functions and pointers to them have.
  std::uint32_t form(const std::vector<Declaration>& results,
                     const std::vector<Declaration>& parameters);

 private:
  void body(Frame& frame);
  void link();
  void finish_shared();

  std::uint64_t put(std::uint64_t& end, const Declaration& d, std::uint64_t limit,
                    const char* what) const;
  void lay_out_mailbox();
  void lay_out_interface(Frame& frame);

  void resolve_jumps(Frame& frame);
  std::size_t begin_frame(Frame& frame);
  void end_frame(Frame& frame, std::size_t begin);
  std::size_t change_frame(Frame& frame, Handler handler, const std::vector<Declaration>& moved,
                           std::size_t first);
  void follow(Frame& frame, Code::Flow flow);
  void refuse_when_reached(Frame& frame, const Instruction& in, const std::string& why);
  void merge_loads(Frame& frame);

  const Names& names_;
  const Function& kernel_;
  std::size_t& budget_;
  std::shared_ptr<Code> code_;
  RegisterFile registers_;
  Reach reach_;
  std::map<const Function*, Frame> frames_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> forms_;
  Frame* current_ = nullptr;
  std::optional<Slot> stack_;
  std::uint64_t mailbox_ = 0;
  std::optional<std::uint64_t> reserved_shared_;
  std::map<const Declaration*, std::uint64_t> shared_places_;
  std::uint64_t shared_ = 0, local_ = 0, dynamic_align_ = 1;
};

}  // namespace emu
