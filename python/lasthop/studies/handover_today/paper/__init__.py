"""The study's words. No paper stands behind it: its claims are hypotheses, written down before the first run."""
