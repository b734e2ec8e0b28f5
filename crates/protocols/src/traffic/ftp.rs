//! File transfers (3GPP TR 25.876): one file after another, over a connection each, with time to
//! read between.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Bytes, Duration, Fault, Instant, Lognormal, Stream};
use lasthop_net::net::Source;

use super::SourceConfig;
use super::session::{self, Object, Packets, Page, Pages, Session};

/// Files of random size, each over a connection of its own, with time to read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Ftp")]
pub struct Config {
    /// The mean size of files before truncation; log-normal. Default: 2 MB (3GPP TR 25.876).
    pub size_mean: Bytes,
    /// The standard deviation of their sizes before truncation. Default: 722 kB.
    pub size_std: Bytes,
    /// The largest file. Default: 5 MB.
    pub size_max: Bytes,
    /// The mean time from the acknowledgement of a whole file to the next file; exponential.
    /// Default: 180 s.
    pub reading: Duration,
    /// The latest start of the first file after the start of the flow; the time is uniformly distributed. Default: 30 s (own choice).
    pub first: Duration,
    /// The sizes of packets.
    pub packet: Packets,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            size_mean: Bytes::new(2_000_000),
            size_std: Bytes::new(722_000),
            size_max: Bytes::new(5_000_000),
            reading: Duration::from_secs(180),
            first: Duration::from_secs(30),
            packet: Packets::default(),
        }
    }
}

impl Config {
    fn ftp(&self) -> Result<Ftp, Fault> {
        self.packet.check()?;
        let sizes = [self.size_mean, self.size_std, Bytes::new(0), self.size_max];
        Ok(Ftp { sizes: session::sizes(sizes, ["size_mean", "size_max"])?, config: self.clone() })
    }
}

impl SourceConfig for Config {
    fn build(&self, start: Instant, stream: Stream) -> Box<dyn Source> {
        let ftp = self.ftp().expect("`check` has seen it");
        Box::new(Session::new(ftp, start, self.first, stream))
    }

    fn suits_datagrams(&self) -> bool {
        false
    }

    fn reconnects(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        self.ftp().map(|_| ())
    }
}

/// The files.
#[derive(Debug)]
struct Ftp {
    config: Config,
    sizes: Lognormal,
}

impl Pages for Ftp {
    fn draw(&self, stream: &mut Stream) -> Page {
        let packet = self.config.packet.draw(stream);
        let bytes = session::draw_size(&self.sizes, stream);
        let reading = session::draw_time(self.config.reading, stream);
        Page { packet, objects: vec![Object { parsing: Duration::ZERO, bytes }], reading }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_net::engine::Streams;
    use lasthop_net::engine::choice::parsed;

    #[test]
    fn files_have_the_moments_of_the_closed_form() {
        let (ftp, mut stream) = (Config::default().ftp().unwrap(), Streams::new(4).stream("flow", "source"));
        let n = 100_000;
        let files: Vec<Page> = (0..n).map(|_| ftp.draw(&mut stream)).collect();
        let mean = |value: &dyn Fn(&Page) -> f64| files.iter().map(value).sum::<f64>() / n as f64;
        let five = 5.0 / (n as f64).sqrt();
        let size = |file: &Page| file.objects[0].bytes as f64;
        // 1.991 MB and 0.699 MB, as in `lognormal`. The standard error of a variance is √(κ − 1)/√n of
        // it; before truncation the kurtosis κ is e^{4σ²} + 2e^{3σ²} + 3e^{2σ²} − 3 = 5.4.
        let got = mean(&size);
        assert!((got - 1_990_631.0).abs() < five * 698_651.0, "{got} B");
        let variance = mean(&|file| (size(file) - 1_990_631.0) * (size(file) - 1_990_631.0));
        assert!((variance / (698_651.0 * 698_651.0) - 1.0).abs() < five * 2.1, "{} B", variance.sqrt());
        assert!(files.iter().all(|file| file.objects.len() == 1 && size(file) <= 5e6));
        let packets = mean(&|file| f64::from(file.packet));
        assert!((packets - 1278.24).abs() < five * 394.6, "{packets} B");
        let reading = mean(&|file| file.reading.as_secs_f64());
        assert!((reading - 180.0).abs() < five * 180.0, "{reading} s");
    }

    #[test]
    fn contradictions_are_refused() {
        for (text, field) in [
            ("size_mean = '0 B'", "size_mean"),
            ("size_max = '1 B'", "size_max"),
            ("packet.large = '0 B'", "packet.large"),
        ] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
    }
}
