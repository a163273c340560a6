//! The formats of the workbooks: a colour for each way a row can stand, text that stays text, and marks.

use rust_xlsxwriter::{
    Color, ExcelDateTime, Format, FormatAlign, FormatBorder, FormatUnderline, Worksheet, XlsxError,
};

use crate::journal::Whose;
use crate::model::state::JobState;
use crate::report::names::cut;

/// How a cell of the input is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Not at all.
    None,
    /// Nothing is to be corrected in its row.
    Along,
    /// It is worth a look.
    Doubtful,
    /// It is wrong.
    Wrong,
}

/// The formats of one workbook.
#[derive(Debug)]
pub(super) struct Styles {
    /// Headers of the input.
    header: Format,
    /// Headers of our own.
    pub(super) own_header: Format,
    /// A cell of the input: text, whatever it looks like.
    pub(super) text: Format,
    /// A cell of a row in which nothing is to be corrected.
    along: Format,
    /// A cell of the input that is to blame.
    marked: Format,
    /// A cell of the input that is worth a look.
    doubtful: Format,
    /// Dates and times of the input, without a mark and with each.
    dates: DateFormats,
    along_dates: DateFormats,
    marked_dates: DateFormats,
    doubtful_dates: DateFormats,
    /// A header of the input that is to blame.
    marked_header: Format,
    /// A place that can be gone to.
    pub(super) link: Format,
    /// A result.
    pub(super) result: Format,
    /// A result of a sentence or two.
    pub(super) sentence: Format,
    /// A text beside a number.
    pub(super) indented: Format,
    /// A command to type.
    pub(super) command: Format,
    /// A number.
    pub(super) number: Format,
    /// A number beside its label.
    pub(super) count: Format,
    /// The header of a column of numbers.
    pub(super) number_header: Format,
    /// A number that sums others up.
    pub(super) total: Format,
    /// The name of a line in a table of ours.
    pub(super) label: Format,
    /// The title of a sheet.
    pub(super) title: Format,
    /// The title of a part of a sheet.
    pub(super) part: Format,
    statuses: Vec<Format>,
}

/// The formats of dates and times with one mark. Each shows what the value has and no more, so that it fits its column.
#[derive(Debug)]
struct DateFormats {
    date: Format,
    time: Format,
    moment: Format,
}

impl DateFormats {
    /// Those of cells that otherwise have this format.
    fn of(cell: &Format) -> Self {
        let shown = |as_what| cell.clone().set_num_format(as_what);
        Self { date: shown("yyyy-mm-dd"), time: shown("hh:mm:ss"), moment: shown("yyyy-mm-dd hh:mm:ss") }
    }

    /// The one for this value.
    fn for_value(&self, value: &ExcelDateTime) -> &Format {
        let days = value.to_excel();
        if days < 1.0 {
            &self.time
        } else if days.fract() == 0.0 {
            &self.date
        } else {
            &self.moment
        }
    }
}

/// What a page takes in width that can still be read, in characters.
const READABLE: f64 = 230.0;
/// Most characters of whose records it shows: Excel takes 255 in a header, and some are written as two.
const HEADER_CHARS: usize = 100;
/// The most pages beside each other.
const MOST_PAGES: u16 = 20;

/// Lets a sheet be printed: across, as wide as the page, with the sheet's name and the number of each page.
pub(super) fn printed(sheet: &mut Worksheet) {
    printed_over(sheet, 1);
}

/// The same for a table of the user's, with its header and its columns up to `last` on every page; `widths` are those of
/// its columns, in characters.
pub(super) fn printed_table(
    sheet: &mut Worksheet,
    header: u32,
    widths: impl Iterator<Item = f64>,
    last: u16,
) -> Result<(), XlsxError> {
    let wide = widths.sum::<f64>();
    printed_over(
        sheet,
        (1..MOST_PAGES).find(|pages| wide <= READABLE * f64::from(*pages)).unwrap_or(MOST_PAGES),
    );
    sheet.set_repeat_rows(header, header)?.set_repeat_columns(0, last)?;
    Ok(())
}

/// Has every printed page say whose records it shows, and marks the tab of a rehearsal.
pub(super) fn headed(sheet: &mut Worksheet, whose: &Whose) {
    // A sign of its own in headers.
    let words = cut(&whose.words(), HEADER_CHARS, |_| 1).replace('&', "&&");
    let mut header = format!("&R{words}");
    if let Some(banner) = whose.banner() {
        header = format!("&L&\"-,Bold\"{banner}{header}");
        sheet.set_tab_color(Color::RGB(0xFF_C0_00));
    }
    sheet.set_header(header);
}

