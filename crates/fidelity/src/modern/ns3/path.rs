//! The path of a run of ns-3, from the sentence in the index: a clause for each kind of scenario.

/// A path with one bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// From when, in s, it has which rate in Mbit/s and delay one way in ms.
    pub steps: Vec<(f64, f64, f64)>,
    /// Packets that wait at most.
    pub limit: u32,
    /// The probability that a packet is lost.
    pub loss: Option<f64>,
    /// What manages the queue.
    pub queue: Discipline,
    /// Whether packets can be marked.
    pub ecn: bool,
}

/// Queue disciplines with a counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    DropTail,
    CoDel,
    FqCoDel,
    Pie,
    /// RED whose thresholds are one: packets that come when more bytes wait than this are marked.
    Step(u64),
}

/// What is found in a clause.
#[derive(Clone, Debug, Default)]
struct Clause {
    steps: Vec<(f64, Option<f64>, Option<f64>)>,
    limit: Option<u32>,
    loss: Option<f64>,
}

impl Path {
    /// That of a scenario, whose name is `words` behind its algorithms: "fixed-10M-40ms", "CoDel-ecn", "fifo120", "step1ms-40M-20ms".
    pub fn read(description: &str, words: &str) -> Result<Self, String> {
        if words.starts_with("step") {
            return step(description, words);
        }
        let ecn = words.ends_with("-ecn");
        let words = words.trim_end_matches("-ecn");
        let clause = |name: &str| named(description, name);
        let first = words.split('-').next().unwrap_or_default();
        let disciplines = [("CoDel", Discipline::CoDel), ("FqCoDel", Discipline::FqCoDel), ("Pie", Discipline::Pie)];
        let managed = disciplines.iter().find(|(name, _)| *name == first).map(|(_, discipline)| *discipline);
        let fifo = first.strip_prefix("fifo").and_then(|packets| packets.parse::<u32>().ok());
        let own = if managed.is_some() || fifo.is_some() { clause("queue discs") } else { clause(first) };
        let own = own.ok_or_else(|| format!("path: no clause for \"{words}\""))??;
        // A clause without a rate is about the path of "fixed".
        let base = if own.steps.is_empty() { clause("fixed").transpose()?.unwrap_or_default() } else { own.clone() };
        let mut steps: Vec<(f64, f64, f64)> = Vec::new();
        for (at, rate, delay) in &base.steps {
            let before = steps.last().copied();
            let (Some(rate), Some(delay)) = (rate.or(before.map(|b| b.1)), delay.or(before.map(|b| b.2))) else {
                return Err(format!("path: no rate or delay for \"{words}\""));
            };
            if !((1e-3..=1e4).contains(&rate) && (0.0..=1e4).contains(&delay) && (0.0..=1e4).contains(at)) {
                return Err(format!("path: numbers of \"{words}\" make no sense"));
            }
            steps.push((*at, rate, delay));
        }
        if steps.first().is_none_or(|first| first.0 > 0.0) {
            return Err(format!("path: \"{words}\" has no beginning"));
        }
        let limit = fifo.or(own.limit).or(base.limit).filter(|limit| *limit > 0);
        Ok(Self {
            steps,
            limit: limit.ok_or_else(|| format!("path: no length of the queue for \"{words}\""))?,
            loss: own.loss.filter(|loss| (0.0..1.0).contains(loss)),
            queue: managed.unwrap_or(Discipline::DropTail),
            ecn,
        })
    }
}

/// A queue that marks as DCTCP wants it: its threshold, the rate and the round-trip time are in the name, the limit in the clause of the others.
fn step(description: &str, words: &str) -> Result<Path, String> {
    let mut parts = words.trim_start_matches("step").split('-');
    let mut next = |unit: &str| {
        let number =
            parts.next().and_then(|part| part.strip_suffix(unit)).and_then(|number| number.parse::<f64>().ok());
        number.filter(|number| (1e-3..=1e4).contains(number)).ok_or_else(|| format!("path: numbers of \"{words}\""))
    };
    let (threshold, rate, rtt) = (next("ms")?, next("M")?, next("ms")?);
    if parts.next().is_some() || named(description, "DCTCP").is_none() {
        return Err(format!("path: no clause for \"{words}\""));
    }
    let limit = named(description, "queue discs").transpose()?.and_then(|clause| clause.limit);
    Ok(Path {
        steps: vec![(0.0, rate, rtt / 2.0)],
        limit: limit.ok_or_else(|| format!("path: no length of the queue for \"{words}\""))?,
        loss: None,
        queue: Discipline::Step((rate * 1e3 / 8.0 * threshold) as u64),
        ecn: true,
    })
}

