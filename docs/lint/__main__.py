"""The command; `python -m docs.lint --help` says what it takes."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace

from docs.lint import waivers


def _claims(asked: argparse.Namespace) -> None:
    sentences = waivers.guide()
    needed = waivers.uncovered(sentences)
    kept = waivers.parse(waivers.FILE.read_text(encoding="utf-8"))
    if asked.renew:
        kept = waivers.renewed(needed, kept)
    if asked.add:
        kept = kept + [
            replace(one, kind=asked.add)
            for one in waivers.new(needed, kept)
            if not asked.page or any(page in one.page for page in asked.page)
        ]
    if asked.renew or asked.add:
        waivers.FILE.write_text(waivers.text_of(kept), encoding="utf-8")
    for one in waivers.new(needed, kept):
        print(waivers.message(one, sentences))
    for one in waivers.stale(needed, kept):
        print(f"stale, take it out with --renew: {one}")
    shown = [one for one in kept if any(page in one.page for page in asked.page)]
    for one in shown:
        print(one)
    counts: Counter[str] = Counter()
    for one in kept:
        counts[f"{one.page} {one.kind}"] += len(one.words)
    for place, count in sorted(counts.items()):
        print(f"{count:5}  {place}")
    print(f"{sum(counts.values()):5}  words in {len(kept)} sentences")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.lint", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    claims = commands.add_parser("claims", help="numbers and comparisons that nothing covers")
    claims.add_argument("page", nargs="*", help="list these pages' sentences (part of a name)")
    claims.add_argument("--renew", action="store_true", help="take stale waivers out")
    claims.add_argument("--add", choices=waivers.KINDS, help="waive what is new, as this kind")
    claims.set_defaults(run=_claims)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
