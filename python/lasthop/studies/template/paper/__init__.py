"""What the paper prints: its numbers. Its words are in the files beside this one."""

#: Table 1: the constant C, where losses are random and each packet is acknowledged.
CONSTANT = 1.31
