//! How a choice is written in a scenario: the name of the thing chosen, alone
//! (`queue = "red"`) or with its parameters below it (`queue.red.max_p = 0.1`).
//!
//! The macro [`choice!`](crate::choice) declares such a choice as an enum: one line for each
//! thing that can be chosen, its name and its `Config`. Registries are made of it.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Reads the name of a choice and gives its place among the known names.
///
/// It fails inside the key, so that an error points at the name and not at its table.
#[derive(Clone, Copy)]
pub struct NameSeed {
    /// The kind of thing chosen, for error messages: `"queue discipline"`.
    pub what: &'static str,
    /// The known names.
    pub names: &'static [&'static str],
}

impl NameSeed {
    /// The place of `name` among the known names.
    ///
    /// # Errors
    /// A sentence that lists the known names.
    pub fn find<E: Error>(&self, name: &str) -> Result<usize, E> {
        self.names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| E::custom(format!("unknown {} `{name}`, expected one of {}", self.what, quoted(self.names))))
    }

    /// Fails if the map names a second choice.
    ///
    /// # Errors
    /// A sentence that names both.
    pub fn only<'de, A: MapAccess<'de>>(&self, first: usize, map: &mut A) -> Result<(), A::Error> {
        match map.next_key::<String>()? {
            None => Ok(()),
            Some(second) => Err(A::Error::custom(format!(
                "two choices of {}, `{}` and `{second}`: keep one",
                self.what, self.names[first]
            ))),
        }
    }
}

/// An implementation that the registry does not list: made by another crate, or for one scenario. A scenario built in code uses it where a
/// scenario file has a name.
pub struct Custom<T: ?Sized> {
    /// Its name, for tables and messages.
    pub name: String,
    /// Its parameters.
    pub config: Arc<T>,
}

impl<T: ?Sized> Custom<T> {
    /// One of this name.
    pub fn new(name: impl Into<String>, config: Arc<T>) -> Self {
        Self { name: name.into(), config }
    }

    /// The error of writing it into a scenario file.
    pub fn unwritten<E: serde::ser::Error>(&self) -> E {
        E::custom(format!("\"{}\" is made in code: no scenario file can name it", self.name))
    }
}

impl<T: ?Sized> Clone for Custom<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), config: Arc::clone(&self.config) }
    }
}

impl<T: ?Sized> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({})", self.name)
    }
}

/// Two are the same if they share their parameters.
impl<T: ?Sized> PartialEq for Custom<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.config, &other.config)
    }
}

/// A configuration of which nothing is said: that of an empty table.
///
/// # Errors
/// If it has a parameter without a default.
pub fn with_defaults<T: DeserializeOwned>() -> Result<T, impl fmt::Display> {
    // Read in the same way as a whole scenario, so that it is not compiled for another.
    serde_path_to_error::deserialize(Value::Object(Map::new()))
}

/// A configuration from TOML, for tests.
///
/// # Errors
/// What serde finds wrong.
///
/// # Panics
/// Text that is not TOML.
#[cfg(any(test, feature = "testing"))]
pub fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(toml::from_str::<Value>(text).unwrap())
}

/// The names in back quotes, with commas between.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = usize;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = usize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {}: one of {}", self.what, quoted(self.names))
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        self.find(name)
    }
}

