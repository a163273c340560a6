//! Cells: text, numbers and the fields of the service.
