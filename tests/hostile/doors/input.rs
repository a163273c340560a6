//! Bytes as a source of choices: a few from the front, the rest as it is. Past the end everything is zero, so that
//! every input means something and a cut one means nearly the same.

/// What is left of an input.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    pub(super) fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number of eight bytes.
    pub(super) fn long(&mut self) -> i64 {
        let mut bytes = [0; 8];
        let taken = self.take(8);
        bytes[..taken.len()].copy_from_slice(taken);
        i64::from_le_bytes(bytes)
    }

    /// As many bytes as there are, at most `most`.
    pub(super) fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// The parts of an input that is several files in one: each begins with a line `@@@ NAME`.
pub(super) fn parts(data: &[u8]) -> Vec<(String, &[u8])> {
    const MARK: &[u8] = b"\n@@@ ";
    let data = data.strip_prefix(&MARK[1..]).unwrap_or(data);
    let mut parts = Vec::new();
    let mut rest = data;
    loop {
        let end = rest.windows(MARK.len()).position(|window| window == MARK);
        let part = &rest[..end.unwrap_or(rest.len())];
        let line = part.iter().position(|&byte| byte == b'\n').unwrap_or(part.len());
        let name = String::from_utf8_lossy(&part[..line]).into_owned();
        parts.push((name, part.get(line + 1..).unwrap_or_default()));
        let Some(end) = end else { return parts };
        rest = &rest[end + MARK.len()..];
    }
}
