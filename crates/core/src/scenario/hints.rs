//! What a writer of scenarios may have meant, by the schema.

use serde_json::Value;

use super::diagnostic::Path;
use super::schema::{alternatives, at, resolved, schema, values};

/// Whether tables stand in the list at `path`.
pub(super) fn takes_tables(path: &Path) -> bool {
    let root = schema();
    let items = at(root, path).and_then(|node| resolved(root, node).get("items"));
    items.is_some_and(|item| resolved(root, item).get("properties").is_some())
}

/// The names of the fields of the table at `path`.
pub(super) fn fields(path: &Path) -> Vec<&'static str> {
    let root = schema();
    let table = at(root, path).and_then(|node| resolved(root, node).get("properties")?.as_object());
    table.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// The field below the table or the choice at `path` that can have this word, as `tcp.variant` for `cubic` below a transport.
pub(super) fn field_with(path: &Path, word: &str) -> Option<String> {
    let root = schema();
    let node = resolved(root, at(root, path)?);
    let has_word = |field: &Value| {
        let field = resolved(root, field);
        let choices = alternatives(field).into_iter().flatten().map(|(name, _)| name);
        values(field).into_iter().flatten().map(|(name, _)| name).chain(choices).any(|name| name == word)
    };
    let of_table = |table: &'static Value| {
        let fields = resolved(root, table).get("properties")?.as_object()?;
        fields.iter().find(|(_, field)| has_word(field)).map(|(name, _)| name)
    };
    match alternatives(node) {
        Some(choices) => choices.into_iter().find_map(|(name, choice)| {
            let field = of_table(choice.get("properties")?.get(name)?)?;
            Some(format!("{name}.{field}"))
        }),
        None => of_table(node).cloned(),
    }
}
