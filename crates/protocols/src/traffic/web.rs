//! Web browsing (3GPP TR 25.876): pages of a main object and embedded ones, over a connection each.
//!
//! Means and standard deviations of sizes are those of log-normal distributions before they are
//! truncated: no log-normal distribution between 50 B and 2 MB has a mean of 7758 B and a standard
//! deviation of 126 168 B. The number of embedded objects is different. Its mean of 5.64 is that of
//! a Pareto distribution whose larger values are cut off.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Fault, Instant, Lognormal, Stream};
use lasthop_net::net::Source;

use super::SourceConfig;
use super::session::{self, Object, Packets, Page, Pages, Session};

/// Pages of a main object and embedded objects, each page over a connection of its own, with time
/// to read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Web")]
pub struct Config {
    /// What a page is made of.
    pub load: Load,
    /// The mean size of main objects before truncation. Default: 10 710 B (3GPP TR 25.876).
    pub main_mean: Bytes,
    /// The standard deviation of their sizes before truncation. Default: 25 032 B.
    pub main_std: Bytes,
    /// The smallest main object. Default: 100 B.
    pub main_min: Bytes,
    /// The largest main object. Default: 2 MB.
    pub main_max: Bytes,
    /// The mean size of embedded objects before truncation. Default: 7758 B.
    pub embedded_mean: Bytes,
    /// The standard deviation of their sizes before truncation. Default: 126 168 B.
    pub embedded_std: Bytes,
    /// The smallest embedded object. Default: 50 B.
    pub embedded_min: Bytes,
    /// The largest embedded object. Default: 2 MB.
    pub embedded_max: Bytes,
    /// How many objects are embedded in a page.
    pub number: Number,
    /// The mean time from the last byte of an object, sent for the first time, to the next object;
    /// exponential. Default: 130 ms.
    pub parsing: Duration,
    /// The mean time from the acknowledgement of a whole page to the next page; exponential.
    /// Default: 30 s.
    pub reading: Duration,
    /// The latest start of the first page after the start of the flow; the time is uniformly distributed. Default: 30 s (own choice: as if
    /// the user had been reading).
    pub first: Duration,
    /// The sizes of packets.
    pub packet: Packets,
}

/// What a page is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// A main object and its embedded objects, as in 3GPP TR 25.876 and Table 5.1 of Dubois 2005.
    #[default]
    #[serde(rename = "table-5.1")]
    Table,
    /// One object, which every object of the table's pages is with equal chance. This is the load
    /// that Dubois 2005 reports; its Table 5.1 gives several times as much.
    ThesisLoad,
    /// One object, which is a main object.
    ThesisLoadMain,
}

/// How many objects are embedded in a page: a Pareto-distributed number less its least value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "EmbeddedObjects")]
pub struct Number {
    /// The shape of the Pareto distribution, α. Default: 1.1.
    pub shape: f64,
    /// Its least value k, which is taken off. Default: 2.
    pub min: f64,
    /// Its largest value m. Default: 55.
    pub max: f64,
    /// What becomes of larger values.
    pub larger: Larger,
    /// How the number becomes whole.
    pub rounding: Rounding,
}

/// What becomes of values above the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Larger {
    /// They become the largest. This has the mean that 3GPP TR 25.876 states.
    #[default]
    Clip,
    /// They are drawn again.
    Reject,
}

/// How a number becomes whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the nearest whole number.
    #[default]
    Nearest,
    /// Down.
    Down,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            load: Load::default(),
            main_mean: Bytes::new(10_710),
            main_std: Bytes::new(25_032),
            main_min: Bytes::new(100),
            main_max: Bytes::new(2_000_000),
            embedded_mean: Bytes::new(7_758),
            embedded_std: Bytes::new(126_168),
            embedded_min: Bytes::new(50),
            embedded_max: Bytes::new(2_000_000),
            number: Number::default(),
            parsing: Duration::from_millis(130),
            reading: Duration::from_secs(30),
            first: Duration::from_secs(30),
            packet: Packets::default(),
        }
    }
}

impl Default for Number {
    fn default() -> Self {
        Self { shape: 1.1, min: 2.0, max: 55.0, larger: Larger::default(), rounding: Rounding::default() }
    }
}

/// The most objects embedded in a page: each is drawn when the page begins.
const MOST_OBJECTS: f64 = 10_000.0;

impl Number {
    fn draw(&self, stream: &mut Stream) -> u64 {
        let value = match self.larger {
            Larger::Clip => stream.pareto(self.shape, self.min).min(self.max),
            Larger::Reject => stream.pareto_within(self.shape, self.min, self.max),
        };
        (value - self.min + self.half()).floor() as u64
    }

    /// The addend before a number is rounded down.
    fn half(&self) -> f64 {
        match self.rounding {
            Rounding::Nearest => 0.5,
            Rounding::Down => 0.0,
        }
    }

