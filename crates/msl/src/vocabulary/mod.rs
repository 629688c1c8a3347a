//! Attributes, qualifiers and pragmas: all that the front end accepts, and the effect of each. The preprocessor, the
//! parser and the checker recognize by these tables alone, `docs/language.md` shows them, and a test walks them.

pub(crate) mod attributes;
mod pragmas;
mod qualifiers;
pub mod warnings;

pub use attributes::ATTRIBUTES;
pub use pragmas::PRAGMAS;
pub use qualifiers::QUALIFIERS;

/// An attribute, a qualifier or a pragma, or several with one effect.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Its names.
    pub spellings: &'static [&'static str],
    /// The ways to write it.
    pub forms: &'static [Form],
    /// Declarations and statements that it may belong to.
    pub subjects: &'static [Subject],
    /// Consequence of writing it.
    pub effect: Effect,
}

/// A way to write an attribute, qualifier or pragma.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `[[x]]`
    Bracket,
    /// `__attribute__((x))`, `[[gnu::x]]`
    Gnu,
    /// `[[clang::x]]`
    Clang,
    /// `x`
    Keyword,
    /// `#pragma x`, `_Pragma("x")`
    Pragma,
}

/// Consequence of an attribute, qualifier or pragma.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It does what the text says.
    Honoured(&'static str),
    /// It is accepted, and changes neither results nor diagnostics, because of this.
    NoEffect(&'static str),
    /// It is an error, because of this.
    Refused(&'static str),
}

/// Declaration or statement that an attribute belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each variant is the thing of that name")]
pub enum Subject {
    Function,
    Parameter,
    Variable,
    Member,
    Class,
    Enum,
    Enumerator,
    Alias,
    Namespace,
    Lambda,
    Statement,
}

impl Subject {
    /// Plural, as in clang's messages.
    pub fn text(self) -> &'static str {
        match self {
            Subject::Function => "functions",
            Subject::Parameter => "parameters",
            Subject::Variable => "variables",
            Subject::Member => "data members",
            Subject::Class => "classes",
            Subject::Enum => "enums",
            Subject::Enumerator => "enumerators",
            Subject::Alias => "type aliases",
            Subject::Namespace => "namespaces",
            Subject::Lambda => "lambdas",
            Subject::Statement => "statements",
        }
    }
}

impl Word {
    /// `functions, parameters and variables`
    pub fn subjects_text(&self) -> String {
        match self.subjects {
            [] => String::new(),
            [only] => only.text().to_string(),
            [first @ .., last] => {
                let first: Vec<&str> = first.iter().map(|subject| subject.text()).collect();
                format!("{} and {}", first.join(", "), last.text())
            }
        }
    }

    /// True for an attribute of Metal's own.
    pub fn is_metal(&self) -> bool {
        self.forms == [Form::Bracket] && !attributes::is_standard(self.spellings)
    }
}

/// The attribute `name`, written in this form.
pub fn attribute(form: Form, name: &str) -> Option<&'static Word> {
    ATTRIBUTES.iter().find(|word| word.forms.contains(&form) && word.spellings.contains(&name))
}

/// The attribute `name`, however it is written.
pub(crate) fn any_attribute(name: &str) -> Option<&'static Word> {
    ATTRIBUTES.iter().find(|word| word.spellings.contains(&name))
}

/// The pragma that begins with these words, which the longest spelling decides.
pub(crate) fn pragma(words: &[&str]) -> Option<&'static Word> {
    let begins = |spelling: &&str| spelling.split(' ').enumerate().all(|(i, part)| words.get(i) == Some(&part));
    let all = PRAGMAS.iter().flat_map(|word| word.spellings.iter().map(move |spelling| (word, spelling)));
    all.filter(|(_, spelling)| begins(spelling)).max_by_key(|(_, spelling)| spelling.len()).map(|(word, _)| word)
}
