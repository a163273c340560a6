//! What others write cannot break anything: hostile sheets, answers, settings, journals and spill files go through
//! the doors that `fuzz/` knocks at, here with a few hundred generated inputs each, and with every input that was
//! once found to do harm.

mod doors;
mod found;
mod generated;
mod seeds;
