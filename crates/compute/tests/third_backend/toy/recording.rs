//! Recordings: properties of a table that are known before it is replayed.

use compute::DispatchType;
use compute::backend::Table;

/// A prepared table.
pub(super) struct Recording {
    /// The kind of encoder that it needs.
    pub(super) dispatch_type: DispatchType,
}

impl Recording {
    pub(super) fn new(table: &Table) -> Recording {
        let dispatch_type = if table.may_overlap() { DispatchType::Concurrent } else { DispatchType::Serial };
        Recording { dispatch_type }
    }
}
