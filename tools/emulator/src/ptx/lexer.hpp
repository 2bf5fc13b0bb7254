/// \file
/// PTX text to tokens.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace emu {

enum class TokenKind {
  kEnd,
  kWord,       ///< a name, a register or an opcode with its modifiers: `x`, `%r1`, `ld.global.u32`
  kDirective,  ///< `.reg`, `.b32`
  kInteger,
  kFloat32,  ///< `0f3F800000`
  kFloat64,  ///< `0d…` or a decimal fraction
  kString,   ///< without its quotes
  kPunct
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text = {};
  int line = 1;
  std::uint64_t bits = 0;  ///< of a number: the integer, or the pattern of a float

  bool is(char punct) const { return kind == TokenKind::kPunct && text.front() == punct; }
  bool is(std::string_view directive) const {
    return kind == TokenKind::kDirective && text == directive;
  }
};

/// A message whose words are cut after 64 bytes: PTX may have a token of any length.
std::string with_short_words(std::string_view message);

/// Reads tokens one by one; throws PtxError for bytes that begin none.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  void skip_blanks();
  Token word(int line);
  Token number(int line);
  Token string(int line);
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace emu
