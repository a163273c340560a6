//! Requests as bytes: enough of HTTP/1.1 to be met by any client. Reading them here, rather than with a framework,
//! is what lets an answer be cut at any byte, its head included.
//!
//! Pure: bytes in, a request or a reason out. Sockets are in `server`.

use crate::sandbox::exchange::Request;

/// More than any client's head; what is longer is not a request.
const MOST_HEAD: usize = 64 * 1024;
/// More than any body of the specification.
pub(crate) const MOST_BODY: usize = 1024 * 1024;

/// What the bytes so far amount to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Not a whole request yet. With `expects` the client waits for `100 Continue` before it sends the body.
    More { expects: bool },
    /// A request, the number of bytes that it took, and whether the connection stays open after it.
    Whole { request: Request, taken: usize, keep: bool },
    /// No request that can be answered: a status and the reason. The connection cannot go on.
    Bad(u16, &'static str),
}

/// Reads one request from the start of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Reading {
    let Some(end) = find(bytes, b"\r\n\r\n") else {
        return if bytes.len() > MOST_HEAD {
            Reading::Bad(400, "The head of the request is too long")
        } else {
            Reading::More { expects: false }
        };
    };
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
        return Reading::Bad(400, "The head of the request is not text");
    };
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or("").split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (first.next(), first.next(), first.next(), first.next())
    else {
        return Reading::Bad(400, "The request line is not one of HTTP/1.1");
    };
    if !version.starts_with("HTTP/1.") {
        return Reading::Bad(400, "The request line is not one of HTTP/1.1");
    }
    let mut request =
        Request { method: method.to_owned(), target: path_of(target).to_owned(), ..Request::default() };
    let mut keep = version != "HTTP/1.0";
    let mut length = 0_usize;
    let mut chunked = false;
    let mut expects = false;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Reading::Bad(400, "A header line has no colon");
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("authorization") {
            request.authorization = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("content-type") {
            request.content_type = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("accept") {
            request.accept = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("content-length") {
            match value.parse() {
                Ok(number) => length = number,
                Err(_) => return Reading::Bad(400, "Content-Length is not a number"),
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.eq_ignore_ascii_case("chunked");
        } else if name.eq_ignore_ascii_case("connection") {
            keep = keep && !value.eq_ignore_ascii_case("close");
        } else if name.eq_ignore_ascii_case("expect") {
            expects = value.eq_ignore_ascii_case("100-continue");
        }
    }
    let rest = &bytes[end + 4..];
    let body = if chunked {
        dechunked(rest)
    } else if length > MOST_BODY {
        Body::Bad("The body is larger than 1 MiB")
    } else if rest.len() < length {
        Body::More
    } else {
        Body::Whole(rest[..length].to_vec(), length)
    };
    match body {
        Body::More => Reading::More { expects: expects && rest.is_empty() },
        Body::Bad(why) => Reading::Bad(413, why),
        Body::Whole(body, taken) => {
            request.body = body;
            Reading::Whole { request, taken: end + 4 + taken, keep }
        }
    }
}

/// A client that speaks to a proxy sends the whole address; only the path counts.
fn path_of(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://") else {
        return target;
    };
    if target.starts_with('/') {
        return target;
    }
    rest.find('/').map_or("/", |start| &rest[start..])
}

enum Body {
    More,
    Whole(Vec<u8>, usize),
    Bad(&'static str),
}

fn dechunked(bytes: &[u8]) -> Body {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let Some(line) = find(&bytes[at..], b"\r\n") else {
            return if bytes.len() - at > 64 { Body::Bad("A chunk has no size") } else { Body::More };
        };
        let size = std::str::from_utf8(&bytes[at..at + line])
            .ok()
            .and_then(|text| text.split(';').next())
            .and_then(|text| usize::from_str_radix(text.trim(), 16).ok());
        let Some(size) = size else {
            return Body::Bad("A chunk has no size");
        };
        if size > MOST_BODY || body.len() + size > MOST_BODY {
            return Body::Bad("The body is larger than 1 MiB");
        }
        let start = at + line + 2;
        let Some(chunk) = bytes.get(start..start + size + 2) else {
            return Body::More;
        };
        body.extend_from_slice(&chunk[..size]);
        at = start + size + 2;
        if size == 0 {
            return Body::Whole(body, at);
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &str = "POST /a?b=c HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n\
        AUTHORIZATION: Bearer t\r\nAccept: */*\r\nContent-Length: 4\r\n\r\n{\"\"}GET";

    #[test]
    fn a_request_is_whole_only_with_its_last_byte() {
        let whole = POST.len() - "GET".len();
        for end in 0..whole {
            assert!(matches!(read(&POST.as_bytes()[..end]), Reading::More { .. }), "{end}");
        }
        let Reading::Whole { request, taken, keep } = read(POST.as_bytes()) else {
            panic!("whole expected");
        };
        assert_eq!((taken, keep), (whole, true));
        assert_eq!(request.target, "/a?b=c");
        assert_eq!(request.authorization.as_deref(), Some("Bearer t"));
        assert_eq!(request.content_type.as_deref(), Some("application/json"));
        assert_eq!(request.body, b"{\"\"}");
    }

    #[test]
    fn chunks_are_put_together() {
        let text =
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        for end in 0..text.len() {
            assert!(matches!(read(&text.as_bytes()[..end]), Reading::More { .. }));
        }
        let Reading::Whole { request, taken, .. } = read(text.as_bytes()) else {
            panic!("whole expected");
        };
        assert_eq!((request.body.as_slice(), taken), (&b"abcde"[..], text.len()));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, status) in [
            ("nonsense\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/2.0\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n".to_owned(), 413),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(), 413),
            (format!("GET /{} HTTP/1.1", "a".repeat(70_000)), 400),
        ] {
            assert!(matches!(read(text.as_bytes()), Reading::Bad(seen, _) if seen == status));
        }
    }

    #[test]
    fn the_end_of_a_connection_is_asked_for_by_header_or_by_version() {
        for (text, stays) in [
            ("GET / HTTP/1.1\r\n\r\n", true),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", false),
        ] {
            assert!(matches!(read(text.as_bytes()), Reading::Whole { keep, .. } if keep == stays));
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(512))]

        /// Whatever comes is a request, none, or the beginning of one; and what was taken of it was there.
        #[test]
        fn no_bytes_break_the_reading_of_a_request(
            line in "(GET|POST|[A-Z]{0,9}) [ -~]{0,30} HTTP/1\\.[01]|\\PC{0,40}",
            headers in proptest::collection::vec(
                "(Content-Length|Transfer-Encoding|Connection|Expect|[A-Za-z-]{0,9}): ?([0-9]{1,20}|chunked|close|100-continue|\\PC{0,9})",
                0..4,
            ),
            body in "([0-9a-fA-F]{1,17}(;[a-z]{0,3})?\r\n|[a-z]{0,20}\r\n|\\PC{0,20}){0,4}",
            cut in 0_usize..400,
        ) {
            let text = format!("{line}\r\n{}\r\n{body}", headers.iter().map(|h| format!("{h}\r\n")).collect::<String>());
            let whole = text.as_bytes();
            for bytes in [whole, &whole[..cut.min(whole.len())]] {
                if let Reading::Whole { request, taken, .. } = read(bytes) {
                    proptest::prop_assert!(taken <= bytes.len() && request.body.len() <= taken);
                }
            }
        }
    }
}
