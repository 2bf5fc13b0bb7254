"""Doing a plan's steps, each once, however often the work is interrupted."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from common.files import write_whole
from tools.measuring import children

Result = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One program run, and what is kept of it."""

    name: str  # its file in the work folder
    label: str  # what the progress line says
    key: str  # all that must be unchanged for a kept result to stand
    alike: tuple[str, ...]  # steps that share one of these take about as long; closest first
    work: Callable[[], Result]
    company: str = ""  # steps that have the same can be done together


#: Does several steps by one run of a tool; the results, by the steps' names, of those that it did.
#: It is told the results so far.
Together = Callable[[Sequence[Step], Mapping[str, Result]], dict[str, Result]]


class Parts:
    """Finished steps, one whole file each, in a folder that git ignores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stale = 0

    def path(self, step: Step) -> Path:
        return self.folder / f"{step.name}.part"

    def load(self, step: Step, say: Callable[[str], None]) -> tuple[Result, float] | None:
        """A kept result and the seconds it took, where it is whole and still holds."""
        path = self.path(step)
        try:
            part = json.loads(path.read_text(encoding="utf-8"))
            kept = part["key"], part["result"], float(part["seconds"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            say(f"{path.name} is half-written: measured again")
            return None
        if kept[0] != step.key:
            self.stale += 1
            return None
        return kept[1], kept[2]

    def save(self, step: Step, result: Result, seconds: float) -> None:
        part = {"key": step.key, "seconds": round(seconds, 3), "result": result}
        write_whole(self.path(step), json.dumps(part, allow_nan=False))


class Progress:
    """A bar with the time left on a terminal; elsewhere a line per step."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self.out = out
        self.bar = out.isatty()

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        print(text, file=self.out, flush=True)

    def show(self, done: int, total: int, label: str, left: float | None) -> None:
        """What is being done now, on the bar."""
        if not self.bar:
            return
        full = round(20 * done / total)
        text = f"{'█' * full}{'░' * (20 - full)} {done}/{total} "
        text += f"{label}, {duration(left)} left" if left is not None else label
        self.clear()
        width = shutil.get_terminal_size().columns - 1
        print(text[:width], end="", file=self.out, flush=True)

    def step(self, done: int, total: int, label: str, seconds: float, left: float | None) -> None:
        """What has been done, where there is no bar."""
        if not self.bar:
            rest = f", {duration(left)} left" if left else ""
            self.say(f"[{done}/{total}] {label}: {duration(seconds)}{rest}")

    def clear(self) -> None:
        if self.bar:
            print("\r\x1b[K", end="", file=self.out, flush=True)


@dataclass
class Estimate:
    """The time that steps will take, from those that are finished."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def learn(self, step: Step, seconds: float) -> None:
        for kind in (*step.alike, ""):
            self.seconds.setdefault(kind, []).append(seconds)

    def of(self, steps: list[Step]) -> float | None:
        """Their seconds together; None while nothing is known."""
        if not self.seconds:
            return None
        known = (next(k for k in (*step.alike, "") if k in self.seconds) for step in steps)
        return sum(sum(self.seconds[kind]) / len(self.seconds[kind]) for kind in known)


def duration(seconds: float) -> str:
    """Time as people say it: "4.2 s", "1 min 05 s"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Worker:
    """Does steps and keeps their results; knows how far the whole plan has come."""

    def __init__(self, parts: Parts, plan: list[Step]) -> None:
        self.parts = parts
        self.waiting = {step.name: step for step in plan}
        self.done = 0
        self.reused = 0
        self.kept: dict[str, Result] = {}
        self.estimate = Estimate()
        self.progress = Progress()
        for step in plan:
            if part := parts.load(step, self.progress.say):
                self.kept[step.name], seconds = part
                self._count(step, seconds)
        self.reused = self.done
        if parts.stale:
            self.progress.say(
                f"{parts.stale} finished steps are of another build or commit: done again"
            )
        if self.reused:
            self.progress.say(f"{self.reused} of {len(plan)} steps are done already")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.clear()

    def do(
        self, steps: Sequence[Step], at_once: int = 1, together: Together | None = None
    ) -> dict[str, Result]:
        """The results of *steps* by their names, in their order; *together* does some at a time."""
        todo = [step for step in steps if step.name in self.waiting]
        tasks = _tasks(todo, together, self.kept)
        finished = _one_by_one(tasks) if at_once == 1 else _several(tasks, at_once)
        with contextlib.closing(finished):  # also where saving fails: nothing is left running
            self._show(todo)
            for step, result, seconds in finished:
                share = seconds / at_once  # of the time that all of them take together
                self.parts.save(step, result, share)
                self.kept[step.name] = result
                self._count(step, share)
                self.progress.step(self.done, self._total, step.label, seconds, self._left())
                self._show(todo)
        return {step.name: self.kept[step.name] for step in steps}

    def drop(self, steps: Sequence[Step]) -> None:
        """These won't be done after all."""
        for step in steps:
            self.waiting.pop(step.name, None)

    def _count(self, step: Step, seconds: float) -> None:
        del self.waiting[step.name]
        self.done += 1
        self.estimate.learn(step, seconds)

    @property
    def _total(self) -> int:
        return self.done + len(self.waiting)

    def _left(self) -> float | None:
        return self.estimate.of(list(self.waiting.values()))

    def _show(self, todo: Sequence[Step]) -> None:
        label = next((step.label for step in todo if step.name in self.waiting), None)
        if label:
            self.progress.show(self.done, self._total, label, self._left())


Finished = tuple[Step, Result, float]


#: Gives each step as it is finished.
Task = Callable[[], Iterator[Finished]]


def _tasks(
    steps: Sequence[Step], together: Together | None, kept: Mapping[str, Result]
) -> list[Task]:
    """Each company of steps by one run of a tool; what that didn't do is done alone."""

    def done(company: Sequence[Step]) -> Iterator[Finished]:
        begin = time.monotonic()
        results = together(company, kept) if together and len(company) > 1 else {}
        share = (time.monotonic() - begin) / (len(results) or 1)
        yield from ((step, results[step.name], share) for step in company if step.name in results)
        for step in company:
            if step.name not in results:
                start = time.monotonic()
                yield step, step.work(), time.monotonic() - start

    companies: dict[str, list[Step]] = {}
    for step in steps:
        alone = not together or not step.company
        companies.setdefault(f" {step.name}" if alone else step.company, []).append(step)
    return [partial(done, company) for company in companies.values()]


def _one_by_one(tasks: Sequence[Task]) -> Generator[Finished, None, None]:
    for task in tasks:
        yield from task()


def _several(tasks: Sequence[Task], at_once: int) -> Generator[Finished, None, None]:
    with _interrupts_noted() as noted, ThreadPoolExecutor(at_once) as pool:
        try:
            waiting = {pool.submit(lambda task: list(task()), task) for task in tasks}
            while waiting and not noted:
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield from future.result()
            if noted:
                raise KeyboardInterrupt
        except BaseException:
            # Interrupted, or one has failed: the others' work would be waited for and then
            # lost.
            pool.shutdown(wait=False, cancel_futures=True)
            children.stop_all()
            raise


@contextlib.contextmanager
def _interrupts_noted() -> Iterator[list[int]]:
    """Signals that ask to stop, noted in the list given instead of being raised at once.

    An exception from a signal's handler can come while a lock of the pool's is being taken or
    given back, and the lock then stays shut; and a main thread that waits for a lock without an end
    may not see a signal that came just before.
    """
    noted: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda which, _frame: noted.append(which))
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
