// The instruction table and what calls are made of, handed to the decoder.
#include <array>
#include <utility>

#include "decode/decode.hpp"
#include "isa/calls.hpp"
#include "isa/table.hpp"

namespace emu {

const InstructionSet& instruction_set() {
  static constexpr auto kBuiltins = std::to_array<Builtin>({{"__assertfail", &handle_assert, 4, 0},
                                                            {"vprintf", &handle_print, 2, 1},
                                                            {"malloc", &handle_malloc, 1, 1, true},
                                                            {"free", &handle_free, 1, 0, true}});
  static constexpr InstructionSet kSet{.find = &find_row,
                                       .builtins = kBuiltins,
                                       .enter = &handle_enter,
                                       .leave = &handle_leave,
                                       .place = &handle_place,
                                       .copy_local = &handle_copy_local,
                                       .put_argument = &handle_argument,
                                       .get_result = &handle_result};
  return kSet;
}

std::shared_ptr<Module> parse_ptx(std::string_view text, std::string origin, bool keep_text) {
  return read_module({text}, std::move(origin), keep_text, instruction_set());
}

std::shared_ptr<Module> parse_ptx(const std::vector<std::string>& texts, std::string origin,
                                  bool keep_text) {
  return read_module({texts.begin(), texts.end()}, std::move(origin), keep_text, instruction_set());
}

}  // namespace emu
