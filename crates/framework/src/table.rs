//! All classes, and from them the table of all selectors and their state, which `docs/framework.md` shows.

use crate::runtime::Class;
use crate::{dispatch, foundation, metal};

static FOUNDATION: &[&Class] = &[
    &foundation::object::NS_OBJECT,
    &foundation::object::PROTOCOL,
    &foundation::object::NS_NULL,
    &foundation::object::NS_AUTORELEASE_POOL,
    &foundation::string::NS_STRING,
    &foundation::array::NS_ARRAY,
    &foundation::array::NS_MUTABLE_ARRAY,
    &foundation::dictionary::NS_DICTIONARY,
    &foundation::dictionary::NS_MUTABLE_DICTIONARY,
    &foundation::enumerate::NS_ENUMERATOR,
    &foundation::number::NS_VALUE,
    &foundation::number::NS_NUMBER,
    &foundation::data::NS_DATA,
    &foundation::url::NS_URL,
    &foundation::error::NS_ERROR,
    &foundation::error::NS_EXCEPTION,
    &foundation::process::NS_PROCESS_INFO,
    &foundation::bundle::NS_BUNDLE,
];

/// All classes of the framework.
pub(crate) fn classes() -> impl Iterator<Item = &'static Class> {
    FOUNDATION.iter().chain(dispatch::CLASSES).chain(metal::CLASSES).copied()
}
