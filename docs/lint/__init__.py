"""What the guide's sentences state uncovered, and how the book's words sound.

`words`, `prose`, `figures` and `waivers` see to the first, `tics` and `texts` to the second.
`python -m docs.lint claims` and `python -m docs.lint tics` list them. What is left of both is
kept in waivers.txt and tics.txt, which only shrink; docs/tests compares them.
"""
