"""What the paper leaves open (`paper/questions.toml`), and the changes that concern no run."""

from __future__ import annotations

from lasthop.studies import words

QUESTIONS = words.questions(__name__)

#: Changes of how a claim reads the text, by its number. At which size TCP has more congestion events than TFRC:
REVERSED_AT = "text.H8"

#: Which of TCP's bytes take up capacity of the channel that TFRC has free:
TAKEN_UP = "text.H20"
