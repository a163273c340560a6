//! What the fuzzer and the generated tests begin with: for every door a few inputs that are right, or nearly, made of
//! the committed samples and templates and of a busy journal. Generated, so that they are always of today's form.

use std::fs;
use std::path::Path;

use crate::doors;

/// Data rows of a sample that are taken: more would be the same again.
const ROWS: usize = 6;

/// Seeds by the name of their door; `root` is the folder with `samples/` and `templates/`.
pub(crate) fn seeds(root: &Path) -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let tables = tables(root);
    vec![
        ("csv", tables.clone()),
        ("import", tables),
        ("xlsx_archive", archives(root)),
        ("xlsx_parts", vec![WORKBOOK.as_bytes().to_vec()]),
        ("answers", answers()),
        ("profile", profiles(root)),
        ("journal_file", vec![doors::journal::busy().to_vec()]),
        ("journal_bytes", vec![vec![0, 16, 0, 2, 0xff, 0xff], vec![0x90, 1, 7, 4, 1, 2, 3, 4]]),
        ("journal_values", values()),
        ("spill", spills()),
        ("scenario", SCENARIOS.iter().map(|text| text.as_bytes().to_vec()).collect()),
        ("requests", REQUESTS.iter().map(|text| text.as_bytes().to_vec()).collect()),
    ]
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn tables(root: &Path) -> Vec<Vec<u8>> {
    let mut tables = Vec::new();
    for (choice, name) in [(b'c', "companies"), (b's', "sites"), (b'p', "people"), (b'd', "devices")] {
        for file in [format!("samples/onboarding/{name}.csv"), format!("templates/{name}.csv")] {
            let content = read(&root.join(file));
            let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').take(ROWS + 1).collect();
            tables.push([&[choice][..], &lines.concat()].concat());
        }
    }
    let refused = read(&root.join("samples/service-refuses.csv"));
    tables.push([b"k", &refused[..]].concat());
    tables.push([b";", String::from_utf8_lossy(&refused).replace(',', ";").as_bytes()].concat());
    tables.push(b"wusername;first_name\r\nan\xe9;\"a \"\" b\"\r\n".to_vec());
    tables
}

fn archives(root: &Path) -> Vec<Vec<u8>> {
    vec![
        read(&root.join("samples/mistakes.xlsx")),
        read(&root.join("templates/fleetload-template.xlsx")),
        b"PK\x03\x04".to_vec(),
    ]
}

fn profiles(root: &Path) -> Vec<Vec<u8>> {
    vec![
        read(&root.join("fleetload.example.toml")),
        b"[profile.acme]\nbase_url = 'https://p.example'\nclient_id = 'me'\nclient_secret_command = 'true'\n\
          [profile.acme.limits]\nrate = 98.5\nconcurrency = 256\ndaily_quota = 100_000\nreserve = 0\n\
          [profile.acme.policy]\nin_doubt = 'hold'\nsettle_seconds = 600\nrequest_timeout_seconds = 120\n\
          [profile.acme.endpoints.listPeople]\nmethod = 'GET'\npath = '/people/{companyId}'\n"
            .to_vec(),
    ]
}

fn answers() -> Vec<Vec<u8>> {
    let bodies = [
        r#"{"status":"OK","error":null,"body":{"id":"6f2b6f0a-0000-4000-8000-000000000001","name":"Acme","companyId":"00000000-0000-0000-0000-000000000008","username":"a@b.example","identification":"001a2b3c4d5e"}}"#,
        r#"{"status":"OK","error":null,"body":[{"id":"6f2b6f0a-0000-4000-8000-000000000001","name":"Acme"}]}"#,
        r#"{"status":"OK","body":[]}"#,
        r#"{"status":"OK","body":null}"#,
        r#"{"status":"FAILED","error":{"errorCode":"invalidData","message":"Invalid","errorDetails":{"violations":[{"path":"device.name","message":"must not be null"}]}},"body":null}"#,
        r#"{"status":"FAILED","error":{"errorCode":"duplicateEntity","message":"In use"}}"#,
        r#"{"status":"FAILED","error":{"errorCode":"noDataFound","message":"None"}}"#,
        r#"{"status":"FAILED","error":{"errorCode":"internalServerError","message":"None"}}"#,
        r#"{"errorCode":"generalError","message":"None"}"#,
        r#"{"error":"invalid_token"}"#,
        r#"{"error":"invalid_client"}"#,
        r#"{"error":{"errorCode":"unauthorizedSource"}}"#,
        r#"{"errorCode":"rateLimitExceeded","message":"Slow down"}"#,
        r#"{"errorCode":"quotaLimitExceeded"}"#,
        "<!DOCTYPE html><html></html>",
        "",
    ];
    let mut answers = Vec::new();
    for (operation, status, body) in [1_u8, 2, 17, 26, 33]
        .into_iter()
        .flat_map(|operation| [0, 9, 11, 17, 18].map(|status| (operation, status)))
        .zip(bodies.iter().cycle())
        .map(|((operation, status), body)| (operation, status, body))
    {
        answers.push([&[operation, status, 0x1f, 9, 0][..], body.as_bytes()].concat());
    }
    // Every body once with the status that it belongs to.
    for (body, status) in bodies.iter().zip([0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 17, 17, 11, 11]) {
        answers.push([&[1, status, 0, 40, 0][..], body.as_bytes()].concat());
    }
    answers
}

fn values() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for column in (0..90_u8).step_by(3) {
        seeds.push(vec![column, 1, 4, 255, 255, 255, 255, 255, 255, 255, 127]);
        seeds.push([&[column, 2, 6, 4][..], b"held", &[column, 3, 1, 2]].concat());
    }
    seeds
}

