//! Texts of all rows, one behind the other in chunks: what is kept is not copied when more comes, and never in memory twice.

/// Bytes of a chunk. A text that does not fit into what is left of one begins the next, which is as large as it needs.
const CHUNK: usize = 1 << 20;

/// Where a text is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextSpan {
    /// The number of its chunk times the bytes of a chunk, and its place in that.
    start: u32,
    length: u32,
}

/// Texts that are kept.
#[derive(Debug, Default)]
pub(super) struct KeptText {
    chunks: Vec<String>,
}

impl KeptText {
    /// Keeps a text. Of texts beyond four gigabytes, more than any limit on files allows, nothing is kept.
    pub(super) fn keep(&mut self, text: &str) -> TextSpan {
        let has_room = |chunk: &&mut String| chunk.len() + text.len() <= CHUNK;
        if self.chunks.last_mut().filter(has_room).is_none() {
            self.chunks.push(String::with_capacity(CHUNK.max(text.len())));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        match (u32::try_from(number * CHUNK + chunk.len()), u32::try_from(text.len())) {
            (Ok(start), Ok(length)) => {
                chunk.push_str(text);
                TextSpan { start, length }
            }
            _ => TextSpan::default(),
        }
    }

    /// The text; `None` when it is empty.
    pub(super) fn get(&self, span: TextSpan) -> Option<&str> {
        let (start, length) = (span.start as usize, span.length as usize);
        (length > 0).then(|| &self.chunks[start / CHUNK][start % CHUNK..start % CHUNK + length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_whatever_their_length_and_chunk() {
        let lengths = [0, 1, CHUNK - 2, 1, 1, CHUNK, CHUNK + 1, 3, 3 * CHUNK + 7, 5, CHUNK / 2, CHUNK / 2, 1];
        let texts: Vec<String> = lengths
            .iter()
            .zip("abcdefghijklm".chars())
            .map(|(&length, letter)| String::from_iter(std::iter::repeat_n(letter, length)))
            .collect();
        let mut kept = KeptText::default();
        let spans: Vec<TextSpan> = texts.iter().map(|text| kept.keep(text)).collect();
        for (text, span) in texts.iter().zip(spans) {
            assert!(kept.get(span).unwrap_or_default() == text, "a text of {} bytes", text.len());
        }
        let chunks: Vec<usize> = kept.chunks.iter().map(String::len).collect();
        let expected = [CHUNK, 1, CHUNK, CHUNK + 1, 3, 3 * CHUNK + 7, 5 + CHUNK / 2, CHUNK / 2 + 1];
        assert_eq!(chunks, expected, "a chunk is filled as far as whole texts fit");
    }
}
