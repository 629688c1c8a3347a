use super::*;
use crate::device::Device;

#[test]
fn rejects_memory_of_another_device() {
    let buffer = Device::cpu().and_then(|device| device.new_buffer(16)).expect("memory");
    let memory = buffer.memory();
    let domain = memory.domain();
    assert_eq!(same_device("set_buffer", domain, memory), Ok(()));
    let problem = "set_buffer: the buffer of 16 bytes belongs to another device";
    assert_eq!(same_device("set_buffer", domain + 1, memory), usage(problem));
}
