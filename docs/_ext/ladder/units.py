"""How a number is written on a page: value, no-break space, unit."""

from __future__ import annotations

from figures.kit.words import significant

NO_BREAK = "\u00a0"
THIN = "\u202f"  # narrow no-break space, between groups of three digits
TIMES = "\u00d7"
DASH = "\u2013"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def digits(value: float, places: int = 3) -> str:
    """``value`` to so many significant digits, by the book's one rule."""
    return group(significant(value, places))


def group(number: str) -> str:
    """Thin spaces between groups of three, from five digits on."""
    whole, point, rest = number.partition(".")
    if len(whole.lstrip("-")) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return whole + point + rest


def count(value: float) -> str:
    """A count, exactly; a mean that is not whole to three digits."""
    return group(str(int(value))) if float(value).is_integer() else digits(value)


def _time_scale(us: float) -> tuple[float, str]:
    if us < 1e3:
        return 1.0, "\u00b5s"
    return (1e-3, "ms") if us < 1e6 else (1e-6, "s")


def time(us: float) -> str:
    scale, unit = _time_scale(us)
    return f"{digits(us * scale)}{NO_BREAK}{unit}"


def time_difference(longer_us: float, shorter_us: float) -> str:
    """A difference of two times, to two digits: more is noise where they are close."""
    scale, unit = _time_scale(abs(longer_us - shorter_us))
    return f"{digits((longer_us - shorter_us) * scale, 2)}{NO_BREAK}{unit}"


def interval(low_us: float, high_us: float) -> str:
    """A narrow interval, with enough digits that its ends differ where they do."""
    scale, unit = _time_scale(high_us)
    return f"{digits(low_us * scale, 4)}{DASH}{digits(high_us * scale, 4)}{NO_BREAK}{unit}"


def rate(gb_per_s: float) -> str:
    return f"{digits(gb_per_s)}{NO_BREAK}GB/s"


def percent(value: float) -> str:
    return f"{digits(value)}{NO_BREAK}%"


def ratio(value: float) -> str:
    """To two decimals where the first is small; a gain of 1.00 is said in full."""
    return (f"{value:.2f}" if value < 10 else digits(value)) + TIMES


def plain_bytes(value: float) -> str:
    return f"{count(value)}{NO_BREAK}B"


def decimal_bytes(value: float) -> str:
    """Traffic, in the powers of ten that bandwidth is given in."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= scale:
            return f"{digits(value / scale)}{NO_BREAK}{unit}"
    return plain_bytes(value)


def binary_bytes(value: float) -> str:
    """Capacity, in the powers of two that memories are built in."""
    for scale, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= scale:
            return f"{digits(value / scale)}{NO_BREAK}{unit}"
    return plain_bytes(value)


def size(n: int) -> str:
    """A number of elements: 2 to a power where it is one."""
    if n >= 1024 and n & (n - 1) == 0:
        return "2" + str(n.bit_length() - 1).translate(SUPERSCRIPTS)
    return group(str(n))
