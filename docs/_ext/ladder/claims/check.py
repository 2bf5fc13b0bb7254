"""Holds the words of a sentence against the claims that stand beside it.

Nothing here asks whether a claim is true: `evidence` does. Each fault names the words, the claims
and the fix; `KINDS` are what messages begin with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from docutils import nodes

from .. import facts
from . import relations, words
from .amounts import BadClaim
from .language import read_all
from .sentences import Sentence, sentences
from .statement import Claim, Compare, Faster, Tie, Trend

NUMBER, WORD, IDENTICAL, FAR, BELOW_ONE = (
    "a number that no claim has", "a word that no claim says", "identical sides",
    "a bound far from what was recorded", "'as fast' beside a ratio below one",
)  # fmt: skip
#: What would state a word, for messages.
_SAID_BY = {
    "faster": "'A faster than B'",
    "slower": "'A slower than B', or 'time of A > time of B'",
    "longer": "'A slower than B', or an amount with '>'",
    "shorter": "'A faster than B', or an amount with '<'",
    "more": "an amount with '>', or 'rises'",
    "less": "an amount with '<', or 'falls'",
    "tie": "'A and B tie'",
    "level": "'A and B level', '=', 'within 3 % of', or 'flat'",
    "rank": "'A fastest of B, C', 'A < B < C', or 'highest at'",
    "most": "a lower bound of half or more",
    "each": "an axis ('at every n', 'from 2^20'), each of several runs, or '='",
    "only": "a second claim that says what holds elsewhere",
}
#: Words that no sentence between claims may say by itself.
_COMPARES = ("faster", "slower", "longer", "tie", "rank")
_NUMBERED = re.compile(r"(\d+): *")


def beside(text: str, body: Iterable[nodes.Node]) -> list[tuple[Sentence, list[Claim]]]:
    """Each sentence of the body's paragraphs with its claims: ``2: A faster than B`` is about the
    second. Without a number a claim is about the only sentence that there is.
    """
    paragraphs = [one for one in body if isinstance(one, nodes.paragraph)]
    told = [(one, list[Claim]()) for each in paragraphs for one in sentences(each)]
    for line in re.split(r"[\n;]", re.sub(r"\n[ \t]+", " ", text)):
        found = _NUMBERED.match(line.strip())
        for claim in read_all(line.strip()[found.end() if found else 0 :]) if line.strip() else ():
            if not found and len(told) != 1:
                raise BadClaim(
                    f"'{claim.text}': says of which of the {len(told)} sentences? "
                    f"Write '2: {claim.text}' for the second"
                )
            number = int(found[1]) if found else 1
            if not 1 <= number <= len(told):
                raise BadClaim(f"'{claim.text}': there is no sentence {number}, but {len(told)}")
            told[number - 1][1].append(claim)
    if not any(claims for _sentence, claims in told):
        raise BadClaim("there is no claim")
    return told


def of_sentence(text: str, claims: Sequence[Claim]) -> Iterator[str]:
    """What a sentence, or a phrase, says that its claims don't."""
    stated = relations.stated(claims)
    said = "; ".join(claim.text for claim in claims)
    known = {fact.start for fact in facts.typed(text) if fact.is_right}
    for one in words.asked(text):
        if one.start in known or relations.answers(one, stated):
            continue
        if one.kind == "number":
            yield (
                f"{NUMBER}: \u201c{one.text}\u201d in \u201c{text}\u201d, beside '{said}'. Put it "
                "into the claim, show it by a role, or give it a sentence of its own"
            )
        else:
            denied = "not " if one.is_denied else ""
            yield (
                f"{WORD}: \u201c{denied}{one.text}\u201d in \u201c{text}\u201d, beside '{said}'. "
                f"It asks for {_SAID_BY[one.kind]}{' denied' if denied else ''}: change one of them"
            )


def of_claim(claim: Claim) -> Iterator[str]:
    """What is wrong with a claim whatever was recorded."""
    match claim.statement:
        case Faster(first, second):
            pairs = [str(run) for run in first if run in second]
        case Tie(runs):
            pairs = [str(run) for run in runs if runs.count(run) > 1]
        case Compare(sides):
            pairs = [str(one) for one in sides if sides.count(one) > 1]
        case Trend(values):
            pairs = [str(one) for one in values if values.count(one) > 1]
        case _:
            pairs = []
    if pairs:
        yield f"{IDENTICAL}: '{claim.text}' compares {pairs[0]} with itself"


def of_others(told: Sequence[tuple[Sentence, list[Claim]]]) -> Iterator[str]:
    """What the sentences between say that no claim of the paragraph does: words alone."""
    every = [claim for _sentence, claims in told for claim in claims]
    stated = relations.stated(every)
    for sentence, claims in told:
        for one in () if claims or sentence.is_cited else words.asked(sentence.text):
            if one.kind in _COMPARES and not relations.answers(one, stated):
                yield (
                    f"{WORD}: \u201c{one.text}\u201d in \u201c{sentence.text}\u201d, between "
                    f"claims. It asks for {_SAID_BY[one.kind]}: add one, or change the word"
                )
