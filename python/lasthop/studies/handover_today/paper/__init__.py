"""The study's words: no paper stands behind it. Its claims are hypotheses of this project, written down before the first run."""
