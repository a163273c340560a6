//! Files: what one is by its first bytes, how its text is encoded, and the cells of text tables and workbooks.

pub(super) mod csv;
pub(super) mod encoding;
pub(super) mod preflight;
pub(super) mod source;
pub(super) mod workbook;
