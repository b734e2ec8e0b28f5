"""What the paper leaves open (`paper/questions.toml`), and what a reading takes."""

from lasthop.studies import words

QUESTIONS = words.questions(__name__)
