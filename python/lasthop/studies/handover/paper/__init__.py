"""What the paper prints. Its words are in the files beside this one."""

#: Table I: media friendliness, scalability, dynamic behaviour.
TABLE_1: dict[str, tuple[str, str, str]] = {
    "intserv": ("very high", "very low", "low"),
    "diffserv": ("very high", "low", "low"),
    "swan": ("very high", "low", "medium"),
    "xcp": ("very high", "low", "very high"),
    "ewa": ("medium", "medium", "high"),
    "tfrc": ("high", "medium", "low"),
    "reno": ("low", "high", "high"),
}

#: §III: operations of XCP for a packet that comes and for one that goes.
OPERATIONS = {"additions_in": 3.0, "multiplications_in": 3.0, "multiplications_out": 3.0, "additions_out": 1.0}
