//! Address spaces, and the coherence of the memory in them.

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

/// The threads and devices to which `coherent` shows reads and writes of device memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Coherence {
    /// To all threads of the device: `coherent` and `coherent(device)`.
    Device,
    /// To the CPU and other devices too: `coherent(system)`.
    System,
}

impl Coherence {
    /// Its qualifier.
    pub fn text(self) -> &'static str {
        match self {
            Coherence::Device => "coherent(device)",
            Coherence::System => "coherent(system)",
        }
    }
}
