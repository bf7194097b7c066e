//! How the program is linked: at a fixed place in memory, where the linker can be told so
//! (`docs/decisions/0021-a-fixed-place.md`).

#[expect(clippy::disallowed_methods, reason = "this is how cargo talks to a build script")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
