#include "ptx/lexer.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "emu/module.hpp"

namespace emu {
namespace {

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return is_alpha(c) || is_digit(c) || c == '_' || c == '$' || c == '%';
}

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

std::string with_short_words(std::string_view message) {
  constexpr std::size_t kLongest = 64;
  std::string text;
  while (!message.empty()) {
    const std::size_t length = std::min(message.find(' '), message.size());
    text += message.substr(0, std::min(length, kLongest));
    if (length > kLongest) text += message[length - 1] == '\'' ? "\u2026'" : "\u2026";
    message.remove_prefix(length);
    const std::size_t blanks = std::min(message.find_first_not_of(' '), message.size());
    text += message.substr(0, blanks);
    message.remove_prefix(blanks);
  }
  return text;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = peek();
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0') {
      ++at_;  // a zero byte ends the text in a fat binary: padding
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '/' && peek(1) == '*') {
      at_ += 2;
      while (at_ < text_.size() && (peek() != '*' || peek(1) != '/')) {
        if (text_[at_] == '\n') ++line_;
        ++at_;
      }
      at_ = at_ + 2 < text_.size() ? at_ + 2 : text_.size();
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= text_.size()) return {TokenKind::kEnd, {}, line_};
  const char c = peek();
  if (is_digit(c)) return number(line_);
  if (c == '"') return string(line_);
  if (is_name(c) || (c == '.' && (is_alpha(peek(1)) || peek(1) == '_'))) return word(line_);
  if (std::string_view("@!,;:(){}[]<>=+-|~*/&^?.#").find(c) == std::string_view::npos) {
    throw PtxError(line_, "a byte that begins nothing in PTX: " +
                              std::to_string(static_cast<unsigned char>(c)));
  }
  return {TokenKind::kPunct, text_.substr(at_++, 1), line_};
}

Token Lexer::word(int line) {
  const std::size_t begin = at_;
  const bool directive = peek() == '.';
  ++at_;
  while (true) {
    const char c = peek();
    const bool modifier = !directive && c == '.' && is_name(peek(1));
    if (is_name(c) || modifier) {
      ++at_;
    } else if (c == ':' && peek(1) == ':' && is_name(peek(2))) {
      at_ += 2;  // .shared::cta
    } else {
      break;
    }
  }
  return {directive ? TokenKind::kDirective : TokenKind::kWord, text_.substr(begin, at_ - begin),
          line};
}

Token Lexer::number(int line) {
  const std::size_t begin = at_;
  const auto finish = [&](TokenKind kind, std::uint64_t bits) {
    return Token{kind, text_.substr(begin, at_ - begin), line, bits};
  };
  const auto digits = [&](int base, int least, int most) {
    std::uint64_t value = 0;
    int count = 0;
    for (; digit_value(peek()) < base; ++at_, ++count) {
      if (count >= most) throw PtxError(line, "a number with too many digits");
      value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit_value(peek()));
    }
    if (count < least) throw PtxError(line, "a number with too few digits");
    return value;
  };
  if (peek() == '0' && (peek(1) == 'f' || peek(1) == 'F')) {
    at_ += 2;
    return finish(TokenKind::kFloat32, digits(16, 8, 8));
  }
  if (peek() == '0' && (peek(1) == 'd' || peek(1) == 'D')) {
    at_ += 2;
    return finish(TokenKind::kFloat64, digits(16, 16, 16));
  }
  std::uint64_t value = 0;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    at_ += 2;
    value = digits(16, 1, 16);
  } else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B')) {
    at_ += 2;
    value = digits(2, 1, 64);
  } else {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const bool fraction = end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1]);
    const bool exponent =
        end + 1 < text_.size() && (text_[end] == 'e' || text_[end] == 'E') &&
        (is_digit(text_[end + 1]) || text_[end + 1] == '-' || text_[end + 1] == '+');
    if (fraction || exponent) {
      double parsed = 0;
      const auto [stop, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), parsed);
      if (error != std::errc{}) throw PtxError(line, "a decimal fraction that can't be read");
      at_ = static_cast<std::size_t>(stop - text_.data());
      return finish(TokenKind::kFloat64, std::bit_cast<std::uint64_t>(parsed));
    }
    const bool octal = peek() == '0' && end - at_ > 1;
    const auto [stop, error] =
        std::from_chars(text_.data() + at_, text_.data() + end, value, octal ? 8 : 10);
    if (error != std::errc{} || stop != text_.data() + end) {
      throw PtxError(line, "a number that can't be read");
    }
    at_ = end;
  }
  if (peek() == 'U' || peek() == 'u') ++at_;
  return finish(TokenKind::kInteger, value);
}

Token Lexer::string(int line) {
  const std::size_t begin = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
  if (peek() != '"') throw PtxError(line, "a string without its end");
  return {TokenKind::kString, text_.substr(begin, at_++ - begin), line};
}

}  // namespace emu
