//! Ways to spoil a text.

use super::Dice;

/// A scenario with one field spoiled: the text, the field, and its line.
pub struct Spoiled {
    pub text: String,
    pub field: String,
    pub line: usize,
}

/// Spoils one field of a valid scenario so that it is certainly wrong: its name, its type or its
/// unit.
pub fn spoil(dice: &mut Dice, text: &str) -> Spoiled {
    let lines: Vec<&str> = text.lines().collect();
    let fields: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains(" = ")).collect();
    let line = *dice.pick(&fields);
    let (key, value) = lines[line].split_once(" = ").expect("a field has a value");
    let last = key.rsplit('.').next().expect("a key is not empty");
    let quantity = value.starts_with('"') && value.as_bytes()[1].is_ascii_digit() && value.contains(' ');
    let (spoiled, field) = match dice.below(4) {
        0 => (format!("{key}q = {value}"), format!("{last}q")),
        1 if quantity => (format!("{key} = \"10 parsecs\""), last.to_owned()),
        // Lengths, decibels and angles may be negative where they are read.
        2 if quantity && ![" m\"", " km\"", " dB\"", " dBm\"", " deg\""].iter().any(|unit| value.ends_with(unit)) => {
            (format!("{key} = \"-1 {}\"", value.trim_matches('"').split_once(' ').unwrap().1), last.to_owned())
        }
        1 | 2 => (format!("{key} = 1979-05-27"), last.to_owned()),
        _ => (format!("{key} = [[[3]]]"), last.to_owned()),
    };
    let mut all: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
    all[line] = spoiled;
    Spoiled { text: all.join("\n") + "\n", field, line: line + 1 }
}

/// Does something to a text that may or may not make it wrong: tokens deleted, doubled, moved or
/// replaced, the end cut off, bytes changed.
pub fn disturb(dice: &mut Dice, text: &str) -> Vec<u8> {
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        match tokens.last_mut() {
            Some(word) if c.is_alphanumeric() && word.chars().all(char::is_alphanumeric) => word.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    const STRANGE: &[&str] = &[
        "\"",
        "'",
        "=",
        ".",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        ",",
        "\n",
        "#",
        "\\",
        "\u{0}",
        "\u{7}",
        "é",
        "\u{202e}",
        "💥",
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "1e999",
        "18446744073709551615",
        "99999999999999999999999999",
        "0x10",
        "true",
        "1979-05-27",
        "\"\"",
        "\"\"\"",
        "u32",
        "\"1e300 s\"",
        "\"0 bit/s\"",
        "{}",
        "[]",
        "\r",
        "\u{feff}",
        "\u{1F1E6}\u{1F1E6}",
    ];
    for _ in 0..1 + dice.below(3) {
        let at = dice.below(tokens.len());
        match dice.below(6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at].clone()),
            2 => tokens[at] = (*dice.pick(STRANGE)).to_owned(),
            3 => tokens.insert(at, (*dice.pick(STRANGE)).to_owned()),
            4 => {
                let other = dice.below(tokens.len());
                tokens.swap(at, other);
            }
            _ => {
                let to = (at + dice.below(40)).min(tokens.len());
                tokens.drain(at..to);
            }
        }
        if tokens.is_empty() {
            tokens.push(" ".to_owned());
        }
    }
    let mut bytes = tokens.concat().into_bytes();
    if dice.one_in(6) && !bytes.is_empty() {
        bytes.truncate(dice.below(bytes.len()));
    }
    if dice.one_in(6) && !bytes.is_empty() {
        for _ in 0..1 + dice.below(4) {
            let at = dice.below(bytes.len());
            bytes[at] = dice.next() as u8;
        }
    }
    bytes
}
