"""What the paper prints, and in `model` its model of fairness. Its words are in the files beside this one."""

#: §IV-A to C: the rates of each stage of a scenario, in kB/s.
PRINTED = {1: (40, 40, 40), 2: (60, 45, 35), 3: (60, 45, 35)}

#: Table I: the scheme's parameters, what they mean, their names here, and their values.
TABLE_1 = (
    ("F_QuThresh1", "factor of the first threshold of the queue", "first_threshold", "0.0"),
    ("F_QuThresh2", "factor of the second threshold", "second_threshold", "0.8"),
    ("F_SlowDown", "growth of the observation time with each release", "slow_down", "1.5"),
    ("F_BackOff", "its growth when a layer is blocked right after a release", "back_off", "4.0"),
    ("R_Block", "how much more than TCP multicast may have before a layer is blocked", "block", "0.2"),
    ("I_ChekQu", "time between looks at the queue", "check", "0.02 s"),
    ("T_observe", "first observation time", "observe", "1.0 s"),
)
