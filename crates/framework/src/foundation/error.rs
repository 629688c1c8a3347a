//! NSError and NSException.

use super::dictionary::{self, Pairs};
use super::format;
use super::object::NS_OBJECT;
use super::string::{self, constants};
use crate::runtime::exception::objc_exception_throw;
use crate::runtime::object::retain;
use crate::runtime::variadic::Variable;
use crate::runtime::{Class, Id, Sel, Strong};
use std::ffi::c_void;

constants! {
    NSLocalizedDescriptionKey = "NSLocalizedDescription";
    NSLocalizedFailureReasonErrorKey = "NSLocalizedFailureReason";
    NSUnderlyingErrorKey = "NSUnderlyingError";
    NSCocoaErrorDomain = "NSCocoaErrorDomain";
    NSPOSIXErrorDomain = "NSPOSIXErrorDomain";
    NSInvalidArgumentException = "NSInvalidArgumentException";
    NSGenericException = "NSGenericException";
    NSInternalInconsistencyException = "NSInternalInconsistencyException";
    NSRangeException = "NSRangeException";
    NSMallocException = "NSMallocException";
}

/// An error.
pub(crate) struct Failure {
    domain: Strong,
    code: isize,
    details: Strong,
}

/// A new error with a description.
pub(crate) fn new(domain: Id, code: isize, description: &str) -> Strong {
    let details = vec![(Strong::retain(NSLocalizedDescriptionKey.id()), string::new(description))];
    with_details(domain, code, details)
}

/// A new error with a dictionary.
pub(crate) fn with_details(domain: Id, code: isize, details: Vec<(Strong, Strong)>) -> Strong {
    Strong::new(Failure { domain: Strong::retain(domain), code, details: Pairs::strong(details) })
}

/// The error for a file that cannot be read.
pub(crate) fn file_error(path: &str, problem: &std::io::Error) -> Strong {
    const CANNOT_READ: isize = 260;
    new(NSCocoaErrorDomain.id(), CANNOT_READ, &format!("The file “{path}” couldn’t be opened: {problem}."))
}

/// Stores the error for a file that cannot be read, and returns nil.
pub(crate) fn store_file_error(path: &str, problem: &std::io::Error, error: *mut Id) -> Id {
    file_error(path, problem).autorelease().store(error);
    Id::NIL
}

/// The error for a file that cannot be written.
pub(crate) fn write_error(path: &str, problem: &std::io::Error) -> Strong {
    const CANNOT_WRITE: isize = 512;
    new(NSCocoaErrorDomain.id(), CANNOT_WRITE, &format!("The file “{path}” couldn’t be changed: {problem}."))
}

class! {
    NS_ERROR = "NSError": NS_OBJECT, new Failure, ["NSCopying", "NSCoding"]
    methods {
        + "errorWithDomain:code:userInfo:" (_class, domain: Id, code: isize, details: Id) -> Id {
            let (domain, details) = (Strong::retain(domain), Strong::retain(details));
            Strong::new(Failure { domain, code, details }).autorelease()
        }
        - "initWithDomain:code:userInfo:" (this, domain: Id, code: isize, details: Id) -> Id {
            this.set(Failure { domain: Strong::retain(domain), code, details: Strong::retain(details) })
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "domain" (this) -> Id { this.domain.id() }
        - "code" (this) -> isize { this.code }
        - "userInfo" (this) -> Id {
            if this.details.id().is_nil() { Pairs::strong(Vec::new()).autorelease() } else { this.details.id() }
        }
        - "localizedDescription" (this) -> Id {
            let described = dictionary::value(this.details.id(), NSLocalizedDescriptionKey.id());
            if !described.id().is_nil() {
                return described.autorelease();
            }
            let domain = string::describe(this.domain.id());
            string::new(&format!("The operation couldn’t be completed. ({domain} error {}.)", this.code)).autorelease()
        }
        - "localizedFailureReason" (this) -> Id {
            dictionary::value(this.details.id(), NSLocalizedFailureReasonErrorKey.id()).autorelease()
        }
        - "localizedRecoverySuggestion" (_this) -> Id { Id::NIL }
        - "localizedRecoveryOptions" (_this) -> Id { Id::NIL }
        - "description" (this) -> Id {
            let domain = string::describe(this.domain.id());
            // As Foundation: the description in quotation marks, then all that is in the dictionary.
            let description = dictionary::value(this.details.id(), NSLocalizedDescriptionKey.id());
            let description = match description.id().is_nil() {
                true => "\"(null)\"".to_owned(),
                false => format!("\"{}\"", string::describe(description.id())),
            };
            let pairs = Pairs::of(this.details.id());
            let pairs = pairs.iter().map(|(key, value)| {
                format!("{}={}", string::describe(key.id()), string::describe(value.id()))
            });
            let details: Vec<String> = pairs.collect();
            let details = if details.is_empty() { String::new() } else { format!(" UserInfo={{{}}}", details.join(", ")) };
            string::new(&format!("Error Domain={domain} Code={} {description}{details}", this.code)).autorelease()
        }
    }
}

/// An exception.
pub(crate) struct Thrown {
    name: Strong,
    reason: Strong,
    details: Strong,
}

/// Throws an exception.
pub(crate) fn raise(name: &string::Exported, reason: &str) -> ! {
    let thrown =
        Thrown { name: Strong::retain(name.id()), reason: string::new(reason), details: Strong::default() };
    objc_exception_throw(Strong::new(thrown).autorelease())
}

extern "C-unwind" fn raise_named(_: &'static Class, _: Sel, name: Id, rest: &mut Variable) -> Id {
    let reason = string::describe(rest.object());
    let reason = string::new(&format::text(&reason, rest));
    let thrown = Thrown { name: Strong::retain(name), reason, details: Strong::default() };
    objc_exception_throw(Strong::new(thrown).autorelease())
}

// The second object is the first of the variable arguments: the method takes a name, and a format with its own.
variadic! { raise_format => raise_named, 3; }

class! {
    NS_EXCEPTION = "NSException": NS_OBJECT, new Thrown, ["NSCopying"]
    variadic { + "raise:format:" raise_format, }
    methods {
        - "init" (this) -> Id {
            this.set(Thrown { name: Strong::default(), reason: Strong::default(), details: Strong::default() })
        }
        + "exceptionWithName:reason:userInfo:" (_class, name: Id, reason: Id, details: Id) -> Id {
            let [name, reason, details] = [name, reason, details].map(Strong::retain);
            Strong::new(Thrown { name, reason, details }).autorelease()
        }
        - "initWithName:reason:userInfo:" (this, name: Id, reason: Id, details: Id) -> Id {
            let [name, reason, details] = [name, reason, details].map(Strong::retain);
            this.set(Thrown { name, reason, details })
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "name" (this) -> Id { this.name.id() }
        - "reason" (this) -> Id { this.reason.id() }
        - "userInfo" (this) -> Id { this.details.id() }
        - "raise" (this) { objc_exception_throw(this.id()) }
        - "description" (this) -> Id { this.reason.clone().autorelease() }
    }
}
