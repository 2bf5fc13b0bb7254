"""How long a test waits for what it has started."""

#: Seconds after which nothing will come any more, however busy the machine is. It ends a test that
#: hangs, and decides nothing: a speed is a benchmark's figure, never a test's condition.
LIMIT = 600
