//! x
use magnus::{Error, RModule, Ruby};
pub(crate) fn define(_r: &Ruby, _f: RModule) -> Result<(), Error> {
    Ok(())
}
