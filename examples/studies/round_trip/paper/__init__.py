"""What the paper prints. Its words are in the files beside this one."""

#: The power of the round-trip time in its model of the rate.
POWER = -1.0
