"""What the figures of several chapters are drawn with; no chapter is known here."""