fn spills() -> Vec<Vec<u8>> {
    let all = doors::journal::spilled();
    let mut spills: Vec<Vec<u8>> = all.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    spills.push(all);
    spills
}

const SCENARIOS: [&str; 3] = [
    "seed = 7\nrate = 50\ndaily_quota = 1000\ntoken_seconds = 60\nclock_offset_seconds = -3600\n\
     clock_starts_at = \"2026-03-01T23:59:50Z\"\nlatency_ms = [1, 20]\nlookup_lag_ms = 5\npage_limit = 2\n",
    "models = [\"Edge 100\"]\nrevoked_clients = [\"x\"]\nanswered_expires_in = -1\nbare_errors = true\n\
     [[client]]\nid = \"onboarding\"\nsecret = \"secret\"\n[[company]]\nid = \"6f1c2a3e-0000-4000-8000-0000000000aa\"\n\
     name = \"A\"\n",
    "[[fault]]\nkind = \"answer_cut\"\noperation = \"addCompany\"\nat = 20\n[[fault]]\nkind = \"latency\"\nms = 10\n\
     probability = 0.5\n[[fault]]\nkind = \"redirect_302\"\noperation = \"creations\"\n",
];

const REQUESTS: [&str; 4] = [
    "\0@@@ POST /device-api/config/v1/addCompany\n{\"parentCompanyId\":\"6f1c2a3e-0000-4000-8000-000000000001\",\"companyType\":\"CUSTOMER\",\"name\":\"A\",\"address\":{\"address1\":\"1 Quay\"},\"phoneNumber\":\"1\",\"supportEmail\":\"a@x.example\",\"salesEmail\":\"b@x.example\",\"accountsEmail\":\"c@x.example\"}\n@@@ GET /device-api/config/v1/findCompaniesByName?companyName=A%20b+c\n\n@@@ GET /device-api/config/v1/listCompanies\n",
    "\0@@@ POST /device-api/config/v1/addDevice\n{\"companyId\":\"6f1c2a3e-0000-4000-8000-000000000001\",\"name\":\"T\",\"address\":{\"address1\":\"3 Quay\"},\"phoneNumber\":\"3\",\"deviceModel\":\"Edge 200\",\"identification\":\"00:1a:2b:3c:4d:5e\",\"customSiteName\":\"S\"}\n@@@ GET /device-api/config/v1/findDevicesByName?name=T&companyId=6f1c2a3e-0000-4000-8000-000000000001\n",
    "\0@@@ POST /device-api/config/v1/addPerson\n{\"companyId\":\"6f1c2a3e-0000-4000-8000-000000000001\",\"userType\":\"VPN User\",\"templateScope\":\"COMPANY_INHERIT\",\"firstName\":\"A\",\"lastName\":\"L\",\"username\":\"a@x.example\",\"email\":\"a@x.example\",\"allowLogin\":true,\"address\":{\"city\":\"Perth\"}}\n@@@ POST /device-api/config/v1/addSite\n{\"companyId\":\"6f1c2a3e-0000-4000-8000-000000000001\",\"name\":\"S\",\"latitude\":-31.9,\"address\":{},\"phoneNumber\":\"2\"}\n",
    "\u{1}@@@ POST /sandbox/clock\n{\"advance_seconds\": 60}\n@@@ POST /sandbox/scenario\nrate = 1\n@@@ GET /sandbox/statistics\n\n@@@ POST /device-api/auth/v1/auth\nclient_id=a&client_secret=b\n",
];

/// A workbook with one sheet of everything that cells can be.
const WORKBOOK: &str = r#"@@@ [Content_Types].xml
<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>
@@@ _rels/.rels
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>
@@@ xl/workbook.xml
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><workbookPr date1904="0"/><sheets><sheet name="Devices" sheetId="1" r:id="rId1"/><sheet name="Notes" sheetId="2" state="hidden" r:id="rId2"/></sheets><definedNames><definedName name="x">Devices!$A$1</definedName></definedNames></workbook>
@@@ xl/_rels/workbook.xml.rels
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId4" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>
@@@ xl/sharedStrings.xml
<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="6" uniqueCount="6"><si><t>company</t></si><si><t>name</t></si><si><t>mac</t></si><si><t xml:space="preserve"> phone </t></si><si><r><t>add</t></r><r><t>ress1</t></r></si><si><t>a_x000D_b &amp; c</t></si></sst>
@@@ xl/styles.xml
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm"/><numFmt numFmtId="165" formatCode="00000000"/></numFmts><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="46"/></cellXfs></styleSheet>
@@@ xl/worksheets/sheet1.xml
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:F5"/><cols><col min="2" max="2" hidden="1"/></cols><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c><c r="E1" t="s"><v>4</v></c><c r="F1" t="inlineStr"><is><t>city</t></is></c></row><row r="2" hidden="1"><c r="A2" t="inlineStr"><is><t>6f1c2a3e-0000-4000-8000-000000000001</t></is></c><c r="B2" t="s"><v>5</v></c><c r="C2"><v>1.2E+11</v></c><c r="D2" s="2"><v>95550100</v></c><c r="E2" s="1"><v>45000.5</v></c><c r="F2" t="b"><v>1</v></c></row><row r="3"><c r="A3"><f>A2</f><v></v></c><c r="B3" t="str"><f>"x"</f><v>x</v></c><c r="C3" t="e"><v>#REF!</v></c><c r="D3" s="3"><v>1.5</v></c><c r="E3" t="d"><v>2026-03-01T00:00:00</v></c></row><row r="5"><c r="A5" t="s"><v>5</v></c></row></sheetData><mergeCells count="1"><mergeCell ref="A2:B3"/></mergeCells><autoFilter ref="A1:F5"/></worksheet>
@@@ xl/worksheets/sheet2.xml
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>
"#;
