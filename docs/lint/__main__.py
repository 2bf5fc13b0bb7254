"""The command; `python -m docs.lint --help` says what it takes."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace

from docs.lint import texts, tics, waivers
from docs.page_source import ROOT


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


def _tics(asked: argparse.Namespace) -> None:
    found = [tic for one in texts.everything(ROOT) for tic in tics.tics(one)]
    now, kept = tics.counted(found), tics.parse(tics.FILE.read_text(encoding="utf-8"))
    if asked.renew:
        kept = tics.lowered(now, kept)
        tics.FILE.write_text(tics.text_of(kept), encoding="utf-8")
    for tic in found:
        if not asked.path or any(path in tic.path for path in asked.path):
            print(tic)
    for path, rule in tics.risen(now, kept):
        print(f"{path}: {rule}: {now[path, rule]}, and {kept.get((path, rule), 0)} are allowed")
    for path, rule in tics.fallen(now, kept):
        print(f"{path}: {rule}: fell to {now.get((path, rule), 0)}; lower it with --renew")
    for rule, count in Counter(tic.rule for tic in found).most_common():
        print(f"{count:5}  {rule}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.lint", description=__doc__)
    commands = parser.add_subparsers(required=True)
    claims = commands.add_parser("claims", help="numbers and comparisons that nothing covers")
    claims.add_argument("page", nargs="*", help="list these pages' sentences (part of a name)")
    claims.add_argument("--renew", action="store_true", help="take stale waivers out")
    claims.add_argument("--add", choices=waivers.KINDS, help="waive what is new, as this kind")
    claims.set_defaults(run=_claims)
    heard = commands.add_parser("tics", help="turns of phrase that no native engineer would use")
    heard.add_argument("path", nargs="*", help="show these files' places (part of a name)")
    heard.add_argument("--renew", action="store_true", help="lower the counts that have fallen")
    heard.set_defaults(run=_tics)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
