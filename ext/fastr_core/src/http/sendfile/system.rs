//! The system calls, and what stands in for them where they are missing: an error that says so, and the caller reads.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;

/// How far apart the places are that are asked whether they are in memory: less than what is read ahead at once.
#[cfg(target_os = "linux")]
const STRIDE: usize = 64 << 10;

/// Sends a part of a file to a socket. The file's position stays.
#[cfg(target_os = "linux")]
pub(super) fn send_file(
    socket: impl AsFd,
    file: &File,
    start: u64,
    length: usize,
) -> io::Result<usize> {
    let mut offset = start;
    let sent = rustix::io::retry_on_intr(|| {
        rustix::fs::sendfile(&socket, file, Some(&mut offset), length)
    });
    Ok(sent?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn send_file(_: impl AsFd, _: &File, _: u64, _: usize) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether the failure says that this file cannot be sent, rather than that sending failed.
pub(super) fn is_unsendable(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let reasons = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP];
    let code = error.raw_os_error();
    error.kind() == io::ErrorKind::Unsupported
        || reasons
            .iter()
            .any(|reason| code == Some(reason.raw_os_error()))
}

/// Whether this part of a file is in memory, as far as a look at it every [`STRIDE`] bytes can tell. Not every file
/// system can say so (those in memory and overlays cannot).
#[cfg(target_os = "linux")]
pub(super) fn is_in_memory(file: &File, start: u64, length: usize) -> bool {
    use rustix::io::{ReadWriteFlags, preadv2};
    let looked_at = (0..length).step_by(STRIDE).chain(length.checked_sub(1));
    looked_at.into_iter().all(|place| {
        let mut byte = [0];
        let mut buffers = [io::IoSliceMut::new(&mut byte)];
        preadv2(
            file,
            &mut buffers,
            start + place as u64,
            ReadWriteFlags::NOWAIT,
        )
        .is_ok()
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_in_memory(_: &File, _: u64, _: usize) -> bool {
    false
}

/// Writes what precedes a file, so that it shares a packet with the file's first bytes.
#[cfg(target_os = "linux")]
pub(crate) fn send_before_file(socket: impl AsFd, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
    let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
    let sent = rustix::io::retry_on_intr(|| {
        sendmsg(&socket, slices, &mut SendAncillaryBuffer::default(), flags)
    });
    Ok(sent?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn send_before_file(socket: impl AsFd, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    Ok(rustix::io::writev(socket, slices)?)
}
