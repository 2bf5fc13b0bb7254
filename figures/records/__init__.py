"""Recorded runs: what is in their files, and how they are read and asked for.

- ``schema``: the types of what the files hold
- ``reading``: reads a file, and refuses what cannot be vouched for
- ``sets``: one folder of files, of one device
- ``recordings``: all sets together, which questions are put to
- ``naming``: the sets' names, runs and counters as messages and pages name them
"""
