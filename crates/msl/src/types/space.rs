//! Address spaces.

/// Address space of a variable, or of the target of a pointer or reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "each variant is the keyword of that name")]
pub enum AddressSpace {
    Thread,
    Device,
    Constant,
    Threadgroup,
    ThreadgroupImageblock,
    RayData,
    ObjectData,
}

impl AddressSpace {
    /// Its keyword.
    pub fn text(self) -> &'static str {
        match self {
            AddressSpace::Thread => "thread",
            AddressSpace::Device => "device",
            AddressSpace::Constant => "constant",
            AddressSpace::Threadgroup => "threadgroup",
            AddressSpace::ThreadgroupImageblock => "threadgroup_imageblock",
            AddressSpace::RayData => "ray_data",
            AddressSpace::ObjectData => "object_data",
        }
    }
}
