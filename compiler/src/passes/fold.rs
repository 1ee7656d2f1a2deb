//! placeholder
use monograph_ir::{Error, Graph};
pub fn fold(g: &Graph) -> Result<Graph, Error> {
    Ok(g.clone())
}
