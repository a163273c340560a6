//! What holds between the cells of one row: cells that exclude each other, need each other, or mean nothing together.

use super::draft::RowValues;
use crate::model::kind::Kind;
use crate::sheet::field::{Problem, Value, doubled};
use crate::sheet::finding::code::Code;
use crate::sheet::table::column::Family;

/// Something wrong between the cells of a row; `column` is where it is shown.
#[derive(Debug)]
pub(crate) struct RowProblem {
    pub(crate) column: &'static str,
    pub(crate) others: Vec<&'static str>,
    pub(crate) problem: Problem,
}

impl RowValues {
    /// What is wrong between the cells of the row.
    pub(crate) fn problems(&self) -> Vec<RowProblem> {
        let mut problems = Vec::new();
        for (latitude, longitude) in [("latitude", "longitude"), ("address_latitude", "address_longitude")] {
            let (has, lacks) = match (self.has(latitude), self.has(longitude)) {
                (true, false) => (latitude, longitude),
                (false, true) => (longitude, latitude),
                (true, true) | (false, false) => continue,
            };
            // A cell that is as it was exported is no part of the values, and is there.
            if self.is_given(lacks) || self.exported().has_unchanged(lacks) {
                continue;
            }
            problems.push(RowProblem {
                column: lacks,
                others: vec![has],
                problem: Problem::new(
                    Code::RowIncompleteGroup,
                    format!("{has} is given and {lacks} is not: give both or neither"),
                )
                .rule("latitude and longitude together, or neither"),
            });
        }
        self.in_the_sea(&mut problems);
        if let Some(label) = self.doubled_label() {
            problems.push(RowProblem { column: "label:", others: Vec::new(), problem: doubled(label) });
        }
        self.update_problems(&mut problems);
        match self.kind() {
            Kind::Device => self.device_problems(&mut problems),
            Kind::Upkeep(upkeep) => self.upkeep_problems(upkeep, &mut problems),
            Kind::Company | Kind::Site | Kind::Person => {}
        }
        problems
    }

    /// Zero for both coordinates, which is a point in the Atlantic and what programs write for nothing.
    fn in_the_sea(&self, problems: &mut Vec<RowProblem>) {
        let zero = |name: &str| matches!(self.get(name), Some(Value::Number(number)) if *number == 0.0);
        for (latitude, longitude) in [("latitude", "longitude"), ("address_latitude", "address_longitude")] {
            if zero(latitude) && zero(longitude) {
                problems.push(RowProblem {
                    column: latitude,
                    others: vec![longitude],
                    problem: Problem::new(
                        Code::CellPlaceholder,
                        "latitude and longitude are both 0, a point in the sea: enter the place, or clear both cells",
                    )
                    .rule("the coordinates of a place, or two blank cells"),
                });
            }
        }
    }

    /// Whether a device has neither a model nor a template, so that nothing says what it is.
    pub(crate) fn is_of_no_model(&self) -> bool {
        let names_one = self.is_given("device_model") || self.is_given("template");
        self.kind() == Kind::Device && !names_one && !self.is_update()
    }

    fn device_problems(&self, problems: &mut Vec<RowProblem>) {
        let mut exclude = |column: &'static str, other: &'static str, why: &str| {
            problems.push(RowProblem {
                column,
                others: vec![other],
                problem: Problem::new(Code::RowConflict, why.to_owned())
                    .rule("only one of the mutually exclusive cells"),
            });
        };
        for custom in ["custom_site_id", "custom_site_name"] {
            if self.has(custom) && self.has("site") {
                exclude(custom, "site", "the device has a site already: clear this cell, or the site");
            }
        }
        for own in ["device_model", "mac"] {
            if self.has(own) && self.has("template") {
                exclude(
                    own,
                    "template",
                    "a device copied from a template takes this from it: clear this cell, or the template",
                );
            }
        }
        // The service does not list them for a copy, and would drop them (specification 2.5).
        for dropped in ["custom_site_id", "custom_site_name", "fax"] {
            if self.has(dropped) && self.has("template") {
                exclude(
                    dropped,
                    "template",
                    "the service has no such field for a device copied from a template: clear this cell, or the template",
                );
            }
        }
        let copied = ["copy_dhcp_leases", "copy_internet_passwords"];
        for column in copied {
            if matches!(self.get(column), Some(Value::Bool(true))) && !self.is_given("template") {
                exclude(
                    column,
                    "template",
                    "this applies only to a device copied from a template: clear this cell, or name the template",
                );
            }
        }
        if self.has_entry(Family::Snat) && !self.is_given("template") {
            exclude(
                "snat:",
                "template",
                "this applies only to a device copied from a template: clear this cell, or name the template",
            );
        }
    }
}