/// The clause of this name.
fn named(description: &str, name: &str) -> Option<Result<Clause, String>> {
    let mut clauses = description.split(';').filter_map(|clause| clause.trim().split_once(':'));
    clauses.find(|(known, _)| *known == name).map(|(_, words)| clause(words))
}

/// "10 Mbit/s 15 ms, at 20 s 1 Mbit/s 75 ms, at 40 s back, 44 packets": numbers before their units, but the limit behind its word.
fn clause(words: &str) -> Result<Clause, String> {
    let mut clause = Clause::default();
    let words: Vec<&str> = words.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let number = |at: Option<usize>| -> Result<f64, String> {
        let word = at.and_then(|at| words.get(at)).copied().unwrap_or_default();
        word.parse().map_err(|_| format!("path: \"{word}\" where a number is expected"))
    };
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1);
        let is_step = matches!(*word, "Mbit/s" | "ms");
        if is_step && clause.steps.is_empty() {
            clause.steps.push((0.0, None, None));
        }
        match (*word, clause.steps.last_mut()) {
            ("Mbit/s", Some(step)) => step.1 = Some(number(before)?),
            ("ms", Some(step)) => step.2 = Some(number(before)?),
            ("packets", _) => clause.limit = Some(number(before)? as u32),
            ("limit", _) => clause.limit = Some(number(Some(at + 1))? as u32),
            ("at", _) if words.get(at + 2) == Some(&"s") => clause.steps.push((number(Some(at + 1))?, None, None)),
            ("back", Some(_)) => {
                let first = clause.steps[0];
                let last = clause.steps.len() - 1;
                (clause.steps[last].1, clause.steps[last].2) = (first.1, first.2);
            }
            ("%", _) => clause.loss = Some(number(before)? / 100.0),
            _ => {}
        }
    }
    Ok(clause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "fixed: 10 Mbit/s, 20 ms one way, 70 packets; handover: 10 Mbit/s 15 ms, at 20 s 1 Mbit/s 75 ms, at 40 s back, \
        44 packets; geo: 20 Mbit/s, 300 ms one way, 1040 packets; loss1: random 1 %, seed 1; queue discs: 10 Mbit/s, 20 ms, limit 1000; \
        DCTCP: RED as a step at 1 ms";

    #[test]
    fn each_scenario_has_its_clause() {
        let path = |words: &str| Path::read(WORDS, words);
        let fixed = path("fixed-10M-40ms").unwrap();
        assert_eq!((fixed.steps.as_slice(), fixed.limit, fixed.loss), ([(0.0, 10.0, 20.0)].as_slice(), 70, None));
        assert_eq!(path("handover").unwrap().steps, [(0.0, 10.0, 15.0), (20.0, 1.0, 75.0), (40.0, 10.0, 15.0)]);
        assert_eq!(path("handover").unwrap().limit, 44);
        assert_eq!(path("loss1").unwrap(), Path { loss: Some(0.01), ..fixed.clone() });
        let codel = path("CoDel-ecn").unwrap();
        assert_eq!((codel.queue, codel.ecn, codel.limit), (Discipline::CoDel, true, 1000));
        assert_eq!(path("fifo120").unwrap(), Path { limit: 120, ..fixed });
        let step = path("step1ms-40M-20ms").unwrap();
        assert_eq!((step.queue, step.ecn, step.limit), (Discipline::Step(5_000), true, 1000));
        assert_eq!(step.steps, [(0.0, 40.0, 10.0)]);
        for words in ["step1ms-40M-20ms-60s", "", "unheard-of"] {
            assert!(path(words).unwrap_err().contains("no clause"), "{words}");
        }
        assert!(path("step1ms-40M").unwrap_err().contains("numbers"));
        for sentence in [
            "fixed: fast Mbit/s, 20 ms, 70 packets",
            "fixed: 10 Mbit/s, 70 packets",
            "fixed: 10 Mbit/s, 20 ms",
            "fixed: -1 Mbit/s 1 ms 7 packets",
        ] {
            assert!(Path::read(sentence, "fixed").is_err(), "{sentence}");
        }
    }
}
