//! Inputs as files, for a program that must not spend instructions on making them.
//!
//! A line with the number of definitions, a line for each definition, then a line for each
//! document: number of the definition, version, text.

use std::path::Path;

use crate::input::{Document, Input, Kind, Variant};

impl Input {
    /// Writes the input to a file.
    pub fn write(&self, file: &Path) -> std::io::Result<()> {
        let mut definitions: Vec<&str> = Vec::new();
        let mut documents = Vec::new();
        for document in &self.documents {
            let definition = &*document.kind.definition;
            let known = definitions.iter().position(|other| *other == definition);
            let number = known.unwrap_or(definitions.len());
            if known.is_none() {
                definitions.push(definition);
            }
            let version = document.kind.version.name();
            documents.extend(format!("{number}\t{version}\t").into_bytes());
            documents.extend(&document.text);
            documents.push(b'\n');
        }
        let mut out = format!("{}\n", definitions.len()).into_bytes();
        for definition in definitions {
            out.extend(definition.as_bytes());
            out.push(b'\n');
        }
        out.extend(documents);
        std::fs::write(file, out)
    }

    /// Reads an input from a file; its name and variant are not in it.
    pub fn read(file: &Path) -> std::io::Result<Self> {
        let text = std::fs::read_to_string(file)?;
        let mut lines = text.lines();
        let count: usize = lines.next().unwrap().parse().unwrap();
        let definitions: Vec<&str> = lines.by_ref().take(count).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        let mut documents = Vec::new();
        for line in lines {
            let parts: Vec<&str> = line.splitn(3, '\t').collect();
            let definition = definitions[parts[0].parse::<usize>().unwrap()];
            let is_same =
                |kind: &&Kind| &*kind.definition == definition && kind.version.name() == parts[1];
            let kind = kinds.iter().find(is_same).cloned().unwrap_or_else(|| {
                kinds.push(Kind::new(definition, parts[1]));
                kinds[kinds.len() - 1].clone()
            });
            documents.push(Document::new(kind, parts[2].as_bytes().to_vec()));
        }
        Ok(Input { name: String::new(), variant: Variant::Clean, documents })
    }
}
