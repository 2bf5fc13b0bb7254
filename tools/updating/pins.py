"""The lists of pinned packages, and what the package index has that is newer.

A list has the packages that the book asks for, each with what it is for, then those that they bring
along. A comment that begins with ``held:`` says why a package keeps its version.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tools.packages import normal, pinned
from tools.updating import Refused

#: What an environment has, and its Python's version, in the words of pip's reports.
INSTALLED = """
import json, sys
from importlib.metadata import distributions
print(json.dumps(["%d.%d" % sys.version_info[:2], [
    {"name": one.metadata["Name"], "version": one.version, "requires_dist": one.requires}
    for one in distributions()]]))
"""
BROUGHT = "# What those bring along"
_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;#]+)(?P<rest>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """A package in one version, with what it requires, as its metadata says."""

    name: str
    version: str
    requires: tuple[str, ...] = ()

    @classmethod
    def told(cls, metadata: Mapping[str, Any]) -> Package:
        requires = tuple(metadata.get("requires_dist") or ())
        return cls(metadata["name"], metadata["version"], requires)


@dataclass
class Plan:
    """The lists as they would be, by file name, and what changes: name, old, new and list."""

    new: dict[str, str]
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)


def lists(root: Path) -> dict[str, str]:
    """The lists' text by file name, a list after those that it includes."""
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted((root / "tools").glob("requirements*.txt"))
    }

    def depth(name: str) -> int:
        included = re.findall(r"^-r (\S+)", texts[name], re.MULTILINE)
        return 1 + max((depth(other) for other in included), default=0)

    return {name: texts[name] for name in sorted(texts, key=depth)}


def planned(python: Path, root: Path, only: str | None) -> Plan:
    """What pip would install in place of what the environment of *python* has. Installs nothing."""
    texts = lists(root)
    asked, held = {}, set()
    for text in texts.values():
        for pin in _asked(text):
            asked[normal(pin["name"])] = pin["version"]
            if re.match(r"\s*# held:", pin["rest"]):
                held.add(normal(pin["name"]))
    everything = {normal(name) for path in texts for name in pinned(root / "tools" / path)}
    if only and normal(only) not in everything:
        raise Refused(f"--only {only}: no list in tools/ has a package of this name", 2)
    said = subprocess.run([python, "-c", INSTALLED], capture_output=True, text=True, check=True)
    version, installed = json.loads(said.stdout)
    _same_python(texts, version)
    there = _by_name(Package.told(one) for one in installed)
    if only:
        name = normal(only)
        wanted = [f"{one}=={asked[one]}" for one in asked if one != name]
        wanted.append(f"{name}>{there[name].version}")
    else:
        wanted = [f"{one}=={asked[one]}" if one in held else one for one in asked]
    # Where all may rise, their dependencies rise too, as far as they allow it.
    newer = _newer(python, wanted, "--upgrade-strategy=" + ("only-if-needed" if only else "eager"))
    if not newer:  # pip says the same of an index that has nothing at all
        name = normal(only) if only else next(iter(asked))
        probed = f"{name}=={there[name].version}"
        _newer(python, [probed], "--ignore-installed", "--no-deps")
    return raised(texts, there, {**there, **newer})


