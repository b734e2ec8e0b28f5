"""Input changed at random, to find what the program does not survive.

``subjects`` says what input there is and what is done with it; ``scenarios`` makes scenarios by their JSON Schema
(``places``, ``values``, ``mutations``). ``contained`` does that in a process with limits; ``shrink`` makes what failed
smaller. ``corpus`` keeps it: a folder for each subject, all of it tried again by ``tests/test_fuzz.py``.

``make fuzz SECONDS=600 SEED=7`` looks for more.
"""
