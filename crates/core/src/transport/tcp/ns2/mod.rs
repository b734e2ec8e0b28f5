//! TCP as ns-2.35 has it.
