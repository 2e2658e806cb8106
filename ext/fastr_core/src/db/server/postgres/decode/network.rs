//! Types that are shown as text: uuids, addresses, bits, positions in the log.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Malformed;
use super::reader::Reader;

const HEX: &[u8; 16] = b"0123456789abcdef";
const IPV4: u8 = 2;
const IPV6: u8 = 3;

fn hex(out: &mut Vec<u8>, byte: u8) {
    out.push(HEX[usize::from(byte >> 4)]);
    out.push(HEX[usize::from(byte & 15)]);
}

/// One byte; beyond ASCII as a backslash and three octal digits, as PostgreSQL shows it, and nothing for 0.
pub(super) fn char(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    match reader.byte()? {
        0 => {}
        byte @ 1..=127 => out.push(byte),
        byte => out.extend_from_slice(&[
            b'\\',
            b'0' + (byte >> 6),
            b'0' + (byte >> 3 & 7),
            b'0' + (byte & 7),
        ]),
    }
    Ok(())
}

pub(super) fn uuid(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    for (index, &byte) in reader.take(16)?.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        hex(out, byte);
    }
    Ok(())
}

/// Six or eight bytes.
pub(super) fn mac_address(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let bytes = reader.rest();
    if !matches!(bytes.len(), 6 | 8) {
        return Err(Malformed::Bytes);
    }
    for (index, &byte) in bytes.iter().enumerate() {
        if index > 0 {
            out.push(b':');
        }
        hex(out, byte);
    }
    Ok(())
}

/// `192.168.0.1`, `10.0.0.0/8`, `::1`; a network always shows its length, a host only if it is part of a network.
pub(super) fn address(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let family = reader.byte()?;
    let bits = reader.byte()?;
    let is_network = reader.byte()? != 0;
    let length = usize::from(reader.byte()?);
    let bytes = reader.take(length)?;
    let (text, whole) = match family {
        IPV4 => {
            let bytes: [u8; 4] = bytes.try_into().map_err(|_| Malformed::Bytes)?;
            (Ipv4Addr::from(bytes).to_string(), 32)
        }
        IPV6 => {
            let bytes: [u8; 16] = bytes.try_into().map_err(|_| Malformed::Bytes)?;
            (ipv6(Ipv6Addr::from(bytes)), 128)
        }
        _ => return Err(Malformed::Bytes),
    };
    if bits > whole {
        return Err(Malformed::Bytes);
    }
    out.extend_from_slice(text.as_bytes());
    if is_network || bits != whole {
        out.push(b'/');
        out.extend_from_slice(itoa::Buffer::new().format(bits).as_bytes());
    }
    Ok(())
}

/// PostgreSQL shows an IPv4 address inside of IPv6 with points also where Rust does not.
fn ipv6(address: Ipv6Addr) -> String {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => {
            let [.., a, b, c, d] = address.octets();
            format!("::{}", Ipv4Addr::new(a, b, c, d))
        }
        _ => address.to_string(),
    }
}

pub(super) fn bits(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let count = usize::try_from(reader.i32()?).map_err(|_| Malformed::Bytes)?;
    let bytes = reader.take(count.div_ceil(8))?;
    out.extend((0..count).map(|bit| b'0' + (bytes[bit / 8] >> (7 - bit % 8) & 1)));
    Ok(())
}

/// `16/B374D848`
pub(super) fn log_position(out: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let (high, low) = (reader.u32()?, reader.u32()?);
    out.extend_from_slice(format!("{high:X}/{low:X}").as_bytes());
    Ok(())
}
