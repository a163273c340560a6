//! The sheets of a month: companies, sites, people and devices of one region, and what each of their records is known by.

use std::fmt::Write as _;

use crate::bench::{Bench, root};

/// What a record is known by: its kind, and its name, or the username of a person. No two rows of a month have the same.
pub(crate) type Identity = (&'static str, String);

/// The sheets of one import.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    /// Its label.
    pub(crate) label: &'static str,
    pub(crate) companies: usize,
    pub(crate) sites: usize,
    pub(crate) people: usize,
    pub(crate) devices: usize,
    /// Devices of a model that the service does not know.
    pub(crate) wrong: usize,
}

/// The model of the devices that the service rejects, and the one that was meant.
pub(crate) const WRONG_MODEL: &str = "Edge 9000";
pub(crate) const RIGHT_MODEL: &str = "Edge 100";

const ADDRESS: &str = "12 Queen Street,Auckland,NZ";

impl Region {
    /// A region with so many rows, as they come: one company in a hundred rows, nine sites, ten people, the rest devices.
    pub(crate) fn of(label: &'static str, rows: usize, wrong: usize) -> Self {
        let (companies, sites, people) = (rows / 100, rows * 9 / 100, rows / 10);
        Self { label, companies, sites, people, devices: rows - companies - sites - people, wrong }
    }

    /// The letter that makes its keys, names and addresses its own.
    fn letter(&self) -> char {
        self.label.chars().next().expect("a label").to_ascii_lowercase()
    }

    /// Names of one length, so that none begins with another one and a look-up finds one record.
    fn name(&self, what: &str, n: usize) -> String {
        format!("{} {what} {n:06}", self.label)
    }

    fn username(&self, n: usize) -> String {
        format!("{}{n:06}@bench.example", self.letter())
    }

    fn is_wrong(&self, device: usize) -> bool {
        self.wrong > 0 && {
            let apart = self.devices / self.wrong;
            device % apart == apart / 2 && device / apart < self.wrong
        }
    }

    /// What every row is to make.
    pub(crate) fn identities(&self) -> impl Iterator<Item = Identity> + '_ {
        let companies = (0..self.companies).map(|n| ("company", self.name("customer", n)));
        let sites = (0..self.sites).map(|n| ("site", self.name("branch", n)));
        let people = (0..self.people).map(|n| ("person", self.username(n)));
        let devices = (0..self.devices).map(|n| ("device", self.name("till", n)));
        companies.chain(sites).chain(people).chain(devices)
    }

    /// Writes the sheets; gives their names as they are typed after `import`.
    pub(crate) fn write(&self, bench: &Bench) -> [String; 4] {
        let sheets = [
            ("companies", self.company_sheet()),
            ("sites", self.site_sheet()),
            ("people", self.people_sheet()),
            ("devices", self.device_sheet()),
        ];
        sheets.map(|(kind, text)| {
            let name = format!("{}-{kind}.csv", self.label);
            bench.write(&name, &text);
            name
        })
    }

    fn company_sheet(&self) -> String {
        let (letter, root) = (self.letter(), root());
        let mut sheet =
            "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country\n"
                .to_owned();
        for n in 0..self.companies {
            let name = self.name("customer", n);
            let mail = format!("{letter}{n}.example");
            writeln!(
                sheet,
                "{letter}C{n},{root},CUSTOMER,{name},+64 9 555 0100,help@{mail},sales@{mail},pay@{mail},{ADDRESS}"
            )
            .expect("a text");
        }
        sheet
    }

    fn site_sheet(&self) -> String {
        let letter = self.letter();
        let mut sheet = "key,company,name,reference,phone,address1,city,country\n".to_owned();
        for n in 0..self.sites {
            let (company, name) = (n % self.companies, self.name("branch", n));
            writeln!(sheet, "{letter}S{n},{letter}C{company},{name},{letter}-{n},+64 9 556 0100,{ADDRESS}")
                .expect("a text");
        }
        sheet
    }

    fn people_sheet(&self) -> String {
        let letter = self.letter();
        let mut sheet = "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n"
            .to_owned();
        for n in 0..self.people {
            let (company, user) = (n % self.companies, self.username(n));
            writeln!(
                sheet,
                "{letter}C{company},Reports Client,COMPANY_INHERIT,Ann,Number{n},{user},{user},yes,{ADDRESS}"
            )
            .expect("a text");
        }
        sheet
    }

    /// Every fifth device is in a site, every fifth has labels, every fiftieth no MAC address.
    fn device_sheet(&self) -> String {
        let letter = self.letter();
        let mut sheet = "company,site,name,device_model,mac,phone,labels,address1,city,country\n".to_owned();
        for n in 0..self.devices {
            let (site, company) = match n % 5 {
                0 => (format!("{letter}S{}", n / 5 % self.sites), n / 5 % self.sites % self.companies),
                _ => (String::new(), n % self.companies),
            };
            let labels = if n % 5 == 1 { "retail; north" } else { "" };
            let mac = match n % 50 {
                49 => String::new(),
                _ => format!(
                    "02:{:02x}:00:{:02x}:{:02x}:{:02x}",
                    u32::from(letter),
                    n >> 16,
                    (n >> 8) & 255,
                    n & 255
                ),
            };
            let (name, model) =
                (self.name("till", n), if self.is_wrong(n) { WRONG_MODEL } else { RIGHT_MODEL });
            writeln!(
                sheet,
                "{letter}C{company},{site},{name},{model},{mac},+64 9 557 0100,{labels},{ADDRESS}"
            )
            .expect("a text");
        }
        sheet
    }
}
