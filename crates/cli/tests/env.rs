//! `metalworks env`: the printed variables, and the folder that they name.
#![cfg(all(llvm, target_os = "linux"))]

mod support;

use std::path::Path;
use std::process::Command;
use support::{Scratch, metalworks, metalworks_with_cache};

/// The copy of objc2-metal of a registry: as much of it as is changed.
fn registry(scratch: &Scratch) -> String {
    let package = "cargo/registry/src/index/objc2-metal-0.3.2";
    scratch.file(
        &format!("{package}/src/generated/mod.rs"),
        "#[link(name = \"Metal\", kind = \"framework\")]\nextern \"C\" {}\n",
    );
    let manifest = "[dependencies.block2]\nfeatures = [\"alloc\"]\n\n[dependencies.objc2]\nfeatures = [\"std\"]\n";
    scratch.file(&format!("{package}/Cargo.toml"), manifest);
    format!("{}/cargo", scratch.path())
}

#[test]
fn prints_what_a_shell_needs() {
    let scratch = Scratch::new();
    let framework = scratch.file("libmetal_framework.so", "");
    let folder = format!("{}/it's here", scratch.path());
    let cargo = registry(&scratch);
    let arguments = ["env", "--framework", &framework, "--folder", &folder];
    let run = metalworks_with_cache(arguments, "off", &[("CARGO_HOME", &cargo)]).exits(0);
    let script = format!(
        "{}\nxcrun metal --version && printf '%s\\n' \"$CPATH\" \"$LIBRARY_PATH\" \"$LD_LIBRARY_PATH\" \
         \"$METALWORKS_OBJCFLAGS\" && cat \"$METALWORKS_CARGO_CONFIG\"",
        run.stdout
    );
    let output = Command::new("sh")
        .args(["-euc", &script])
        .env_remove("CPATH")
        .env_remove("LIBRARY_PATH")
        .env("LD_LIBRARY_PATH", "/other")
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let expected =
        format!("\n{folder}/include\n{folder}/lib\n{folder}/lib:/other\n-fobjc-runtime=gnustep-2.0 -fblocks");
    assert!(said.contains("metal version") && said.contains(&expected), "{said}");
    assert!(said.contains(&format!("objc2-metal = {{ path = \"{folder}/objc2-metal-0.3.2\" }}")), "{said}");

    let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).expect(name);
    assert_eq!(read("lib/libobjc.so"), "INPUT(-lmetal_framework)\n");
    assert!(read("include/Metal/Metal.h").contains("@protocol MTLDevice"));
    assert_eq!(read("objc2-metal-0.3.2/src/generated/mod.rs"), "extern \"C\" {}\n");
    assert_eq!(read("objc2-metal-0.3.2/Cargo.toml").matches("[\"gnustep-2-1\", ").count(), 2);
    let link = std::fs::read_link(Path::new(&folder).join("lib/libmetal_framework.so")).expect("a link");
    assert_eq!(link, Path::new(&framework).canonicalize().expect("it exists"));
}

#[test]
fn says_what_is_missing() {
    let scratch = Scratch::new();
    let folder = format!("{}/env", scratch.path());
    metalworks(["env", "--framework", "/no/such.so", "--folder", &folder]).exits(1).says("--framework");
    let framework = scratch.file("libmetal_framework.so", "");
    let empty = [("CARGO_HOME", "/no/such/folder")];
    let run = metalworks_with_cache(["env", "--framework", &framework, "--folder", &folder], "off", &empty);
    assert!(!run.exits(0).says("no objc2-metal").stdout.contains("CARGO_CONFIG"));
    let file = scratch.file("file", "");
    metalworks(["env", "--framework", &framework, "--folder", &file]).exits(2).says("cannot write");
}