fn printed_over(sheet: &mut Worksheet, pages: u16) {
    sheet
        .set_landscape()
        .set_print_fit_to_pages(pages, 0)
        .set_margins(0.4, 0.4, 0.5, 0.6, 0.3, 0.3)
        .set_footer("&L&F, &A&RPage &P of &N");
}

impl Styles {
    /// The formats.
    pub(super) fn new() -> Self {
        // Text format: what is typed over it later keeps its zeros and is no formula.
        let text = Format::new().set_num_format("@").set_align(FormatAlign::Top);
        let plain = Format::new().set_align(FormatAlign::Top);
        let header = Format::new()
            .set_bold()
            .set_num_format("@")
            .set_align(FormatAlign::Top)
            .set_border_bottom(FormatBorder::Thin);
        let red = |format: &Format| {
            format.clone().set_background_color(Color::RGB(0xFF_C7_CE)).set_font_color(Color::RGB(0x9C_00_06))
        };
        let marked = red(&text);
        let doubtful =
            text.clone().set_background_color(Color::RGB(0xFF_EB_9C)).set_font_color(Color::RGB(0x7F_60_00));
        let along = text
            .clone()
            .set_italic()
            .set_background_color(Color::RGB(0xED_ED_ED))
            .set_font_color(Color::RGB(0x59_59_59));
        Self {
            marked_header: red(&header),
            dates: DateFormats::of(&text),
            along_dates: DateFormats::of(&along),
            marked_dates: DateFormats::of(&marked),
            doubtful_dates: DateFormats::of(&doubtful),
            doubtful,
            link: plain.clone().set_font_color(Color::RGB(0x05_63_C1)).set_underline(FormatUnderline::Single),
            count: plain.clone().set_num_format("#,##0").set_align(FormatAlign::Left),
            number_header: header
                .clone()
                .set_background_color(Color::RGB(0xD9_E1_F2))
                .set_align(FormatAlign::Right),
            own_header: header.clone().set_background_color(Color::RGB(0xD9_E1_F2)),
            header: header.set_background_color(Color::RGB(0xF2_F2_F2)),
            marked,
            along,
            text,
            number: plain.clone().set_num_format("#,##0"),
            total: plain.clone().set_num_format("#,##0").set_bold().set_border_top(FormatBorder::Thin),
            label: plain.clone().set_bold(),
            title: plain.clone().set_bold().set_font_size(16),
            part: plain.clone().set_bold().set_font_size(12),
            statuses: JobState::ALL.iter().map(|&state| of_status(&plain, state)).collect(),
            sentence: plain.clone().set_text_wrap(),
            indented: plain.clone().set_indent(1),
            command: plain.clone().set_bold().set_num_format("@").set_indent(1),
            result: plain,
        }
    }

    /// The format of a cell of the input.
    pub(super) fn cell(&self, mark: Mark) -> &Format {
        match mark {
            Mark::None => &self.text,
            Mark::Along => &self.along,
            Mark::Doubtful => &self.doubtful,
            Mark::Wrong => &self.marked,
        }
    }

    /// The format of a cell of the input that holds a date or a time.
    pub(super) fn date_cell(&self, mark: Mark, value: &ExcelDateTime) -> &Format {
        let formats = match mark {
            Mark::None => &self.dates,
            Mark::Along => &self.along_dates,
            Mark::Doubtful => &self.doubtful_dates,
            Mark::Wrong => &self.marked_dates,
        };
        formats.for_value(value)
    }

    /// The format of a header of the input.
    pub(super) fn header_cell(&self, mark: Mark) -> &Format {
        match mark {
            Mark::None | Mark::Along => &self.header,
            Mark::Doubtful | Mark::Wrong => &self.marked_header,
        }
    }

    /// The format of a status.
    pub(super) fn status(&self, state: JobState) -> &Format {
        let position = JobState::ALL.iter().position(|&known| known == state).unwrap_or_default();
        &self.statuses[position]
    }
}

fn of_status(plain: &Format, state: JobState) -> Format {
    let (ground, ink) = match state {
        JobState::Created | JobState::Adopted | JobState::Done => (0xC6_EF_CE, 0x00_61_00),
        JobState::Existing => (0xE2_EF_DA, 0x37_56_23),
        JobState::Incomplete => (0xF8_CB_AD, 0x83_3C_0B),
        JobState::Rejected => (0xFF_C7_CE, 0x9C_00_06),
        JobState::Held | JobState::InDoubt => (0xFF_EB_9C, 0x7F_60_00),
        JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Sending => {
            (0xDD_EB_F7, 0x1F_4E_78)
        }
        JobState::Skipped | JobState::Cancelled => (0xD9_D9_D9, 0x40_40_40),
    };
    plain.clone().set_bold().set_background_color(Color::RGB(ground)).set_font_color(Color::RGB(ink))
}