    /// The mean: the sum over n ≥ 1 of the probability of n or more.
    fn mean(&self) -> f64 {
        let above = |value: f64| libm::pow(self.min / value, self.shape);
        let cut = match self.larger {
            Larger::Clip => 0.0,
            Larger::Reject => above(self.max),
        };
        let least = |n: u64| self.min + n as f64 - self.half();
        (1..).map(least).take_while(|value| *value <= self.max).map(|value| (above(value) - cut) / (1.0 - cut)).sum()
    }

    fn check(&self) -> Result<(), Fault> {
        let finite = |field, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Fault::new(field, format!("a Pareto distribution with {value}"), "expected more than 0")),
        };
        finite("number.shape", self.shape)?;
        finite("number.min", self.min)?;
        if !(self.min..=self.min + MOST_OBJECTS).contains(&self.max) {
            let message = format!("{} with a least value of {}", self.max, self.min);
            return Err(Fault::new("number.max", message, format!("expected at most {MOST_OBJECTS} above the least")));
        }
        Ok(())
    }
}

impl Config {
    fn main(&self) -> Result<Lognormal, Fault> {
        let sizes = [self.main_mean, self.main_std, self.main_min, self.main_max];
        session::sizes(sizes, ["main_mean", "main_max"])
    }

    fn embedded(&self) -> Result<Lognormal, Fault> {
        let sizes = [self.embedded_mean, self.embedded_std, self.embedded_min, self.embedded_max];
        session::sizes(sizes, ["embedded_mean", "embedded_max"])
    }

    fn web(&self) -> Result<Web, Fault> {
        self.number.check()?;
        self.packet.check()?;
        let config = self.clone();
        Ok(Web { main: self.main()?, embedded: self.embedded()?, main_share: 1.0 / (1.0 + self.number.mean()), config })
    }
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source> {
        let web = self.web().expect("`check` has seen it");
        Box::new(Session::new(web, start, self.first, stream))
    }

    fn suits_datagrams(&self) -> bool {
        false
    }

    fn reconnects(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        self.web().map(|_| ())
    }
}

/// The pages.
#[derive(Debug)]
struct Web {
    config: Config,
    main: Lognormal,
    embedded: Lognormal,
    /// Which share of all objects are main objects.
    main_share: f64,
}

