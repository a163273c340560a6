//! A layer between SQLite and the disk that writes down what a disk would be asked: files made and removed, writes,
//! truncations, syncs, in their order, with marks of the test between them.
//!
//! It stands over the system's own layer as the default of the process, so that the journal is opened as it always
//! is. Nothing is really synced, neither in a recorded folder nor elsewhere: what a sync makes durable is told by
//! the model in `disk`. The shared-memory index is memory, is gone after a power cut, and is not recorded.

#![expect(unsafe_code, reason = "SQLite calls this layer through C pointers")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};

use rusqlite::ffi;

use crate::disk::{Event, FileId};

/// What is recorded of one folder.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    /// The files that are there now.
    names: BTreeMap<String, FileId>,
    files: usize,
    /// The connection that was opened last, as a number.
    newest: usize,
}

struct Recorder {
    folder: PathBuf,
    log: Mutex<Log>,
}

impl Recorder {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folders being recorded.
static RECORDERS: Mutex<Vec<Arc<Recorder>>> = Mutex::new(Vec::new());

fn recorders() -> MutexGuard<'static, Vec<Arc<Recorder>>> {
    RECORDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recorder of the folder that a file lies in, and the file's name there.
fn recorder_of(path: *const c_char) -> Option<(Arc<Recorder>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: SQLite hands over names that end with a zero byte and live for the whole call.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    let path = Path::new(OsStr::from_bytes(bytes));
    let recorder = recorders().iter().find(|recorder| path.parent() == Some(&recorder.folder)).cloned()?;
    Some((recorder, path.file_name()?.to_str()?.to_owned()))
}

/// A folder being recorded, until this is ended or dropped.
pub(crate) struct Recording(Arc<Recorder>);

impl Recording {
    /// Begins to record a folder. The files that are there are numbered by the order of their names.
    pub(crate) fn of(folder: &Path) -> Self {
        install();
        let folder = folder.canonicalize().expect("a folder");
        let mut log = Log::default();
        for entry in folder.read_dir().expect("a folder") {
            log.names.insert(entry.expect("a file").file_name().into_string().expect("a name"), FileId(0));
        }
        log.files = log.names.len();
        log.names.values_mut().zip(0..).for_each(|(file, number)| *file = FileId(number));
        let recorder = Arc::new(Recorder { folder, log: Mutex::new(log) });
        recorders().push(Arc::clone(&recorder));
        Self(recorder)
    }

    /// Notes that the test has come to a point of its own.
    pub(crate) fn mark(&self, number: usize) {
        self.0.log().events.push(Event::Mark(number));
    }

    /// Makes the connection that was opened last in this folder keep few pages in memory, copy the write-ahead log
    /// back often and cut it off, so that a short script meets what otherwise takes a million rows. It must still
    /// be open.
    pub(crate) fn squeeze(&self, cached_pages: u32, log_pages: u32, log_bytes: u32) {
        let connection = self.0.log().newest as *mut ffi::sqlite3;
        let sql = format!(
            "PRAGMA cache_size = {cached_pages}; PRAGMA wal_autocheckpoint = {log_pages};
             PRAGMA journal_size_limit = {log_bytes}"
        );
        let sql = CString::new(sql).expect("no zero byte");
        // SAFETY: the caller holds the connection open and uses it on this thread only; the text ends with a zero byte.
        let code =
            unsafe { ffi::sqlite3_exec(connection, sql.as_ptr(), None, ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(code, ffi::SQLITE_OK, "the connection could not be squeezed");
    }

    /// Ends the recording and gives it; what happens in the folder afterwards is not in it.
    pub(crate) fn end(self) -> Vec<Event> {
        std::mem::take(&mut self.0.log().events)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        recorders().retain(|recorder| !Arc::ptr_eq(recorder, &self.0));
    }
}

/// The layer below, found before ours was put over it.
struct Below(*mut ffi::sqlite3_vfs);

// SAFETY: the object is never changed after its registration at the start of the process, and its functions may be
// called from any thread.
unsafe impl Send for Below {}
// SAFETY: as above.
unsafe impl Sync for Below {}

static BELOW: OnceLock<Below> = OnceLock::new();

fn below() -> *mut ffi::sqlite3_vfs {
    BELOW.get().expect("the layer was installed").0
}

/// Puts the layer over the system's, once in a process.
fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: called once, before any connection of this process is opened through the layer. The object that is
        // registered is leaked, as SQLite keeps it for ever. It is a copy of the one below, private data included,
        // so that every function not replaced here works on it as on its own.
        unsafe {
            let below = ffi::sqlite3_vfs_find(ptr::null());
            assert!(!below.is_null(), "SQLite has a layer for this system");
            BELOW.set(Below(below)).unwrap_or_else(|_| unreachable!("set once"));
            let mut ours = *below;
            ours.szOsFile += c_int::try_from(size_of::<File>()).expect("a small size");
            ours.pNext = ptr::null_mut();
            ours.zName = c"power-cut".as_ptr();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1), ffi::SQLITE_OK);
            assert_eq!(ffi::sqlite3_auto_extension(Some(opened)), ffi::SQLITE_OK);
        }
    });
}

/// Notes every connection to a recorded folder.
unsafe extern "C" fn opened(
    connection: *mut ffi::sqlite3,
    _message: *mut *mut c_char,
    _api: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: SQLite calls this with a connection whose main database is open.
    let name = unsafe { ffi::sqlite3_db_filename(connection, c"main".as_ptr()) };
    if let Some((recorder, _)) = recorder_of(name) {
        recorder.log().newest = connection as usize;
    }
    ffi::SQLITE_OK
}

