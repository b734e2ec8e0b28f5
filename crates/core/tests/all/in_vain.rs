//! What would do nothing is refused, at its place.

use lasthop_core::scenario::{check, read};

/// A link from `s` to `m` and on to `q`, and a group.
const NETWORK: &str = r#"
duration = "5 s"
[[link]]
name = "near"
between = ["s", "m"]
rate = "1 Mbit/s"
[[link]]
name = "far"
between = ["m", "q"]
rate = "1 Mbit/s"
"#;

#[test]
fn what_would_do_nothing_is_refused() {
    let to_group = "[[group]]\nname = \"g\"\nmembers = [\"q\"]\n[[flow]]\nfrom = \"s\"\nto = \"g\"\n";
    let exceptions = |nodes: &[&str]| {
        let all: Vec<String> = nodes.iter().map(|node| format!("{{ node = \"{node}\", control = \"rlm\" }}")).collect();
        format!("{to_group}transport.layered.exceptions = [{}]", all.join(", "))
    };
    for (more, path, part) in [
        (
            "[[flow]]\nfrom = \"s\"\nto = \"q\"\ntransport = \"layered\"".to_owned(),
            "flow[0].to",
            "sends its layers to those of a group",
        ),
        (exceptions(&["nobody"]), "flow[0].transport.layered.exceptions[0].node", "there is no node \"nobody\""),
        (exceptions(&["q", "q"]), "flow[0].transport.layered.exceptions[1].node", "\"q\" is there twice"),
        (
            "[record]\ntransfers = false\ntransfer_quantities = [\"timeouts\"]".to_owned(),
            "record.transfer_quantities",
            "transfers that are not kept",
        ),
        (
            "[[group]]\nname = \"g\"\nmembers = [\"q\"]\njoin = [{ at = \"5 s\", members = [\"m\"] }]".to_owned(),
            "group[0].join[0].at",
            "a join at 5 s, when the run has ended",
        ),
        (
            "[[group]]\nname = \"g\"\nmembers = [\"q\"]\nleave = [{ at = \"6 s\", members = [\"q\"] }]".to_owned(),
            "group[0].leave[0].at",
            "a leave at 6 s, when the run has ended",
        ),
    ] {
        let error = read::toml(&format!("{NETWORK}{more}"), "text").and_then(|document| check(&document));
        let error = error.expect_err(&more);
        assert_eq!(error.path, path, "{error}");
        assert!(error.message.contains(part), "{error}");
    }
    let exceptions = format!("{NETWORK}{}", exceptions(&["q", "m"]));
    assert_eq!(read::toml(&exceptions, "text").and_then(|document| check(&document)), Ok(()));
}

/// A text of one line that is put in the place of a file's name was taken for a name itself, where the whole was read again.
#[test]
fn a_file_of_one_line_is_a_text_for_ever() {
    let folder = std::env::temp_dir().join(format!("lasthop-in-vain-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let scenario = folder.join("scenario.toml");
    std::fs::write(&scenario, NETWORK.to_owned() + "trace.down = \"one.trace\"").unwrap();
    for text in ["100", "100 ", "\u{feff}100", "100\n"] {
        std::fs::write(folder.join("one.trace"), text).unwrap();
        let document = read::file(&scenario).unwrap();
        let again = read::json(document.whole.as_deref().unwrap(), "elsewhere").expect(text);
        assert_eq!(again.scenario.link, document.scenario.link, "{text:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn toml_is_the_same_as_json_in_the_same_order() {
    let text =
        "b.y = 1.5\na = { z = [1, { k = \"é\\n\" }],\n c = true, }\nb.x = 1e300\n[d]\nn = 18446744073709551615\n";
    let json = r#"{"b":{"y":1.5,"x":1e+300},"a":{"z":[1,{"k":"é\n"}],"c":true},"d":{"n":18446744073709551615}}"#;
    assert_eq!(read::toml_as_json(text, "text").unwrap(), json);
    assert!(read::toml_as_json("a = ", "text").is_err());
}
