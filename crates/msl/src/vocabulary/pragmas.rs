//! The pragmas.

use super::Effect::{Honoured, NoEffect, Refused};
use super::{Effect, Form, Subject, Word};

const fn word(spellings: &'static [&'static str], effect: Effect) -> Word {
    Word { spellings, forms: &[Form::Pragma], subjects: &[], effect }
}

const fn of_loops(spellings: &'static [&'static str], effect: Effect) -> Word {
    Word { spellings, forms: &[Form::Pragma], subjects: &[Subject::Statement], effect }
}

/// All pragmas, by their first words.
pub const PRAGMAS: &[Word] = &[
    word(&["once"], Honoured("the file is included once")),
    word(&["pack"], Honoured("most alignment of the members of structs")),
    word(&["options", "ms_struct", "align"], Refused("it would change layouts")),
    word(&["message", "GCC warning", "clang warning"], Honoured("prints a warning")),
    word(&["GCC error", "clang error"], Honoured("an error")),
    word(&["GCC poison", "clang poison"], NoEffect("the names stay usable; clang refuses them")),
    word(&["GCC diagnostic", "clang diagnostic"], Honoured("turns warnings off and on by their names")),
    word(&["GCC system_header", "clang system_header"], Honoured("no warnings from the rest of the file")),
    of_loops(
        &["unroll", "clang loop unroll", "clang loop unroll_count"],
        Honoured("!llvm.loop of the loop in AIR"),
    ),
    of_loops(&["nounroll"], Honoured("!llvm.loop of the loop in AIR")),
    of_loops(
        &["clang loop"],
        NoEffect(
            "vectorize, vectorize_width, vectorize_predicate, interleave, interleave_count, distribute, \
                  pipeline and pipeline_initiation_interval are hints; any other option is an error",
        ),
    ),
    word(&["METAL fp", "clang fp", "STDC FP_CONTRACT"], Honoured("see docs/math.md")),
    word(&["METAL internals", "METAL diagnostic"], NoEffect("for Apple's own headers")),
    word(&["mark", "region", "endregion", "unused", "comment", "ident"], NoEffect("for editors and linkers")),
    word(
        &[
            "clang attribute",
            "push_macro",
            "pop_macro",
            "redefine_extname",
            "weak",
            "GCC visibility",
            "omp",
            "STDC",
        ],
        Refused("it would change the program"),
    ),
    word(
        &["clang assume_nonnull", "clang arc_cf_code_audited", "clang optimize", "clang section", "clang module"],
        NoEffect("a hint, or about hosts"),
    ),
];
