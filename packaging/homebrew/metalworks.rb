# Builds Metalworks from source on a Mac, where Metal compiles kernels, and LLVM is not needed.
class Metalworks < Formula
  desc "Check, compile and run Metal shaders, and run models"
  homepage "https://github.com/metalworks/metalworks"
  url "https://github.com/metalworks/metalworks.git", tag: "v0.1.0"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://github.com/metalworks/metalworks.git", branch: "main"

  depends_on "rust" => :build
  depends_on arch: :arm64
  depends_on :macos
  depends_on macos: :sonoma

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/cli")
    generate_completions_from_executable(bin/"metalworks", "completions")
    man1.mkpath
    system bin/"metalworks", "man", man1
  end

  test do
    (testpath/"twice.metal").write <<~METAL
      kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
        x[i] *= 2.0f;
      }
    METAL
    assert_match "1 kernel", shell_output("#{bin}/metalworks check twice.metal")
  end
end
