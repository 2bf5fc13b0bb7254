"""What a chapter's kernel code declares, and which of it each piece of code names.

Not a compiler: it splits a file into the declarations at namespace scope and looks for their names.
That is enough to know which other code a kernel's machine code is made of. What it can't make out
is refused, for a name that it missed would leave a changed kernel's numbers looking fresh.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Literals come first, so that a // inside a string is not taken for a comment. The look-behind
# keeps the digit separators of 1'000'000 from opening a character literal.
LITERAL_OR_COMMENT = re.compile(
    r"""(?P<literal> "(?:\\.|[^"\\\n])*" | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+' )
      | (?P<comment> //[^\n]* | /\*.*?\*/ )""",
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define\s+(\w+)", re.MULTILINE)
_TOKEN = re.compile(r"::|->|[A-Za-z_]\w*|\d[\w.']*|[^\s\w]")
_OPENING, _CLOSING = "([{", ")]}"
#: Words that may stand before a parenthesis and name no function.
_SPECIFIERS = {
    *("alignas", "__align__", "__launch_bounds__", "__attribute__"),
    *("decltype", "noexcept", "requires", "explicit"),
}


class Unreadable(Exception):
    """Code that is not understood; with the position in the text."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(what)
        self.at = at
        self.what = what


@dataclass(frozen=True)
class Token:
    text: str
    at: int  # its first character's place in the text

    @property
    def is_name(self) -> bool:
        return self.text[0].isalpha() or self.text[0] == "_"


@dataclass(frozen=True)
class Declaration:
    """One declaration at namespace scope."""

    names: tuple[str, ...]  # that it declares; none for a static_assert
    scope: tuple[str, ...]  # the namespaces around it, outermost first
    tokens: Sequence[Token] = field(repr=False)
    begin: int  # in the file's text
    end: int

    def mentions(self, known: Mapping[str, object]) -> Iterator[str]:
        """The names in *known*, qualified, that it uses, in the order in which it does."""
        declared = set(self.names)
        for _place, chain in _chains(self.tokens):
            if len(chain) == 1 and chain[0] in declared:
                declared.remove(chain[0])  # where it is declared, which is no use of a namesake
                continue
            name = _resolved(chain, self.scope, known)
            if name:
                yield name


def instances(
    text: str, scope: tuple[str, ...], known: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """Templates in *known* that a file names with arguments, each with an argument in *known*.

    A kernel's own code doesn't name what its launch puts into it.
    """
    tokens = tokens_of(text)
    for place, chain in _chains(tokens):
        if place + 1 < len(tokens) and tokens[place + 1].text == "<":
            template, end = _resolved(chain, scope, known), _past_angles(tokens, place + 1)
            if template and end:
                for _place, argument in _chains(tokens[place + 2 : end - 1]):
                    if used := _resolved(argument, scope, known):
                        yield template, used


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def tokens_of(text: str) -> list[Token]:
    """The code's, each at its place; without comments, literals and directives."""
    code = _DIRECTIVE.sub(_blank, LITERAL_OR_COMMENT.sub(_blank, text))
    return [Token(match[0], match.start()) for match in _TOKEN.finditer(code)]


def declarations(text: str) -> list[Declaration]:
    """All that a file declares at namespace scope, in order."""
    found = []
    if macro := _MACRO.search(LITERAL_OR_COMMENT.sub(_blank, text)):
        raise Unreadable(macro.start(), f"'{macro[1]}' is a macro, which is not followed here")
    tokens = tokens_of(text)
    scopes: list[tuple[str, ...]] = [()]
    at = 0
    while at < len(tokens):
        first = tokens[at]
        if first.text == "namespace":
            opened = next(i for i in range(at, len(tokens)) if tokens[i].text in "{;=")
            if tokens[opened].text != "{":
                raise Unreadable(first.at, "an alias of a namespace, which is not followed here")
            names = [token.text for token in tokens[at + 1 : opened] if token.is_name]
            scopes.append((*scopes[-1], *names))
            at = opened + 1
        elif first.text == "}":
            if len(scopes) == 1:
                raise Unreadable(first.at, "'}' that closes nothing")
            scopes.pop()
            at += 1
        elif first.text == ";":
            at += 1
        else:
            end = _end(tokens, at)
            piece = tokens[at:end]
            last = piece[-1]
            found.append(
                Declaration(_declared(piece), scopes[-1], piece, first.at, last.at + len(last.text))
            )
            at = end
    if len(scopes) > 1:
        raise Unreadable(len(text) - 1, f"namespace '{'::'.join(scopes[-1])}' is not closed")
    return found


def _end(tokens: Sequence[Token], at: int) -> int:
    """Just past the declaration that begins at *at*: its semicolon, or its body's brace."""
    depth = 0
    for place in range(at, len(tokens)):
        text = tokens[place].text
        if text in _OPENING:
            depth += 1
        elif text in _CLOSING:
            depth -= 1
            if depth < 0:
                break
            following = tokens[place + 1].text if place + 1 < len(tokens) else ""
            if text == "}" and depth == 0 and following != ";":
                return place + 1
        elif text == ";" and depth == 0:
            return place + 1
    raise Unreadable(
        tokens[at].at, f"a declaration that begins with '{tokens[at].text}' and does not end"
    )


def _declared(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The names that a declaration declares."""
    rest = list(tokens)
    for before, token in itertools.pairwise(rest):
        if token.text == "namespace":  # an inline one, a directive or an alias, here or in a body
            raise Unreadable(token.at, f"'{before.text} namespace', which is not followed here")
    if [token.text for token in rest[:2]] == ["extern", "{"]:
        raise Unreadable(rest[0].at, 'extern "C", which is not followed here')
    while rest[0].text == "template":
        end = _past_angles(rest, 1)
        if end is None:
            raise Unreadable(rest[0].at, "template parameters that do not end")
        rest = rest[end:]
    word = rest[0].text
    if word == "static_assert":
        return ()
    if word == "using":
        return _used(rest)
    if word in ("struct", "class", "union", "enum"):
        return _type_names(rest)
    names, depth, angles, template = [], 0, 0, ""
    for place, token in enumerate(rest):
        before = rest[place - 1] if place else token
        text = token.text
        if text == "operator":
            raise Unreadable(token.at, "an operator, whose uses can't be told by its name")
        if depth == 0 and angles == 0 and text == "(" and before.text == ">":
            return (template,)  # a specialisation
        if depth == 0 and angles == 0 and before.is_name:
            if text == "(" and before.text not in _SPECIFIERS:
                # Of a member defined outside its class, the class: who uses that uses this.
                return (_chain_to(rest, place - 1)[0],)
            if text in "=[;{,":
                names.append(before.text)
        if text == "=" and depth == 0:  # what follows is a value, up to the next comma
            depth, angles = -1, 0
        elif depth == -1:
            depth = 0 if text == "," else -1
        elif text in _OPENING:
            depth += 1
        elif text in _CLOSING:
            depth -= 1
        elif text == "<" and before.is_name:
            template = template if angles else before.text
            angles += 1
        elif text == ">" and angles:
            angles -= 1
    if not names:
        raise Unreadable(tokens[0].at, "a declaration whose name can't be made out")
    return tuple(dict.fromkeys(names))


def _used(tokens: Sequence[Token]) -> tuple[str, ...]:
    if tokens[1].text == "enum":
        raise Unreadable(tokens[0].at, "'using enum', which is not followed here")
    equals = next((i for i, token in enumerate(tokens) if token.text == "="), None)
    name = tokens[1] if equals is not None else tokens[-2]
    return (name.text,)


def _type_names(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The type's name; of an enumeration without `class` those of its values, too."""
    place = 1
    scoped = tokens[0].text != "enum" or tokens[1].text in ("class", "struct")
    while tokens[place].text in ("class", "struct") or tokens[place].text in _SPECIFIERS:
        if tokens[place].text in _SPECIFIERS:
            while tokens[place].text != ")":
                place += 1
        place += 1
    if not tokens[place].is_name:
        raise Unreadable(tokens[0].at, "a type without a name")
    if tokens[-2].text != "}" and any(token.text == "{" for token in tokens):
        raise Unreadable(tokens[0].at, "a type and a variable in one declaration")
    values = (
        []
        if scoped
        else [
            token.text
            for before, token in zip(tokens[place:], tokens[place + 1 :], strict=False)
            if before.text in "{," and token.is_name
        ]
    )
    return (tokens[place].text, *values)


def _past_angles(tokens: Sequence[Token], at: int) -> int | None:
    """Just past the angle that closes the one at *at*; None where that was a comparison."""
    depth = parentheses = 0
    for place in range(at, len(tokens)):
        text = tokens[place].text
        if text in ";{":
            break
        parentheses += (text == "(") - (text == ")")
        if parentheses == 0:
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return place + 1
    return None


# ---------------------------------------------------------------------------------- mentions


def _chain_to(tokens: Sequence[Token], last: int) -> list[str]:
    """The qualified name that ends at *last*, part by part."""
    first = last
    while first >= 2 and tokens[first - 1].text == "::" and tokens[first - 2].is_name:
        first -= 2
    return [token.text for token in tokens[first : last + 1 : 2]]


def _chains(tokens: Sequence[Token]) -> Iterator[tuple[int, list[str]]]:
    """Every qualified name in a piece of code, with the place of its last part.

    A member's name, behind a dot or an arrow, is none.
    """
    for place, token in enumerate(tokens):
        follows = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if not token.is_name or follows == "::":
            continue
        chain = _chain_to(tokens, place)
        before = place - 2 * len(chain) + 1
        if before < 0 or tokens[before].text not in (".", "->"):
            yield place, chain


def _resolved(
    chain: Sequence[str], scope: Sequence[str], known: Mapping[str, object]
) -> str | None:
    """The known name that a chain means in a scope; or its first parts, for a type's members."""
    for parts in range(1, len(chain) + 1):
        for outer in range(len(scope), -1, -1):
            name = "::".join([*scope[:outer], *chain[:parts]])
            if name in known:
                return name
    return None
