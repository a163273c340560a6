//! Headers: as they are written, doubled, missing, or in the wrong place.
