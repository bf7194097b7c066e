//! How the program is linked: at a fixed place in memory, where the linker can be told so
//! (`docs/decisions/0021-a-fixed-place.md`).

#[expect(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
#[expect(clippy::disallowed_methods, reason = "and this is how cargo talks to a build script")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
