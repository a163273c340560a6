//! Files: what they are, whatever they are called, and how their letters are stored.