/// Declares a choice: an enum of configurations, each with the name by which it is chosen. A configuration with `boxed` behind it lies in a
/// box: one that is so large that the others should not take its space. With `as Trait` after the name of the kind,
/// `config()` gives the chosen one as `&dyn Trait`, and an implementation of this trait from elsewhere can be chosen as a [`Custom`].
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use schemars::JsonSchema;
/// #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
/// #[serde(default, deny_unknown_fields)]
/// pub struct Greedy {}
/// lasthop_net::choice! {
///     /// What an application sends.
///     pub enum Source: "source" {
///         /// As much as the transport takes.
///         "greedy" => Greedy(Greedy),
///     }
/// }
/// let source: Source = serde_json::from_str("\"greedy\"").unwrap();
/// assert_eq!(source, serde_json::from_str("{\"greedy\": {}}").unwrap());
/// ```
#[macro_export]
macro_rules! choice {
    (@held $config:ty) => { $config };
    (@held $config:ty, boxed) => { Box<$config> };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $what:literal as $config_trait:path {
            $($(#[doc = $doc:literal])+ $key:literal => $variant:ident($config:ty) $($boxed:ident)?,)+
        }
    ) => {
        $crate::choice! {
            @declare
            $(#[$meta])*
            $vis enum $name: $what [
                /// One that no scenario file can name: of another crate, or made for one scenario.
                Custom(Box<$crate::engine::choice::Custom<dyn $config_trait>>)
            ] {
                $($(#[doc = $doc])+ $key => $variant($config) $($boxed)?,)+
            }
        }

        impl $name {
            /// One of this name that no scenario file can name.
            pub fn custom(name: impl Into<String>, config: std::sync::Arc<dyn $config_trait>) -> Self {
                Self::Custom(Box::new($crate::engine::choice::Custom::new(name, config)))
            }

            /// What every configuration that can be chosen here can do.
            pub fn config(&self) -> &dyn $config_trait {
                match self {
                    $(Self::$variant(config) => {
                        let config: &$config = config;
                        config
                    })+
                    Self::Custom(custom) => &*custom.config,
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $what:literal {
            $($(#[doc = $doc:literal])+ $key:literal => $variant:ident($config:ty) $($boxed:ident)?,)+
        }
    ) => {
        $crate::choice! {
            @declare
            $(#[$meta])*
            $vis enum $name: $what [] {
                $($(#[doc = $doc])+ $key => $variant($config) $($boxed)?,)+
            }
        }
    };
    (
        @declare
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $what:literal [$($(#[doc = $custom_doc:literal])+ $custom:ident($custom_type:ty))?] {
            $($(#[doc = $doc:literal])+ $key:literal => $variant:ident($config:ty) $($boxed:ident)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $name {
            $($(#[doc = $doc])+ $variant($crate::choice!(@held $config $(, $boxed)?)),)+
            $($(#[doc = $custom_doc])+ $custom($custom_type),)?
        }

        impl $name {
            /// The names that can be chosen.
            pub const NAMES: &'static [&'static str] = &[$($key),+];

            /// The name of this choice.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $key,)+
                    $(Self::$custom(custom) => &custom.name,)?
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a {}: a name such as \"{}\", or the name with its parameters", $what, $name::NAMES[0])
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        let seed = $crate::engine::choice::NameSeed { what: $what, names: $name::NAMES };
                        seed.find::<E>(text)?;
                        $(if text == $key {
                            return $crate::engine::choice::with_defaults().map($name::$variant).map_err(E::custom);
                        })+
                        unreachable!("`find` knows the same names")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let seed = $crate::engine::choice::NameSeed { what: $what, names: $name::NAMES };
                        let Some(place) = map.next_key_seed(seed)? else {
                            return Err(serde::de::Error::custom(format!("expected the name of a {}", $what)));
                        };
                        let name = $name::NAMES[place];
                        $(if name == $key {
                            let chosen = $name::$variant(map.next_value()?);
                            seed.only(place, &mut map)?;
                            return Ok(chosen);
                        })+
                        unreachable!("`NameSeed` knows the same names")
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(Some(1))?;
                match self {
                    $(Self::$variant(config) => map.serialize_entry($key, config)?,)+
                    $(Self::$custom(custom) => return Err(custom.unwritten()),)?
                }
                map.end()
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let named = vec![$({
                    let doc = concat!($($doc),+).trim();
                    schemars::json_schema!({
                        "type": "object",
                        "description": doc,
                        "properties": { $key: generator.subschema_for::<$config>() },
                        "required": [$key],
                        "additionalProperties": false,
                    })
                }),+];
                // Alone stand those that need no parameter.
                let mut alone: Vec<&str> = Vec::new();
                $(if $crate::engine::choice::with_defaults::<$config>().is_ok() {
                    alone.push($key);
                })+
                let mut any = vec![schemars::json_schema!({ "type": "string", "enum": alone })];
                any.extend(named);
                schemars::json_schema!({ "anyOf": any })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Red {
        max_p: f64,
    }
    impl Default for Red {
        fn default() -> Self {
            Self { max_p: 0.1 }
        }
    }
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Tail {}

    choice! {
        /// A queue.
        enum Queue: "queue discipline" {
            /// Drops the arriving packet.
            "droptail" => DropTail(Tail),
            /// Drops early.
            "red" => Red(Red),
        }
    }

    #[derive(Debug, Deserialize)]
    struct Link {
        queue: Queue,
    }

    #[test]
    fn a_name_alone_means_its_defaults() {
        for text in ["queue = 'red'", "queue.red = {}", "queue.red.max_p = 0.1", "[queue.red]"] {
            let link: Link = toml::from_str(text).unwrap();
            assert_eq!(link.queue, Queue::Red(Red { max_p: 0.1 }), "{text}");
            assert_eq!(link.queue.name(), "red");
        }
    }

    /// The schema had `"list"` alone, which the reader refuses.
    #[test]
    fn the_schema_has_alone_what_needs_no_parameter() {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct Listed {
            which: Vec<u32>,
        }
        choice! {
            /// A loss.
            enum Loss: "loss" {
                /// Those of a list.
                "list" => List(Listed),
                /// None.
                "none" => None(Tail),
            }
        }
        assert!(serde_json::from_str::<Loss>("\"list\"").is_err());
        assert_eq!(serde_json::from_str::<Loss>("\"none\"").unwrap().name(), "none");
        let schema = schemars::schema_for!(Loss).to_value();
        assert_eq!(schema["anyOf"][0]["enum"], serde_json::json!(["none"]));
        assert_eq!(schema["anyOf"][1]["required"], serde_json::json!(["list"]));
    }

    #[test]
    fn errors_point_at_the_name() {
        let error = toml::from_str::<Link>("queue.droptial.limit = 1").unwrap_err();
        assert_eq!(error.span(), Some(6..14), "{error}");
        assert!(error.message().contains("unknown queue discipline `droptial`"), "{error}");
        let error = toml::from_str::<Link>("queue.red.maxp = 1").unwrap_err();
        assert_eq!(error.span(), Some(10..14), "{error}");
        let error = toml::from_str::<Link>("[queue]\nred = {}\ndroptail = {}").unwrap_err();
        assert!(error.message().contains("two choices"), "{error}");
        let error = toml::from_str::<Link>("queue = 3").unwrap_err();
        assert!(error.message().contains("a queue discipline: a name such as"), "{error}");
    }
}