def raised(
    texts: Mapping[str, str], before: Mapping[str, Package], after: Mapping[str, Package]
) -> Plan:
    """The lists, when what is installed changes from *before* to *after*.

    A pin that nothing requires any more goes, and one that is newly required comes into the first
    list that needs it.
    """
    plan = Plan({})
    asked_of = {file: [normal(pin["name"]) for pin in _asked(text)] for file, text in texts.items()}
    asked = [name for names in asked_of.values() for name in names]
    placed: set[str] = set(asked)  # what a list has, up to where we are
    for file, text in texts.items():
        needed, was_needed = (_needed(asked_of[file], known) for known in (after, before))
        lines = []
        for line in text.splitlines():
            pin = _PIN.match(line)
            if not pin:
                lines.append(line)
                continue
            name, old = normal(pin["name"]), pin["version"]
            if name not in asked:
                if name in placed:  # a list before this one needs it now
                    continue
                if name in was_needed and name not in needed:
                    plan.rows.append((pin["name"], old, "no longer needed", file))
                    continue
            placed.add(name)
            new = after[name].version if name in after else old
            lines.append(_with_version(pin, new))
            if new != old:
                plan.rows.append((pin["name"], old, new, file))
        fresh = sorted(needed - placed - was_needed)
        for name in fresh:
            placed.add(name)
            plan.rows.append((after[name].name, "new", after[name].version, file))
        if fresh and not any(one.startswith(BROUGHT) for one in lines):
            lines += ["", f"{BROUGHT}."]
        if fresh:
            at = next(k for k, one in enumerate(lines) if one.startswith(BROUGHT)) + 1
            pins = [*lines[at:], *(f"{after[n].name}=={after[n].version}" for n in fresh)]
            lines[at:] = sorted(pins, key=str.lower)
        plan.new[file] = "\n".join(lines) + "\n"
    return plan


def _with_version(pin: re.Match[str], version: str) -> str:
    """The pin's line, its comment where it stood if the version leaves room."""
    words = pin["rest"].lstrip()
    column = len(pin[0]) - len(words)
    return f"{pin['name'] + '==' + version + '  ':<{column}}{words}".rstrip()


def _asked(text: str) -> Iterator[re.Match[str]]:
    """The pins of what a list asks for itself."""
    return _PIN.finditer(text.partition(BROUGHT)[0])


def _by_name(packages: Iterable[Package]) -> dict[str, Package]:
    return {normal(package.name): package for package in packages}


def _needed(names: Iterable[str], known: Mapping[str, Package]) -> set[str]:
    """These packages and all that they require here, as far as *known*."""
    found: set[tuple[str, str]] = set()
    left = [(name, "") for name in names]
    while left:
        name, extra = one = left.pop()
        if one in found or name not in known:
            continue
        found.add(one)
        for text in known[name].requires:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                wanted = normal(requirement.name)
                left += [(wanted, each) for each in ("", *requirement.extras)]
    return {name for name, _extra in found}


def _same_python(texts: Mapping[str, str], here: str) -> None:
    named = re.search(r"\bPython (3\.\d+)", "".join(texts.values()))
    if named and named[1] != here:
        raise Refused(
            f"the pins are for Python {named[1]}, and another Python can take other versions; "
            f"here is {here}. Run it where tools/setup finds {named[1]}, as on Debian 12",
            77,
        )


def _newer(python: Path, wanted: Iterable[str], *options: str) -> dict[str, Package]:
    """What pip would install for what is *wanted*."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [python, "-m", "pip", "install", "--dry-run", "--upgrade", f"--report={report}",
             "--disable-pip-version-check", "--no-input", "--progress-bar=off", "--retries=2",
             *options, *wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not done.returncode and "Retry(total=0" not in done.stderr:
            told = json.loads(report.read_text(encoding="utf-8"))
            return _by_name(Package.told(one["metadata"]) for one in told["install"])
    why = _why(done.stdout + done.stderr)
    if re.search(r"No matching distribution found for \S+>", why):  # --only's, as new as can be
        return {}
    raise Refused(why)


def _why(said: str) -> str:
    """What pip refused, in its own words but few of them; tools/setup tells the same apart."""
    if re.search(r"name resolution|NewConnectionError|ConnectTimeout|unreachable|ProxyError|"
                 r"Max retries", said):  # fmt: skip
        return "the Python package index doesn't answer; check the network, then run this again"
    conflict = re.search(r"^The conflict is caused by:\n((?:    .*\n)+)", said, re.MULTILINE)
    if conflict:
        return "the pins can't rise together:\n" + conflict[1].rstrip()
    errors = re.findall(r"^ERROR: (.*)", said, re.MULTILINE) or said.strip().splitlines()[-1:]
    return "pip failed: " + "\n".join(errors)
