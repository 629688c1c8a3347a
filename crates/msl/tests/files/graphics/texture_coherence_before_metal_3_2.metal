// test check
#include <metal_stdlib>
using namespace metal;

// The names are free before Metal 3.2.
enum memory_coherence { memory_coherence_device };
kernel void k(
    texture2d<float, access::write, memory_coherence_device> t [[texture(0)]]) {  // error: too many template arguments for template 'texture2d'
}
