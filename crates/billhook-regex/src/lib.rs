#![doc = include_str!("../README.md")]
//!
//! The API server compiles the patterns of a schema with Go's `regexp` package.
//! Its syntax is RE2's and looks much like that of the `regex` crate, but a
//! pattern can be valid for one and not for the other, and some patterns are
//! valid for both and match different texts: `^\d+$` matches `٣` only in Rust,
//! `[a&&b]` matches `a` only in Go. This crate parses a pattern as Go 1.27 does,
//! refuses what Go refuses with the text that Go prints, and matches what Go
//! matches. For a given pattern the time is linear in the length of the text.
//!
//! # Syntax
//!
//! The syntax is that of `regexp.Compile`. Where it differs from the `regex` crate:
//!
//! | in a pattern | means |
//! | --- | --- |
//! | `\d \s \w \b` | ASCII only; `(?i)\w` also holds `ſ` and `K` (Kelvin), as folding says |
//! | `\s` | tab, newline, form feed, carriage return, space; `[[:space:]]` also the vertical tab |
//! | `^`, `$` | start and end of the text, without `m` |
//! | `\z`, `\Z` | end of the text; an error |
//! | `.`, `[^a]` | no newline without `s`; a newline too |
//! | `x{`, `{`, `x{,5}`, `x{01}` | those characters |
//! | `x**`, `x{2}{3}` | an error; `x*?` is lazy |
//! | `[a&&b]`, `[a--b]`, `[[]` | sets of the characters that stand there |
//! | `\Q…\E` | the text between |
//! | `\101`, `\07`, `\1` | octal; octal; an error |
//! | `\x41`, `\x{10FFFF}`, `\u0041` | hexadecimal; hexadecimal; an error |
//! | `\<`, `\_`, `\/`, `\é` | that character, if it is ASCII and no letter or digit; else an error |
//! | `\pL`, `\p{Greek}`, `\p{^Lu}`, `\p{Letter}` | categories and scripts, but no other properties |
//! | `(?P<n>…)`, `(?<n>…)` | a group; a name may come more than once |
//! | `(?imsU-imsU)`, `(?i:…)` | flags; any other letter is an error |
//!
//! # Limits
//!
//! All of them are in [`limits`]. Go's own keep a pattern from nesting or
//! repeating too much; they are enforced alike by [`Pattern::new`] and [`check`].
//! On top of them, [`Pattern::new`] bounds the size of what is compiled. Only
//! patterns of extraordinary size get there; Go would take them, so they have an
//! [`ErrorKind`] of their own.
//!
//! A pattern is compiled when it is first matched, to one small instruction for each
//! place in it. What follows a set of places and a character is worked out when it is
//! needed and kept, within bounds that [`Patterns`] share.
//!
//! At worst, a match takes time in proportion to the size of the pattern times
//! the length of the text, as in Go; [`Steps`] bound it where both come from
//! strangers.
//!
//! # What it does not do
//!
//! - **No captures, no replacing.** Validation asks whether there is a match, and
//!   expressions for the matched texts; groups are parsed and then dropped.
//! - **No bytes.** Text is `&str`. Go can also be given invalid UTF-8.
//! - **No other dialects**: not Go's POSIX mode (`regexp.CompilePOSIX`), and no
//!   look-around or back-references, which Go does not have either.
//! - **Unicode 16.** Go 1.27 has the tables of Unicode 17 and older Go, older
//!   ones. The names of all scripts are known; characters that are newer than
//!   Unicode 16 count as unassigned, except in the scripts that came with them.
//! - **No surrogates.** `\x{D800}` is accepted and matches nothing. Where Go can
//!   search for a fixed beginning it looks for U+FFFD instead, so that there
//!   `^\x{D800}` matches that character.

mod ast;
mod automaton;
mod charset;
mod classes;
mod edge;
mod error;
mod fold;
pub mod limits;
mod parser;
mod pattern;
mod program;
mod search;
mod steps;
mod texts;
mod unicode;

pub use error::{Error, ErrorKind};
pub use pattern::{Pattern, Patterns, check};
pub use steps::{OutOfSteps, Steps};
pub use texts::Texts;
