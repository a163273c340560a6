//! Rows among each other: references, duplicates, order, and the same sheet again.
