//! The qualifiers and other specifiers of declarations.

use super::Effect::{Honoured, NoEffect, Refused};
use super::Subject::{Class, Enum, Function, Lambda, Member, Parameter, Variable};
use super::{Effect, Form, Subject, Word};

const fn word(spellings: &'static [&'static str], subjects: &'static [Subject], effect: Effect) -> Word {
    Word { spellings, forms: &[Form::Keyword], subjects, effect }
}

/// All qualifiers and specifiers that are keywords.
pub const QUALIFIERS: &[Word] = &[
    word(&["const"], &[Variable, Parameter, Member, Function], Honoured("the object cannot be assigned")),
    word(&["volatile"], &[Variable, Parameter, Member, Function], Honoured("each access is kept in AIR")),
    word(
        &["coherent", "coherent(device)", "coherent(system)"],
        &[Variable, Parameter, Member],
        Honoured("from Metal 3.2 on; each access of device memory is one of Apple's functions for coherent memory"),
    ),
    word(
        &["__restrict", "__restrict__"],
        &[Variable, Parameter, Member],
        NoEffect("pointers are not assumed to be apart"),
    ),
    word(&["register"], &[Variable, Parameter], NoEffect("variables live in registers where they can")),
    word(&["mutable"], &[Member, Lambda], Honoured("a member of a constant object can be assigned")),
    word(
        &["static"],
        &[Variable, Member, Function],
        Honoured("a member of the class; a variable must be a constant"),
    ),
    word(&["extern"], &[Variable, Function], Honoured("a declaration without a definition")),
    word(&["inline"], &[Function, Variable], NoEffect("a library is one translation unit")),
    word(&["constexpr"], &[Variable, Member, Function], Honoured("allowed in constant expressions")),
    word(&["explicit"], &[Function], Honoured("no implicit conversion by it")),
    word(&["friend"], &[Function, Class], Honoured("access to private members")),
    word(&["typedef"], &[Class, Enum, Variable], Honoured("declares a type alias")),
    word(&["noexcept"], &[Function, Lambda], NoEffect("there are no exceptions")),
    word(&["final"], &[Class], Honoured("no class can have it as a base")),
    word(&["override", "final"], &[Function], Refused("there are no virtual functions")),
    word(&["virtual"], &[Function], Refused("virtual functions are not supported in Metal")),
    word(&["thread_local"], &[Variable], Refused("thread-local storage is not supported in Metal")),
    word(
        &["thread", "device", "constant", "threadgroup", "threadgroup_imageblock", "ray_data", "object_data"],
        &[Variable, Parameter, Member, Function],
        Honoured("address space"),
    ),
    word(&["kernel", "vertex", "fragment"], &[Function], Honoured("an entry point of this stage")),
];
