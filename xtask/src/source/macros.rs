//! The items that the project's own macros make, without what is in their functions.

use proc_macro2::TokenTree;
use syn::parse::{Parse, ParseStream, Result};
use syn::{Attribute, Ident, Item, LitStr, Token, Type, Visibility, braced, parse_quote};

/// Puts the items that `record!` and `message_error!` make in their place.
pub(super) fn expand(items: Vec<Item>) -> Result<Vec<Item>> {
    let mut expanded = Vec::new();
    for item in items {
        let name = match &item {
            Item::Macro(item) => item.mac.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        match (name.as_deref(), item) {
            (Some("record"), Item::Macro(item)) => {
                expanded.extend(item.mac.parse_body::<Records>()?.0);
            }
            (Some("message_error"), Item::Macro(item)) => {
                expanded.extend(item.mac.parse_body::<MessageError>()?.0);
            }
            (_, item) => expanded.push(item),
        }
    }
    Ok(expanded)
}

struct Records(Vec<Item>);

impl Parse for Records {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut items = Vec::new();
        while !input.is_empty() {
            let attributes = input.call(Attribute::parse_outer)?;
            let visibility: Visibility = input.parse()?;
            input.parse::<Token![struct]>()?;
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            input.parse::<LitStr>()?;
            if input.parse::<Option<Token![@]>>()?.is_some() {
                input.parse::<Ident>()?;
            }
            let content;
            braced!(content in input);
            let fields = content.parse_terminated(RecordField::parse, Token![,])?;
            let fields = fields.iter().map(|field| &field.0);
            items.push(parse_quote!(#(#attributes)* #visibility struct #name { #(#fields),* }));
            items.push(parse_quote!(impl TypedRecord for #name {}));
        }
        Ok(Records(items))
    }
}

struct RecordField(syn::Field);

impl Parse for RecordField {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility: Visibility = input.parse()?;
        let name: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let type_: Type = input.parse()?;
        input.parse::<Token![=]>()?;
        input.parse::<LitStr>()?;
        while !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<TokenTree>()?;
        }
        Ok(RecordField(parse_quote!(#(#attributes)* #visibility #name: #type_)))
    }
}

struct MessageError(Vec<Item>);

impl Parse for MessageError {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let written: syn::ItemStruct = input.parse()?;
        let name = &written.ident;
        Ok(MessageError(vec![
            parse_quote!(impl #name { pub fn new(message: impl Into<String>) -> Self {} }),
            parse_quote!(impl Error for #name {}),
            parse_quote!(impl From<String> for #name {}),
            parse_quote!(impl From<&str> for #name {}),
            Item::Struct(written),
        ]))
    }
}
