#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "emu/module.hpp"
#include "ptx/lexer.hpp"
#include "ptx/syntax.hpp"

namespace emu {

std::optional<Type> type_named(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Type>, 22> kTypes{{
      {"pred", Type::kPred},   {"b8", Type::kB8},         {"b16", Type::kB16},
      {"b32", Type::kB32},     {"b64", Type::kB64},       {"b128", Type::kB128},
      {"u8", Type::kU8},       {"u16", Type::kU16},       {"u32", Type::kU32},
      {"u64", Type::kU64},     {"s8", Type::kS8},         {"s16", Type::kS16},
      {"s32", Type::kS32},     {"s64", Type::kS64},       {"f16", Type::kF16},
      {"f16x2", Type::kF16x2}, {"f32", Type::kF32},       {"f64", Type::kF64},
      {"bf16", Type::kBf16},   {"bf16x2", Type::kBf16x2}, {"u16x2", Type::kU16x2},
      {"s16x2", Type::kS16x2},
  }};
  if (name.starts_with('.')) name.remove_prefix(1);
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

namespace {

constexpr int kMaxDepth = 64;  // of braces in braces; nvcc writes two
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  Syntax module() {
    while (now_.kind != TokenKind::kEnd) top_level();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw PtxError(now_.line, with_short_words(message));
  }
  [[noreturn]] void expected(const std::string& what) const {
    std::string found = "the end";
    if (now_.kind != TokenKind::kEnd) found = std::string("'").append(now_.text).append("'");
    fail("expected " + what + ", found " + found);
  }

  Token advance() {
    const Token was = now_;
    now_ = lexer_.next();
    return was;
  }
  bool accept(char punct) {
    if (!now_.is(punct)) return false;
    advance();
    return true;
  }
  bool accept(std::string_view directive) {
    if (!now_.is(directive)) return false;
    advance();
    return true;
  }
  void expect(char punct) {
    if (!accept(punct)) expected(std::string("'") + punct + "'");
  }
  std::string_view word(const char* what) {
    if (now_.kind != TokenKind::kWord) expected(what);
    return advance().text;
  }
  std::uint64_t integer() {
    if (now_.kind != TokenKind::kInteger) expected("a number");
    return advance().bits;
  }
  int small_integer() {
    return static_cast<int>(std::min<std::uint64_t>(integer(), std::numeric_limits<int>::max()));
  }
  Type type() {
    if (now_.kind != TokenKind::kDirective) expected("a type");
    const auto found = type_named(now_.text);
    if (!found) expected("a type");
    advance();
    return *found;
  }

  void top_level() {
    if (accept(".version")) {
      if (now_.kind != TokenKind::kFloat64) expected("a version");
      advance();
      return;
    }
    if (accept(".target")) return target();
    if (accept(".address_size")) {
      if (integer() != 64) fail("only .address_size 64 is supported");
      return;
    }
    if (accept(".file")) return file();
    if (accept(".section")) return section();
    if (accept(".pragma") || accept(".alias")) return skip_statement();
    bool external = false, shared = false;
    while (true) {
      if (accept(".extern")) {
        external = true;
      } else if (!accept(".visible") && !accept(".weak") && !accept(".common")) {
        break;
      }
      shared = true;
    }
    if (accept(".entry")) return function(true, shared);
    if (accept(".func")) return function(false, shared);
    if (now_.is(".global") || now_.is(".const") || now_.is(".shared") || now_.is(".local")) {
      const std::size_t first = out_.variables.size();
      declarations(out_.variables, external, 0);
      for (std::size_t i = first; i < out_.variables.size(); ++i) out_.variables[i].shared = shared;
      return;
    }
    if (accept(';')) return;
    expected("a directive of a module");
  }

  void target() {
    do {
      const std::string_view name = word("a target");
      if (name == "debug") out_.debug = true;
      if (name.starts_with("sm_")) {
        int number = 0;
        for (const char c : name.substr(3, 4)) {
          if (c < '0' || c > '9') break;
          number = number * 10 + (c - '0');
        }
        out_.target = number;
      }
    } while (accept(','));
  }

  void file() {
    const int number = small_integer();
    if (now_.kind != TokenKind::kString) expected("a file's name");
    out_.files[number] = std::string(advance().text);
    while (accept(',')) integer();
  }

  void section() {  // debugging data, for tools that read it
    advance();
    expect('{');
    for (int depth = 1; depth > 0; advance()) {
      if (now_.kind == TokenKind::kEnd) expected("the end of a section");
      if (now_.is('{')) ++depth;
      if (now_.is('}')) --depth;
      if (depth == 0) break;
    }
    expect('}');
  }

  void skip_statement() {
    while (!now_.is(';')) {
      if (now_.kind == TokenKind::kEnd) expected("';'");
      advance();
    }
    advance();
  }

  static std::uint64_t bytes_of(Type type) { return std::max(1u, width(type) / 8); }

  /// `.space [.align n] [.ptr …] [.vN] .type name [dims] [= values]`, without what ends it.
  Declaration declaration(bool external, int scope) {
    Declaration d;
    d.space = advance().text;
    d.external = external;
    d.scope = scope;
    d.line = now_.line;
    std::uint64_t align = 0, lanes = 1;
    while (now_.kind == TokenKind::kDirective && !type_named(now_.text)) {
      if (accept(".align")) {
        align = integer();
      } else if (accept(".v2")) {
        lanes = 2;
      } else if (accept(".v4")) {
        lanes = 4;
      } else if (!(accept(".ptr") || accept(".global") || accept(".shared") || accept(".const") ||
                   accept(".local") || accept(".managed"))) {
        // .attribute(.managed) and the like change where a variable lives: not here
        if (accept(".attribute")) {
          expect('(');
          while (!accept(')')) {
            if (now_.kind == TokenKind::kEnd) expected("')'");
            advance();
          }
        } else {
          expected("a type");
        }
      }
    }
    d.type = type();
    while (accept(".ptr") || accept(".global") || accept(".shared") || accept(".const") ||
           accept(".local")) {
    }
    if (accept(".align")) {  // of what a pointer points to
      integer();
    }
    d.name = word("a name");
    d.bytes = bytes_of(d.type) * lanes;
    d.align = align ? align : d.bytes;
    if (d.align > 4096 || (d.align & (d.align - 1)) != 0)
      fail("an alignment that isn't a power of two");
    while (accept('[')) {
      if (accept(']')) {
        d.unsized = true;
        continue;
      }
      const std::uint64_t n = integer();
      if (n != 0 && d.bytes > kMaxBytes / n) fail("an array that is too large");
      d.bytes *= n;
      expect(']');
    }
    if (d.unsized) d.bytes = 0;
    if (accept('=')) initialiser(d.values, 0);
    if (d.unsized && !d.values.empty()) {
      d.bytes = bytes_of(d.type) * d.values.size();
      d.unsized = false;
    }
    return d;
  }

  void initialiser(std::vector<Operand>& values, int depth) {
    if (depth > kMaxDepth) fail("braces nested too deep");
    if (accept('{')) {
      if (accept('}')) return;
      do initialiser(values, depth + 1);
      while (accept(','));
      expect('}');
      return;
    }
    values.push_back(operand(depth));
    if (accept('(')) {  // generic(name), and 0xFF(name) masks a byte of an address
      Operand inner = operand(depth);
      expect(')');
      inner.second = values.back().kind == Operand::Kind::kName ? "generic" : "mask";
      inner.bits = values.back().bits;
      values.back() = inner;
      if (now_.is('+') || now_.is('-')) {
        const bool minus = advance().is('-');
        const auto n = static_cast<std::int64_t>(integer());
        values.back().offset += minus ? -n : n;
      }
    }
  }

  void declarations(std::vector<Declaration>& out, bool external, int scope) {
    out.push_back(declaration(external, scope));
    while (accept(',')) {  // same space and type; only names differ
      Declaration more = out.back();
      more.values.clear();
      more.name = word("a name");
      out.push_back(more);
    }
    expect(';');
  }

  void parameters(std::vector<Declaration>& out) {
    if (!accept('(')) return;
    if (accept(')')) return;
    do {
      if (now_.is(".reg")) fail("parameters in registers aren't supported");
      if (!now_.is(".param")) expected("'.param'");
      out.push_back(declaration(false, 0));
    } while (accept(','));
    expect(')');
  }

  void function(bool is_kernel, bool shared) {
    Function f;
    f.is_kernel = is_kernel;
    f.shared = shared;
    f.line = now_.line;
    if (!is_kernel) parameters(f.results);
    f.name = word("a function's name");
    parameters(f.parameters);
    while (!now_.is('{') && !now_.is(';')) {
      if (accept(".maxntid") || accept(".reqntid")) {
        std::uint64_t threads = 1;
        do threads *= std::min<std::uint64_t>(integer(), 1 << 16);
        while (accept(','));
        f.max_threads = std::min<std::uint64_t>(threads, 1024);
      } else if (accept(".reqnctapercluster")) {
        std::size_t i = 0;
        do {
          const std::uint64_t blocks = std::min<std::uint64_t>(integer(), 1 << 16);
          if (i < f.cluster.size()) f.cluster[i] = static_cast<unsigned>(blocks);
          ++i;
        } while (accept(','));
      } else if (now_.kind == TokenKind::kDirective || now_.kind == TokenKind::kInteger ||
                 now_.is(',') || now_.kind == TokenKind::kString) {
        advance();  // hints to the assembler
      } else {
        expected("a function's body");
      }
    }
    f.scopes.emplace_back();
    if (!accept(';')) {
      f.has_body = true;
      file_ = source_line_ = 0;
      outer_ = {};
      outers_.clear();
      block(f, 0, 0);
    }
    out_.functions.push_back(std::move(f));
  }

  void block(Function& f, int scope, int depth) {
    if (depth > kMaxDepth) fail("braces nested too deep");
    expect('{');
    while (!accept('}')) {
      if (now_.kind == TokenKind::kEnd) expected("'}'");
      if (now_.is('{')) {
        f.scopes.emplace_back().parent = scope;
        block(f, static_cast<int>(f.scopes.size()) - 1, depth + 1);
      } else {
        statement(f, scope);
      }
    }
  }

  void statement(Function& f, int scope) {
    if (accept(';')) return;
    if (accept(".loc")) return location();
    if (accept(".reg")) return registers(f.scopes[static_cast<std::size_t>(scope)]);
    if (accept(".pragma")) return skip_statement();
    if (now_.is(".local") || now_.is(".shared") || now_.is(".param") || now_.is(".global") ||
        now_.is(".const")) {
      const std::size_t first = f.variables.size();
      declarations(f.variables, false, scope);
      for (std::size_t i = first; i < f.variables.size(); ++i) {
        f.scopes[static_cast<std::size_t>(scope)].variables[f.variables[i].name] = i;
      }
      return;
    }
    if (now_.kind == TokenKind::kDirective) expected("a statement");
    instruction(f, scope);
  }

  void location() {
    file_ = small_integer();
    source_line_ = small_integer();
    const int column = small_integer();
    outer_ = {};
    while (accept(',')) {  // function_name sym [+ n], inlined_at file line column
      const std::string_view what = word("'function_name' or 'inlined_at'");
      if (what == "function_name") {
        word("a name");
        if (accept('+')) integer();
      } else {
        const int file = small_integer(), line = small_integer();
        const auto outer = outers_.find({file, line, small_integer()});
        outer_ = outer == outers_.end() ? std::pair{file, line} : outer->second;
        outers_[{file_, source_line_, column}] = outer_;
      }
    }
  }

  void registers(Scope& scope) {
    if (now_.is(".v2") || now_.is(".v4")) fail("vector registers aren't supported");
    const Type t = type();
    do {
      const std::string_view name = word("a register");
      if (accept('<')) {
        scope.ranges[name] = {t, integer()};
        expect('>');
      } else {
        scope.registers[name] = t;
      }
    } while (accept(','));
    expect(';');
  }

  void instruction(Function& f, int scope) {
    Instruction in;
    in.scope = scope;
    if (accept('@')) {
      in.guard_negated = accept('!');
      in.guard = word("a predicate");
    }
    in.line = now_.line;
    in.text = word("an instruction");
    if (in.guard.empty() && accept(':')) {
      Scope& s = f.scopes[static_cast<std::size_t>(scope)];
      if (accept(".branchtargets")) {
        auto& targets = s.targets[in.text];
        do targets.push_back(word("a label"));
        while (accept(','));
        expect(';');
      } else if (accept(".callprototype")) {
        Prototype& p = s.prototypes[in.text];
        parameters(p.results);
        word("'_'");
        parameters(p.parameters);
        skip_statement();  // .noreturn and the like
      } else if (accept(".calltargets")) {
        s.call_targets[in.text] = word("a function");
        skip_statement();
      } else {
        s.labels[in.text] = f.body.size();
      }
      return;
    }
    in.file = file_;
    in.source_line = source_line_;
    std::tie(in.outer_file, in.outer_line) = outer_;
    std::size_t begin = 0;
    for (std::size_t dot = 0; (dot = in.text.find('.', begin)) != std::string_view::npos;) {
      if (begin == 0) in.opcode = in.text.substr(0, dot);
      begin = dot + 1;
      in.modifiers.push_back(
          in.text.substr(begin, std::min(in.text.find('.', begin), in.text.size()) - begin));
    }
    if (in.opcode.empty()) in.opcode = in.text;
    if (!now_.is(';')) {
      do in.operands.push_back(operand(0));
      while (accept(','));
    }
    expect(';');
    f.body.push_back(std::move(in));
  }

  Operand list(char end, int depth) {
    Operand o;
    o.kind = Operand::Kind::kList;
    if (accept(end)) return o;
    do o.elements.push_back(operand(depth + 1));
    while (accept(','));
    expect(end);
    return o;
  }

  Operand operand(int depth) {
    if (depth > kMaxDepth) fail("brackets nested too deep");
    Operand o;
    if (accept('{')) {
      o = list('}', depth);
      if (accept('|')) o.second = word("a predicate");  // of a texture's read
      return o;
    }
    if (accept('(')) return list(')', depth);
    if (accept('[')) {
      o = operand(depth + 1);
      if (o.kind == Operand::Kind::kInteger) {
        o.offset = static_cast<std::int64_t>(o.bits);
      } else if (o.kind != Operand::Kind::kName) {
        expected("an address");
      }
      o.kind = Operand::Kind::kAddress;
      while (accept(',')) o.elements.push_back(operand(depth + 1));  // of textures and tensors
      if (!now_.is(']')) expected("']' (other forms of address aren't supported)");
      advance();
      return o;
    }
    if (accept('!')) {
      o.negated = true;
      o.name = word("a predicate");
      return o;
    }
    const bool minus = accept('-');
    switch (now_.kind) {
      case TokenKind::kInteger:
        o.kind = Operand::Kind::kInteger;
        o.bits = minus ? 0 - now_.bits : now_.bits;
        break;
      case TokenKind::kFloat32:
        o.kind = Operand::Kind::kFloat32;
        o.bits = minus ? now_.bits ^ 0x8000'0000u : now_.bits;
        break;
      case TokenKind::kFloat64:
        o.kind = Operand::Kind::kFloat64;
        o.bits = minus ? now_.bits ^ (std::uint64_t{1} << 63) : now_.bits;
        break;
      case TokenKind::kWord:
        if (minus) expected("a number");
        o.name = now_.text;
        break;
      default: expected("an operand");
    }
    advance();
    if (o.kind != Operand::Kind::kName) return o;
    if (accept('|')) {
      o.second = word("a predicate");
    } else if (now_.is('+') || now_.is('-')) {
      bool negative = advance().is('-');
      if (accept('-')) negative = !negative;  // `[%r1+-4]` is how nvcc writes it
      const auto n = static_cast<std::int64_t>(integer());
      o.offset = negative ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(n)) : n;
    }
    return o;
  }

  Lexer lexer_;
  Token now_;
  Syntax out_;
  std::pair<int, int> outer_;  ///< file and line into which the current one was inlined
  std::map<std::array<int, 3>, std::pair<int, int>> outers_;  ///< by file, line, column
  int file_ = 0, source_line_ = 0;
};

}  // namespace

Syntax parse_syntax(std::string_view text) {
  return Parser(text).module();
}

}  // namespace emu
