"""A claim in plain words, for readers who want to see what was checked."""

from __future__ import annotations

from common.records.verdict import TIE

from .. import units
from ..provenance import short_device
from ..strings import _
from ..units import NO_BREAK
from .amounts import Number
from .evidence import Evidence
from .statement import (
    Arithmetic,
    Between,
    Bounds,
    Claim,
    Compare,
    Expression,
    Faster,
    OfDevice,
    Quantity,
    Run,
    Tie,
    Trend,
)

_SIGNS = {"<": _("less than"), "<=": _("at most"), ">": _("more than"), ">=": _("at least"),
          "=": _("equal to")}  # fmt: skip
_ARITHMETIC = {"*": "×", "/": "÷", "-": "−", "+": "+"}
_TRENDS = {"flat": _("stays the same"), "highest": _("is highest"), "lowest": _("is lowest")}


def _param(key: str, value: str) -> str:
    return f"{key}{NO_BREAK}={NO_BREAK}{_size(key, value)}"


def _size(key: str, value: str) -> str:
    """2²⁸ in place of 268435456."""
    return units.size(int(value)) if key == "n" and value.isdigit() else value


def _run(run: Run) -> str:
    params = ", ".join(_param(*one) for one in run.params)
    name = f"{run.chapter.partition('_')[0]}: {run.variant}" if run.chapter else run.variant
    return f"{name} ({params})" if params else name


def _runs(runs: tuple[Run, ...]) -> str:
    names = [_run(run) for run in runs]
    if len(names) == 1:
        return names[0]
    return _("{several} and {last}").format(several=", ".join(names[:-1]), last=names[-1])


def _amount(side: Expression) -> str:
    match side:
        case Quantity(name, run):
            return f"{name.replace('_', ' ')} of {_run(run)}"
        case OfDevice(name):
            return _("the card's {name}").format(name=name.replace("_", " "))
        case Arithmetic(Number(_value, _kind, text), "*", right):  # 2x that of B
            return f"{text.removesuffix('x')} × {_amount(right)}"
        case Arithmetic(left, sign, right):
            ends = [f"({_amount(one)})" if isinstance(one, Arithmetic) and sign in "*/"
                    else _amount(one) for one in (left, right)]  # fmt: skip
            return f" {_ARITHMETIC[sign]} ".join(ends)
        case Number(_value, _kind, text):
            return text.removesuffix("x") + "×" * text.endswith("x")
    raise TypeError(side)


def _bounds(bounds: Bounds | None) -> str:
    if bounds is None:
        return ""
    low, high = f"{bounds.low:g}", f"{bounds.high:g}"
    if high == "inf":
        word = _("more than") if bounds.is_low_open else _("at least")
        return f"{word} {low} "
    if bounds.low <= 1:
        return f"{_('less than') if bounds.is_high_open else _('at most')} {high} "
    return _("between {low} and {high} ").format(low=low, high=high)


def _statement(claim: Claim) -> str:
    within = "{:g}" + f"{NO_BREAK}%"
    match claim.statement:
        case Faster(first, second, bounds, is_denied, is_turned):
            if is_turned and bounds is None:
                first, second = second, first
            says = (_("{first} is {bounds}times as fast as {second}") if bounds
                    else _("{first} is slower than {second}") if is_turned
                    else _("{first} is faster than {second}"))  # fmt: skip
            said = says.format(first=_runs(first), second=_runs(second), bounds=_bounds(bounds))
            return _("not so: {said}").format(said=said) if is_denied else said
        case Tie(runs, is_level):
            says = (_("no difference is shown between {runs}") if is_level
                    else _("{runs} take the same time within {within}"))  # fmt: skip
            return says.format(runs=_runs(runs), within=within.format(100 * TIE))
        case Compare(sides, signs, share):
            said = _amount(sides[0])
            for sign, side in zip(signs, sides[1:], strict=True):
                said += f" is {_SIGNS[sign]} {_amount(side)}"
            return said + (f", within {within.format(100 * share)}" if share else "")
        case Between(value, low, high):
            return _("{value} lies between {low} and {high}").format(
                value=_amount(value), low=_amount(low), high=_amount(high)
            )
        case Trend(values, how, share, peak):
            said = f"{_(', then ').join(map(_amount, values))} {_TRENDS.get(how, how)}"
            if peak:
                said += f" at {_param(*peak.split('='))}"
            return said + (f", within {within.format(100 * share)}" if share else "")
    raise TypeError(claim.statement)


def _where(claim: Claim) -> str:
    said = [_param(*one) for one in claim.params]
    axis = claim.axis
    if axis and axis.values:
        said.append(", ".join(_param(axis.key, one) for one in axis.values))
    elif axis and not axis.low and not axis.high:
        said.append(_("at every {key}").format(key=axis.key))
    elif axis:
        low, high = (_size(axis.key, end) if end else "" for end in (axis.low, axis.high))
        span = _("{key} from {low}") if low else ""
        span += (_(" to {high}") if low else _("{key} up to {high}")) if high else ""
        said.append(span.format(key=axis.key, low=low, high=high))
    return f", {'; '.join(said)}" if said else ""


def words(claim: Claim) -> str:
    """What a claim says, as a sentence without its full stop."""
    return _statement(claim) + _where(claim)


def shown(evidence: Evidence) -> str:
    """What each recorded card showed: "H200 1.25×, H100 1.31× (does not hold)"."""
    said = []
    for outcome in evidence.outcomes.values():
        one = f"{short_device(outcome.device)} {outcome.short}"
        said.append(one if outcome.holds else _("{one} (does not hold)").format(one=one))
    return ", ".join(said)
