//! Rendering diagnostics with the source lines they speak of.

use super::Sources;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin as Place, Renderer, Snippet};
use monograph_ir::{Diagnostic, Origin};
use std::ops::Range;

/// The text of a diagnostic: message, the marked source line, then notes and remedies. Places whose source cannot be
/// had are named without it. `color` adds terminal escapes.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, color: bool) -> String {
    let title = Level::ERROR.primary_title(diagnostic.message.as_str()).id(diagnostic.code.to_string());
    let mut groups = vec![mark(Group::with_title(title), &diagnostic.origin, &diagnostic.label, true, sources)];
    for note in &diagnostic.notes {
        let group = Group::with_title(Level::NOTE.secondary_title(note.message.as_str()));
        groups.push(match &note.origin {
            Some(origin) => mark(group, origin, "", false, sources),
            None => group,
        });
    }
    groups.extend(diagnostic.help.iter().map(|help| Group::with_title(Level::HELP.secondary_title(help.as_str()))));
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&groups)
}

/// All diagnostics, an empty line between them.
pub fn render_all(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    diagnostics.iter().map(|d| render(d, sources, color)).collect::<Vec<_>>().join("\n\n")
}

/// The group with the place of `origin` in it, and the source line where it can be had.
fn mark<'a>(group: Group<'a>, origin: &'a Origin, label: &'a str, primary: bool, sources: &Sources) -> Group<'a> {
    let (file, line, column) = match origin {
        Origin::Rust { file, line, column } | Origin::Text { file, line, column } => (file, *line, *column),
        Origin::Imported(name) => return group.element(Place::path(format!("imported node `{name}`"))),
        Origin::Unknown => return group,
    };
    let shown = if file.is_empty() { "<text>" } else { file };
    let source = sources.text(file).and_then(|text| {
        let source = text.lines().nth((line as usize).checked_sub(1)?)?.to_string();
        let span = span_at(&source, column as usize)?;
        Some((source, span))
    });
    let Some((source, span)) = source else {
        return group.element(Place::path(shown).line(line as usize).char_column(column as usize));
    };
    let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let mut annotation = kind.span(span);
    if !label.is_empty() {
        annotation = annotation.label(label);
    }
    let snippet = Snippet::source(source).line_start(line as usize).path(shown).annotation(annotation);
    group.element(snippet)
}

/// The bytes of a line to mark from a column (counting characters from 1): a called name without its arguments, else
/// the rest of the expression.
fn span_at(line: &str, column: usize) -> Option<Range<usize>> {
    let start = line.char_indices().map(|(i, _)| i).nth(column.checked_sub(1)?)?;
    let rest = &line[start..];
    let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '%').unwrap_or(rest.len());
    if name > 0 && (rest[name..].starts_with('(') || rest[name..].starts_with("::<")) {
        return Some(start..start + name);
    }
    Some(start..start + expression_len(rest).max(1))
}

/// The length of the expression at the start of `rest`, as far as the line shows it.
fn expression_len(rest: &str) -> usize {
    let mut depth = 0usize;
    let mut end = rest.len();
    for (i, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => {
                end = i;
                break;
            }
            ')' | ']' | '}' => depth -= 1,
            ';' | ',' if depth == 0 => {
                end = i;
                break;
            }
            '/' if rest[i..].starts_with("//") => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    rest[..end].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::span_at;

    fn marked(line: &str, column: usize) -> &str {
        &line[span_at(line, column).unwrap()]
    }

    #[test]
    fn names_and_expressions_are_marked() {
        assert_eq!(marked("    let i = x.nonzero();", 15), "nonzero");
        assert_eq!(marked("    let v: f32 = x.item::<f32>()?;", 20), "item");
        assert_eq!(marked("    let z = x + y * 2.0; // sum", 13), "x + y * 2.0");
        assert_eq!(marked("    f(x + (y, z), w)", 7), "x + (y, z)");
        assert_eq!(marked("  é + x", 3), "é + x");
        assert_eq!(span_at("short", 9), None);
    }
}
