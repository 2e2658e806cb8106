//! Types that are given as text and are something else underneath: uuids, addresses, bits, positions in the log.

use std::net::{IpAddr, Ipv4Addr};

use super::put;
use super::refusal::Refusal;
use crate::db::rows::Value;

const MACADDR8: u32 = 774;
const IPV4: u8 = 2;
const IPV6: u8 = 3;

fn text(value: &Value) -> Result<&str, Refusal> {
    match value {
        Value::Text(text) => Ok(text.trim()),
        _ => Err(Refusal::Class),
    }
}

/// 32 hexadecimal digits, with or without braces and hyphens; or 16 bytes.
pub(super) fn uuid(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    if let Value::Blob(bytes) = value {
        if bytes.len() != 16 {
            return Err(Refusal::Range);
        }
        out.extend_from_slice(bytes);
        return Ok(());
    }
    let text = text(value)?;
    let bare = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .unwrap_or(text);
    let bytes = hex_digits(bare, &['-']).ok_or(Refusal::Text)?;
    if bytes.len() != 16 {
        return Err(Refusal::Text);
    }
    out.extend_from_slice(&bytes);
    Ok(())
}

/// Six or eight bytes in hexadecimal; six become eight as PostgreSQL does it.
pub(super) fn mac_address(value: &Value, oid: u32, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let bytes = hex_digits(text(value)?, &[':', '-', '.']).ok_or(Refusal::Text)?;
    match (bytes.len(), oid == MACADDR8) {
        (6, false) | (8, true) => out.extend_from_slice(&bytes),
        (6, true) => {
            out.extend_from_slice(&bytes[..3]);
            out.extend_from_slice(&[0xff, 0xfe]);
            out.extend_from_slice(&bytes[3..]);
        }
        _ => return Err(Refusal::Text),
    }
    Ok(())
}

/// Pairs of hexadecimal digits between separators.
fn hex_digits(text: &str, separators: &[char]) -> Option<Vec<u8>> {
    if text.starts_with(separators) || text.ends_with(separators) {
        return None;
    }
    let digits: Vec<u8> = text
        .chars()
        .filter(|character| !separators.contains(character))
        .map(|character| {
            character
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| {
        digits
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()
    })
}

/// `192.168.0.1`, `10.0.0.0/8`, `10/8` (networks only), `::1`.
pub(super) fn address(value: &Value, is_network: bool, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = text(value)?;
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => {
            let length: u8 = length.parse().map_err(|_| Refusal::Text)?;
            (address, Some(length))
        }
        None => (text, None),
    };
    let (address, classful) = match address.parse::<IpAddr>() {
        Ok(address) => (address, None),
        Err(_) if is_network => short_network(address).ok_or(Refusal::Text)?,
        Err(_) => return Err(Refusal::Text),
    };
    let (family, bytes) = match address {
        IpAddr::V4(address) => (IPV4, address.octets().to_vec()),
        IpAddr::V6(address) => (IPV6, address.octets().to_vec()),
    };
    let whole = if family == IPV4 { 32 } else { 128 };
    let bits = length.or(classful).unwrap_or(whole);
    if bits > whole {
        return Err(Refusal::Text);
    }
    out.extend_from_slice(&[
        family,
        bits,
        is_network.into(),
        if family == IPV4 { 4 } else { 16 },
    ]);
    out.extend_from_slice(&bytes);
    Ok(())
}

/// `10.1` is the network 10.1.0.0/16.
fn short_network(text: &str) -> Option<(IpAddr, Option<u8>)> {
    let parts: Vec<u8> = text
        .split('.')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    if parts.len() > 3 {
        return None;
    }
    let mut octets = [0; 4];
    octets[..parts.len()].copy_from_slice(&parts);
    // The old classes of networks, where they are longer than what is written.
    let class = match octets[0] {
        0..=127 => 8,
        128..=191 => 16,
        192..=223 => 24,
        224..=239 => 4,
        _ => 32,
    };
    let written = u8::try_from(parts.len() * 8).ok()?;
    Some((IpAddr::V4(Ipv4Addr::from(octets)), Some(written.max(class))))
}

/// `0101`, `B0101`, `X5`; a boolean is one bit.
pub(super) fn bits(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut digits = itoa::Buffer::new();
    let text = match value {
        Value::Bool(bool) => {
            if *bool {
                "1"
            } else {
                "0"
            }
        }
        Value::Integer(number) => digits.format(*number),
        other => text(other)?,
    };
    let bits: Vec<u8> = if let Some(hex) = text.strip_prefix(['x', 'X']) {
        hex.chars()
            .map(|digit| digit.to_digit(16))
            .collect::<Option<Vec<u32>>>()
            .ok_or(Refusal::Text)?
            .into_iter()
            .flat_map(|digit| (0..4).rev().map(move |bit| u8::from(digit >> bit & 1 == 1)))
            .collect()
    } else {
        text.strip_prefix(['b', 'B'])
            .unwrap_or(text)
            .bytes()
            .map(|byte| matches!(byte, b'0' | b'1').then(|| byte - b'0'))
            .collect::<Option<_>>()
            .ok_or(Refusal::Text)?
    };
    let count = i32::try_from(bits.len()).map_err(|_| Refusal::TooLarge)?;
    put(out, count.to_be_bytes());
    out.extend(bits.chunks(8).map(|chunk| {
        chunk
            .iter()
            .enumerate()
            .fold(0, |byte, (index, bit)| byte | bit << (7 - index))
    }));
    Ok(())
}

/// `16/B374D848`
pub(super) fn log_position(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (high, low) = text(value)?.split_once('/').ok_or(Refusal::Text)?;
    for part in [high, low] {
        put(
            out,
            u32::from_str_radix(part, 16)
                .map_err(|_| Refusal::Text)?
                .to_be_bytes(),
        );
    }
    Ok(())
}
