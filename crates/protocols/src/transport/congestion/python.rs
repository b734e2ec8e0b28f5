//! A controller written in Python. This crate knows no Python: the package says whether the class is there, and before a run puts a
//! [`Custom`](super::Congestion::Custom) that calls it in the place of this. Elsewhere a scenario with such a controller is refused.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use lasthop_net::engine::Fault;

use super::{CongestionConfig, CongestionControl, EndpointContext};
use crate::transport::media::control::{MediaContext, MediaControl, MediaControlConfig};

/// Which class, and its parameters.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Config {
    /// The module and the class in it: `"mycc:Mine"`. The module is the file `mycc.py` beside the scenario, or one that is
    /// installed. `congestion.python = "mycc:Mine"` says the same.
    pub class: String,
    /// Parameters, which the class gets by their names.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(default)]
    pub options: Map<String, Value>,
    /// Whether the class is there, or why not. `None` where nothing looked for it.
    #[serde(skip)]
    pub found: Option<Result<(), String>>,
}

/// It is what it says; whether it was looked for does not count.
impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        (&self.class, &self.options) == (&other.class, &other.options)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            class: String,
            #[serde(default)]
            options: Map<String, Value>,
        }
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = Table;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a module and a class such as \"mycc:Mine\", or a table with `class` and `options`")
            }
            fn visit_str<E: Error>(self, class: &str) -> Result<Table, E> {
                Ok(Table { class: class.to_owned(), options: Map::new() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table, A::Error> {
                Table::deserialize(MapAccessDeserializer::new(map))
            }
        }
        let Table { class, options } = deserializer.deserialize_any(Forms)?;
        Ok(Self { class, options, found: None })
    }
}

impl CongestionConfig for Config {
    fn build(&self, _seat: &EndpointContext) -> Box<dyn CongestionControl> {
        self.unseated()
    }

    fn check(&self) -> Result<(), Fault> {
        self.faults()
    }
}

impl MediaControlConfig for Config {
    fn build(&self, _seat: &MediaContext) -> Box<dyn MediaControl> {
        self.unseated()
    }

    fn check(&self) -> Result<(), Fault> {
        self.faults()
    }
}

impl Config {
    fn unseated(&self) -> ! {
        panic!("{} was not put in its place; a scenario is checked before it is built", self.class)
    }

    fn faults(&self) -> Result<(), Fault> {
        match &self.found {
            Some(Ok(())) => Ok(()),
            Some(Err(problem)) => Err(Fault::new(
                "class",
                problem.as_str(),
                "expected a module and a class of lasthop.Controller, or of lasthop.MediaController for media: \"mycc:Mine\"",
            )),
            None => Err(Fault::new("class", "no Python here", "only lasthop's Python package runs it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion;
    use lasthop_net::engine::choice::parsed;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Chosen {
        chosen: Congestion,
    }

    #[test]
    fn a_name_alone_says_the_same_as_a_table() {
        let read = |text: &str| parsed::<Chosen>(text).map(|one| one.chosen);
        let short = read("chosen.python = 'mycc:Mine'").unwrap();
        assert_eq!(short, read("chosen.python.class = 'mycc:Mine'").unwrap());
        assert_ne!(short, read("chosen.python = { class = 'mycc:Mine', options = { target = 0.02 } }").unwrap());
        assert!(read("chosen = 'python'").unwrap_err().to_string().contains("class"));
        assert!(read("chosen.python = { class = 'a:B', option = {} }").unwrap_err().to_string().contains("option"));
        assert_eq!(serde_json::to_string(&short).unwrap(), r#"{"python":{"class":"mycc:Mine"}}"#);
    }

    #[test]
    fn without_python_it_is_refused() {
        let Chosen { chosen } = parsed("chosen.python = 'mycc:Mine'").unwrap();
        assert_eq!(chosen.config().check().unwrap_err().message, "no Python here");
    }
}
