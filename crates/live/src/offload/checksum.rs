//! The Internet checksum (RFC 1071).

/// The sum of the 16-bit words of `bytes`, in the byte order of this machine and not folded (RFC 1071 §2 B, C): words of 32 bits, an odd byte at
/// the end with a zero behind it. Sums of parts of even length may be added.
pub fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let all: u64 = words.map(|word| u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))).sum();
    all + u64::from(u32::from_ne_bytes(last))
}

/// Folds a sum into 16 bits, in network order.
pub fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::from_be_bytes((sum as u16).to_ne_bytes())
}

/// The checksum of `bytes` and of all that is in the sum `before`.
pub fn of(bytes: &[u8], before: u64) -> u16 {
    !folded(before + sum(bytes))
}

#[cfg(test)]
mod tests {
    use etherparse::checksum::Sum16BitWords;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // RFC 1071 §3: the sum is ddf2.
        assert_eq!(folded(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    }

    proptest! {
        #[test]
        fn it_is_that_of_another_implementation(bytes in proptest::collection::vec(any::<u8>(), 0..3_000), half in 0..1_500usize) {
            let expected = Sum16BitWords::new().add_slice(&bytes).ones_complement().to_be();
            prop_assert_eq!(of(&bytes, 0), expected);
            let (one, other) = bytes.split_at((2 * half).min(bytes.len() & !1));
            prop_assert_eq!(of(other, sum(one)), expected);
        }
    }
}
