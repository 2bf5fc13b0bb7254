"""Recorded runs: what is in their files, and how they are read and asked for.

- ``columns``: the files' form: records as dictionaries, to columns and samples, and back
- ``derived``: what follows from what was measured: medians, quartiles, rates
- ``schema``: the types of what the files hold
- ``reading``: reads a file, and refuses what cannot be vouched for
- ``sets``: one folder of files, of one device
- ``manifest``: the hashes of a set's files
- ``checks``: what a set must satisfy as a whole (``consoles``, ``proportions``, ``floors`` and
  ``history``)
- ``recordings``: all sets together, which questions are put to
- ``comparison``: the embedded device's counters beside hardware's
- ``verdict``: what several passes of a run say together: its time, and which of two is faster
- ``quantities``: what a timed run comes to, by name
- ``counters``: the table of ``common/counters.json``
- ``naming``: the sets' names, and runs as messages and pages name them
- ``regions``: the named pieces of the chapters' code, and what each is made of (``declarations``)
- ``machine_code``: recorded listings of cuobjdump
- ``transcripts``: commands and what they printed, beside the code that they show
- ``cases``, ``races``: programs that lie in a folder, and what was recorded of them beside it
- ``other_libraries``: what other people's libraries took
- ``traces``: what the embedded device has written down of one block

Measuring machines have Python's standard library alone: ``columns``, ``counters``,
``derived``, ``exported``, ``manifest`` and ``regions`` need no more, and nothing is imported here.
"""
