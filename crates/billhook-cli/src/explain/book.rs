//! The rule book: the files of `docs/rules`, which are a part of the command, split into rules.

/// The files, in order.
macro_rules! files {
    ($($name:literal)*) => {
        const FILES: &[&str] = &[$(include_str!(concat!("../../rules/", $name, ".md"))),*];
    };
}

files! {
    "01-structural-schema" "02-pruning" "03-defaulting" "04-objectmeta" "05-value-validation"
    "06-crd-validation" "07-request-pipeline" "08-cel-validations" "09-known-divergences"
    "10-webhook-configuration" "11-webhook-matching" "12-admission-review" "13-dispatch"
    "14-webhook-client" "15-observability" "16-validating-admission-policy-note"
    "17-server-side-apply" "18-versions" "19-rest" "20-watch" "21-conversion"
    "22-discovery-and-tables" "23-policies" "24-definition-lifecycle" "25-built-in-kinds"
    "26-compatibility" "27-harness" "28-storage" "29-control-plane"
}

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule<'t> {
    /// Such as `PR-12`.
    pub(crate) id: &'t str,
    pub(crate) title: &'t str,
    /// The heading of the file.
    pub(crate) chapter: &'t str,
    /// The heading within the file, if the rule is below one.
    pub(crate) section: Option<&'t str>,
    /// The text after the title, in Markdown.
    pub(crate) body: &'t str,
}

/// All rules, in the order of the files.
#[derive(Debug)]
pub(crate) struct Book(Vec<Rule<'static>>);

impl Book {
    pub(crate) fn read() -> Self {
        Book(FILES.iter().flat_map(|text| chapter(text)).collect())
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule<'static>> {
        self.0.iter()
    }

    /// Up to five ids that are spelled nearly so.
    pub(crate) fn near(&self, wanted: &str) -> Vec<&'static str> {
        let mut near: Vec<(usize, &str)> =
            self.rules().map(|rule| (strsim::levenshtein(wanted, rule.id), rule.id)).collect();
        near.sort_by_key(|(distance, _)| *distance);
        let best = near.first().map_or(0, |(distance, _)| *distance);
        let is_near = |distance: usize| distance == best && distance <= 2;
        near.into_iter().filter(|(d, _)| is_near(*d)).map(|(_, id)| id).take(5).collect()
    }
}

/// Splits a file at its headings.
fn chapter(text: &str) -> Vec<Rule<'_>> {
    let chapter = text.trim_start_matches("# ").lines().next().unwrap_or_default();
    let rules = text.split("\n## ").enumerate().flat_map(|(index, section)| {
        let mut rules = section.split("\n<a id=\"");
        let heading = rules.next().and_then(|head| head.lines().next());
        let heading = heading.filter(|_| index > 0);
        rules.filter_map(move |text| rule(text, chapter, heading))
    });
    rules.collect()
}

/// Reads a rule from the name of its anchor on.
fn rule<'t>(text: &'t str, chapter: &'t str, section: Option<&'t str>) -> Option<Rule<'t>> {
    let (id, text) = text.split_once("\"></a>\n### ")?;
    let (heading, body) = text.split_once('\n')?;
    let title = heading.strip_prefix(id)?.trim_start();
    Some(Rule { id, title, chapter, section, body })
}