/// An open file of ours; the file of the layer below lies right behind it.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    /// A `Tracked` in a box, or null.
    tracked: *mut Tracked,
}

struct Tracked {
    recorder: Arc<Recorder>,
    file: FileId,
    /// Whether the next sync of the file also syncs its folder, as the system's layer does for new logs.
    folder_too: bool,
}

/// The file of the layer below.
///
/// # Safety
/// `file` must be a file of ours.
unsafe fn inner(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: SQLite allocated `szOsFile` bytes, which is our part and that of the layer below.
    unsafe { file.cast::<File>().add(1).cast() }
}

/// What is recorded of a file.
///
/// # Safety
/// `file` must be an open file of ours, used by one thread at a time.
unsafe fn tracked<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a mut Tracked> {
    // SAFETY: set by `open` to null or to a box that lives until `close`.
    unsafe { (*file.cast::<File>()).tracked.as_mut() }
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are SQLite's own and are handed on; the memory behind `file` is ours to fill.
    unsafe {
        let below = below();
        let inner = inner(file);
        let ours = file.cast::<File>();
        (*ours).base.pMethods = ptr::null();
        (*ours).tracked = ptr::null_mut();
        let code = (*below).xOpen.expect("every layer opens")(below, name, inner, flags, flags_out);
        if code != ffi::SQLITE_OK {
            if !(*inner).pMethods.is_null() {
                (*(*inner).pMethods).xClose.expect("every file closes")(inner);
            }
            return code;
        }
        (*ours).base.pMethods = &METHODS;
        if let Some((recorder, name)) = recorder_of(name) {
            let logs = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
            let folder_too = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & logs != 0;
            let file = {
                let mut log = recorder.log();
                match log.names.get(&name) {
                    Some(&file) => file,
                    None => {
                        let file = FileId(log.files);
                        log.files += 1;
                        log.names.insert(name.clone(), file);
                        log.events.push(Event::Made { name, file });
                        file
                    }
                }
            };
            (*ours).tracked = Box::into_raw(Box::new(Tracked { recorder, file, folder_too }));
        }
        code
    }
}

unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: the arguments are SQLite's own and are handed on.
    let code = unsafe {
        let below = below();
        (*below).xDelete.expect("every layer deletes")(below, name, 0)
    };
    if code == ffi::SQLITE_OK
        && let Some((recorder, name)) = recorder_of(name)
    {
        let mut log = recorder.log();
        log.names.remove(&name);
        log.events.push(Event::Removed { name });
        if sync_folder != 0 {
            log.events.push(Event::FolderSynced);
        }
    }
    code
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file that `open` opened, once; the box is not used afterwards.
    unsafe {
        let ours = file.cast::<File>();
        let tracked = std::mem::replace(&mut (*ours).tracked, ptr::null_mut());
        if !tracked.is_null() {
            drop(Box::from_raw(tracked));
        }
        let inner = inner(file);
        (*(*inner).pMethods).xClose.expect("every file closes")(inner)
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: the file is open and the bytes are as many as SQLite says.
    unsafe {
        let inner = inner(file);
        let code = (*(*inner).pMethods).xWrite.expect("every file is written")(inner, bytes, count, offset);
        if code == ffi::SQLITE_OK
            && let Some(tracked) = tracked(file)
        {
            let count = usize::try_from(count).expect("a count");
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count).into();
            let offset = usize::try_from(offset).expect("an offset");
            tracked.recorder.log().events.push(Event::Written { file: tracked.file, offset, bytes });
        }
        code
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: the file is open.
    unsafe {
        let inner = inner(file);
        let code = (*(*inner).pMethods).xTruncate.expect("every file is truncated")(inner, size);
        if code == ffi::SQLITE_OK
            && let Some(tracked) = tracked(file)
        {
            let size = usize::try_from(size).expect("a size");
            tracked.recorder.log().events.push(Event::Truncated { file: tracked.file, size });
        }
        code
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: the file is open.
    if let Some(tracked) = unsafe { tracked(file) } {
        let mut log = tracked.recorder.log();
        log.events.push(Event::Synced(tracked.file));
        if std::mem::take(&mut tracked.folder_too) {
            log.events.push(Event::FolderSynced);
        }
    }
    ffi::SQLITE_OK
}

/// Declares functions that only hand a call on to the layer below.
macro_rules! hand_on {
    ($($name:ident as $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $argument: $type)*) -> $result {
            // SAFETY: the file is open and the arguments are SQLite's own.
            unsafe {
                let inner = inner(file);
                (*(*inner).pMethods).$method.expect("the system's layer has it")(inner $(, $argument)*)
            }
        }
    )+};
}

hand_on! {
    read as xRead(into: *mut c_void, count: c_int, offset: ffi::sqlite3_int64) -> c_int;
    file_size as xFileSize(size: *mut ffi::sqlite3_int64) -> c_int;
    lock as xLock(level: c_int) -> c_int;
    unlock as xUnlock(level: c_int) -> c_int;
    check_reserved_lock as xCheckReservedLock(answer: *mut c_int) -> c_int;
    file_control as xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size as xSectorSize() -> c_int;
    device_characteristics as xDeviceCharacteristics() -> c_int;
    shm_map as xShmMap(page: c_int, size: c_int, extend: c_int, at: *mut *mut c_void) -> c_int;
    shm_lock as xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int;
    shm_barrier as xShmBarrier() -> ();
    shm_unmap as xShmUnmap(delete: c_int) -> c_int;
}

/// Version 2: shared memory, but no mapped files, which would be written past this layer.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