impl Pages for Web {
    fn draw(&self, stream: &mut Stream) -> Page {
        let packet = self.config.packet.draw(stream);
        let object = |parsing, sizes, stream: &mut Stream| Object { parsing, bytes: session::draw_size(sizes, stream) };
        let first = match self.config.load {
            Load::ThesisLoad if !stream.chance(self.main_share) => &self.embedded,
            _ => &self.main,
        };
        let mut objects = vec![object(Duration::ZERO, first, stream)];
        if self.config.load == Load::Table {
            for _ in 0..self.config.number.draw(stream) {
                let parsing = session::draw_time(self.config.parsing, stream);
                objects.push(object(parsing, &self.embedded, stream));
            }
        }
        Page { packet, objects, reading: session::draw_time(self.config.reading, stream) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::engine::choice::parsed;

    fn web(text: &str) -> Web {
        parsed::<Config>(text).unwrap().web().unwrap()
    }

    fn draw(text: &str, n: usize) -> Vec<Page> {
        let (web, mut stream) = (web(text), Streams::new(11).stream("flow", "source"));
        (0..n).map(|_| web.draw(&mut stream)).collect()
    }

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let n = values.len() as f64;
        values.sum::<f64>() / n
    }

    #[test]
    fn the_number_of_embedded_objects_has_the_mean_of_the_closed_form() {
        // Of values cut off E = [αk − m(k/m)^α]/(α − 1) − k = 5.642; rounded, by the sum over n of
        // P(X ≥ k + n − ½) or P(X ≥ k + n). ns-3 documents about 3.95 for its own, the last.
        // The standard deviation of values cut off is 10.6 (E X² = [2m²(k/m)^α − αk²]/(2 − α)); of
        // values drawn again it is less.
        for (text, expected) in [
            ("", 5.619981),
            ("number.rounding = 'down'", 5.199633),
            ("number.larger = 'reject'", 4.349941),
            ("number = { larger = 'reject', rounding = 'down' }", 3.918325),
        ] {
            assert!((web(text).config.number.mean() - expected).abs() < 1e-6, "{text}");
            let pages = draw(text, 100_000);
            let got = mean(pages.iter().map(|page| page.objects.len() as f64 - 1.0));
            assert!((got - expected).abs() < 5.0 * 10.7 / 316.0, "{text}: {got}, expected {expected}");
            assert!(pages.iter().all(|page| page.objects.len() <= 54), "{text}");
            assert!(pages.iter().any(|page| page.objects.len() == 1), "{text}");
        }
        // Counted in ten-thousandths of an object, the mean is that before rounding; the table says
        // 5.64.
        let exact = |larger| Number { min: 2e4, max: 55e4, larger, ..Number::default() }.mean() / 1e4;
        assert!((exact(Larger::Clip) - 5.641908).abs() < 1e-6);
        assert!((exact(Larger::Reject) - 4.372456).abs() < 1e-6);
    }

    #[test]
    fn packets_times_and_sizes_of_pages_are_those_of_the_table() {
        let n = 100_000;
        let pages = draw("", n);
        let five = 5.0 / (n as f64).sqrt();
        // 0.76 · 1500 B + 0.24 · 576 B; the deviation of the two sizes is 924 B · √(0.76 · 0.24).
        let packets = mean(pages.iter().map(|page| f64::from(page.packet)));
        assert!((packets - 1278.24).abs() < five * 394.6, "{packets} B");
        let reading = mean(pages.iter().map(|page| page.reading.as_secs_f64()));
        assert!((reading - 30.0).abs() < five * 30.0, "{reading} s");
        let embedded: Vec<&Object> = pages.iter().flat_map(|page| &page.objects[1..]).collect();
        let five_of_them = 5.0 / (embedded.len() as f64).sqrt();
        let parsing = mean(embedded.iter().map(|object| object.parsing.as_secs_f64()));
        assert!((parsing - 0.13).abs() < five_of_them * 0.13, "{parsing} s");
        // Means and deviations after truncation, as in `lognormal`.
        let main = mean(pages.iter().map(|page| page.objects[0].bytes as f64));
        assert!((main - 10_734.07).abs() < five * 24_503.65, "{main} B");
        let sizes = mean(embedded.iter().map(|object| object.bytes as f64));
        assert!((sizes - 8_212.18).abs() < five_of_them * 46_606.44, "{sizes} B");
        // 10 734 B + 5.62 · 8212 B; the variance of a sum of N values of mean μ and deviation s is
        // E N s² + var N μ².
        let whole = mean(pages.iter().map(|page| page.objects.iter().map(|o| o.bytes as f64).sum()));
        let variance = 24_503.65f64 * 24_503.65 + 5.62 * 46_606.44 * 46_606.44 + (10.7 * 8_212.18) * (10.7 * 8_212.18);
        assert!((whole - 56_886.5).abs() < five * variance.sqrt(), "{whole} B");
    }

    #[test]
    fn the_thesis_load_is_that_of_one_object_per_page() {
        // What 30 users offer that read for 30 s and wait 2.75 s for a page, kbit/s.
        let load = |bytes: f64| 30.0 * 8.0 * bytes / 32.75 / 1e3;
        let n = 200_000;
        let offered = |text| load(mean(draw(text, n).iter().map(|page| page.objects[0].bytes as f64)));
        let five = 5.0 / (n as f64).sqrt();
        let main = offered("load = 'thesis-load-main'");
        assert!((main - 78.66).abs() < load(five * 24_503.65), "{main} kbit/s");
        // (10 734 B + 5.62 · 8212 B) / 6.62 is 8593 B. Untruncated, with the table's 10 710 B, 7758 B
        // and 5.64, it would be 8203 B and 60.1 kbit/s.
        let any = offered("load = 'thesis-load'");
        assert!((any - 62.97).abs() < load(five * 46_606.44), "{any} kbit/s");
        assert!((load((10_710.0 + 5.64 * 7_758.0) / 6.64) - 60.1).abs() < 0.05);
        assert!(draw("load = 'thesis-load'", 1_000).iter().all(|page| page.objects.len() == 1));
        // The closed form itself.
        let web = web("load = 'thesis-load'");
        assert!((web.main_share - 1.0 / 6.619981).abs() < 1e-7);
    }

    #[test]
    fn parameters_of_the_logarithm_can_be_had() {
        // For μ = 8.37 and σ = 1.37 the mean is e^{μ + σ²/2}, and the deviation √(e^{σ²} − 1) of it.
        let squared: f64 = libm::exp(1.37 * 1.37);
        let mean = libm::exp(8.37) * squared.sqrt();
        assert_eq!([mean.round(), (mean * (squared - 1.0).sqrt()).round()], [11_031.0, 25_948.0]);
        let rounded = web("main_mean = '11031 B'\nmain_std = '25948 B'").main;
        assert_eq!(rounded, Lognormal::from_moments(11_031.0, 25_948.0).within(100.0, 2e6));
        let median = Lognormal::from_moments(11_031.0, 25_948.0).quantile(0.5);
        assert!((median / libm::exp(8.37) - 1.0).abs() < 1e-4, "{median}");
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, field) in [
            ("main_mean = '0 B'", "main_mean"),
            ("main_min = '3 MB'", "main_max"),
            ("embedded_mean = '0 B'", "embedded_mean"),
            ("embedded_std = '1 B'\nembedded_min = '8 kB'", "embedded_max"),
            ("number.shape = 0", "number.shape"),
            ("number.min = -1", "number.min"),
            ("number.max = 1", "number.max"),
            ("number.max = 20000", "number.max"),
            ("packet.large = '70 kB'", "packet.large"),
            ("packet.small = '40 B'", "packet.small"),
        ] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
        let mut config = Config::default();
        config.number.shape = f64::NAN;
        assert_eq!(config.check().unwrap_err().field, "number.shape");
    }
}
