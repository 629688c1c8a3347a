//! The list of headers and the folder of headers agree, and programs may define macros before they include them.

use super::*;
use crate::lex::token::{Token, TokenKind};
use crate::parse::ast::{Decl, DeclKind, TemplateHeader};
use crate::preprocess::{self, LanguageVersion};
use crate::source::SourceMap;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_file_is_a_header() {
    fn visit(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in folder.read_dir().expect("the folder is there") {
            let entry = entry.expect("it can be listed");
            let name = format!("{prefix}{}", entry.file_name().to_str().expect("names are ASCII"));
            match entry.path().is_dir() {
                true => visit(&entry.path(), &format!("{name}/"), found),
                false => _ = found.insert(name),
            }
        }
    }
    let mut found = BTreeSet::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stdlib/include"), "", &mut found);
    assert_eq!(found, header_names().map(str::to_owned).collect());
}

#[test]
fn includes_lead_to_headers() {
    for (name, text) in HEADERS {
        for line in text.lines().filter_map(|line| line.strip_prefix("#include <")) {
            let included = line.trim_end().trim_end_matches('>');
            assert!(header(included).is_some(), "<{name}> includes <{included}>");
        }
    }
}

#[test]
fn headers_are_read_once() {
    for (name, text) in HEADERS.iter().filter(|(name, _)| *name != "__metal_math_functions") {
        assert!(text.contains("\n#pragma once\n"), "<{name}> has no #pragma once");
    }
}

/// Names in the headers: those that programs use, and those of parameters.
#[derive(Default)]
struct Declared {
    public: BTreeSet<String>,
    parameters: BTreeSet<String>,
}

impl Declared {
    fn visit(&mut self, decl: &Decl) {
        let public = match &decl.kind {
            DeclKind::Namespace { name, decls, .. } => {
                decls.iter().for_each(|decl| self.visit(decl));
                name.as_ref().map(|name| &name.name)
            }
            DeclKind::Alias(alias) => {
                self.visit_header(alias.template.as_ref());
                Some(&alias.name.name)
            }
            DeclKind::Var(variable) => {
                self.visit_header(variable.template.as_ref());
                variable.name.as_ref().map(|name| &name.last().name)
            }
            DeclKind::Function(function) => {
                function.templates.iter().for_each(|header| self.visit_header(Some(header)));
                let names = function.params.iter().filter_map(|param| param.name.as_ref());
                self.parameters.extend(names.map(|name| name.name.to_string()));
                Some(&function.name.last().name)
            }
            DeclKind::Class(class) => {
                self.visit_header(class.template.as_ref());
                class.members.iter().flatten().for_each(|member| self.visit(member));
                class.name.as_ref().map(|name| &name.last().name)
            }
            DeclKind::Enum(decl) => {
                let names = decl.enumerators.iter().flatten().map(|enumerator| &enumerator.name);
                self.public.extend(names.map(|name| name.name.to_string()));
                decl.name.as_ref().map(|name| &name.name)
            }
            _ => None,
        };
        self.public.extend(public.map(|name| name.to_string()));
    }

    fn visit_header(&mut self, header: Option<&TemplateHeader>) {
        let names = header.iter().flat_map(|header| &header.params).filter_map(|param| param.name.as_ref());
        self.parameters.extend(names.map(|name| name.name.to_string()));
    }
}

/// Includes the headers that programs can include.
fn includes() -> String {
    let names = header_names().filter(|name| *name != "__metal_math_functions");
    names.map(|name| format!("#include <{name}>\n")).collect()
}

/// The tokens of all headers.
fn header_tokens(std: LanguageVersion) -> Vec<Token> {
    let mut sources = SourceMap::new();
    let main = sources.add_file("all.metal", None, includes(), None, false);
    let options = preprocess::Options { std, ..preprocess::Options::default() };
    let mut diagnostics = Vec::new();
    let tokens = preprocess::preprocess(&mut sources, main, &options, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    tokens
}

/// True if the language itself has the name.
fn is_native(name: &str) -> bool {
    let templates = ["vec", "packed_vec", "matrix", "atomic", "simdgroup_matrix"];
    let words = ["final", "override"];
    templates.contains(&name)
        || words.contains(&name)
        || !crate::compile_source("native.metal", &format!("typedef {name} __t;"), &crate::Options::default())
            .has_errors()
}

/// A macro of the program, such as `T` or `N`, must not change the headers: all names of theirs that no program can
/// mean are reserved ones.
#[test]
fn private_names_are_reserved() {
    for std in [LanguageVersion::new(3, 0), LanguageVersion::new(4, 0)] {
        let tokens = header_tokens(std);
        let mut diagnostics = Vec::new();
        let unit = crate::parse::parse(tokens.clone(), std, &mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let mut declared = Declared::default();
        unit.all().for_each(|decl| declared.visit(decl));
        let plain: Vec<_> = declared.parameters.iter().filter(|name| !name.starts_with('_')).collect();
        assert!(plain.is_empty(), "parameters with plain names: {plain:?}");
        assert!(declared.public.contains("simd_sum") && declared.parameters.contains("_T"));
        let used: BTreeSet<&str> = tokens
            .iter()
            .filter_map(|token| match &token.kind {
                TokenKind::Ident(name) if !name.starts_with('_') => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let private: Vec<_> =
            used.into_iter().filter(|name| !declared.public.contains(*name) && !is_native(name)).collect();
        assert!(private.is_empty(), "private names that a macro may have: {private:?}");
    }
}

/// No name of a function or type of the library is defined here, since these break Apple's headers as well.
#[test]
fn macros_do_not_change_headers() {
    let names = "T U N M K L P Q R S E D A B C F G V W X Y Z Ts Is Args Rows Cols Lod Tags Extents Element Left Right Size Index \
                 Type Value Options a b c d e f g h i j p q r s t u v at dst src ptr lod pos val order object desired \
                 expected operand flags lane delta result arg args tmp";
    let mut text: String = names.split_whitespace().map(|name| format!("#define {name} )] garbage {{\n")).collect();
    text.push_str(&includes());
    for std in [LanguageVersion::new(3, 1), LanguageVersion::new(4, 0)] {
        let options = crate::Options { std, ..crate::Options::default() };
        let compilation = crate::compile_source("macros.metal", &text, &options);
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    }
}
