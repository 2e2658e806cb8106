//! Carries rb-sys' link arguments (macOS dynamic lookup, Ruby version flags) over to this crate.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _ = rb_sys_env::activate()?;
    Ok(())
}
