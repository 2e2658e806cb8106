//! Numbers and booleans.

use super::refusal::Refusal;
use crate::db::rows::Value;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITE: u16 = 0xD000;
const NEGATIVE_INFINITE: u16 = 0xF000;

/// PostgreSQL keeps so many digits before and after the point.
const DIGITS_BEFORE: i64 = 131_072;
const DIGITS_AFTER: usize = 16_383;

pub(super) fn boolean(value: &Value) -> Result<bool, Refusal> {
    match value {
        Value::Bool(bool) => Ok(*bool),
        Value::Integer(0) => Ok(false),
        Value::Integer(1) => Ok(true),
        Value::Integer(_) | Value::Unsigned(_) => Err(Refusal::Range),
        Value::Text(text) => named_boolean(text.trim()).ok_or(Refusal::Text),
        _ => Err(Refusal::Class),
    }
}

/// Every beginning of a word that is not a beginning of the other one, as PostgreSQL has it.
fn named_boolean(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str| !text.is_empty() && word.starts_with(&text);
    match text.as_str() {
        "1" | "on" => Some(true),
        "0" | "of" | "off" => Some(false),
        _ if begins("true") || begins("yes") => Some(true),
        _ if begins("false") || begins("no") => Some(false),
        _ => None,
    }
}

/// A whole number of any width.
pub(super) fn integer<T: TryFrom<i128>>(value: &Value) -> Result<T, Refusal> {
    let number = match value {
        Value::Integer(number) => i128::from(*number),
        Value::Unsigned(number) => i128::from(*number),
        Value::Bool(bool) => i128::from(*bool),
        Value::Float(number) => whole(*number)?,
        Value::Decimal(digits) => whole_decimal(digits)?,
        Value::Text(text) => whole_text(text.trim())?,
        _ => return Err(Refusal::Class),
    };
    T::try_from(number).map_err(|_| Refusal::Range)
}

fn whole(number: f64) -> Result<i128, Refusal> {
    if !number.is_finite() || number.abs() > 1e30 {
        Err(Refusal::Range)
    } else if number.fract() != 0.0 {
        Err(Refusal::Fraction)
    } else {
        // In range by the check above.
        Ok(number as i128)
    }
}

fn whole_decimal(digits: &str) -> Result<i128, Refusal> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if fraction.bytes().any(|digit| digit != b'0') {
        return Err(Refusal::Fraction);
    }
    whole_text(whole)
}

fn whole_text(text: &str) -> Result<i128, Refusal> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::Text);
    }
    text.parse().map_err(|_| Refusal::Range)
}

pub(super) fn double(value: &Value) -> Result<f64, Refusal> {
    match value {
        Value::Float(number) => Ok(*number),
        // Rounded to the nearest, as the server does it.
        Value::Integer(number) => Ok(*number as f64),
        Value::Unsigned(number) => Ok(*number as f64),
        Value::Decimal(text) | Value::Text(text) => finite_or_named(text.trim(), f64::is_infinite),
        _ => Err(Refusal::Class),
    }
}

pub(super) fn single(value: &Value) -> Result<f32, Refusal> {
    match value {
        Value::Decimal(text) | Value::Text(text) => finite_or_named(text.trim(), f32::is_infinite),
        other => {
            let number = double(other)?;
            // Too large becomes infinite, which is then noticed.
            let narrow = number as f32;
            if narrow.is_infinite() && number.is_finite() {
                return Err(Refusal::Range);
            }
            Ok(narrow)
        }
    }
}

fn finite_or_named<T: std::str::FromStr + Copy>(
    text: &str,
    is_infinite: fn(T) -> bool,
) -> Result<T, Refusal> {
    let number = text.parse().map_err(|_| Refusal::Text)?;
    let is_named = !text.bytes().any(|byte| byte.is_ascii_digit());
    if is_infinite(number) && !is_named {
        return Err(Refusal::Range);
    }
    Ok(number)
}

/// Money as a count of cents.
pub(super) fn cents(value: &Value) -> Result<i64, Refusal> {
    let mut buffer = zmij::Buffer::new();
    let plain = match value {
        Value::Integer(number) => return number.checked_mul(100).ok_or(Refusal::Range),
        Value::Float(number) if number.is_finite() => buffer.format_finite(*number),
        Value::Decimal(text) | Value::Text(text) => text.trim(),
        _ => return Err(Refusal::Class),
    };
    let plain = plain.replace(['$', ','], "");
    let decimal = Digits::parse(&plain)?;
    let cents = decimal.rounded(2).ok_or(Refusal::Range)?;
    i64::try_from(cents).map_err(|_| Refusal::Range)
}

pub(super) fn numeric(value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match value {
        Value::Integer(number) => Digits::parse(itoa::Buffer::new().format(*number))?.write(out),
        Value::Unsigned(number) => Digits::parse(itoa::Buffer::new().format(*number))?.write(out),
        Value::Float(number) if number.is_nan() => special(out, NAN),
        Value::Float(number) if number.is_infinite() => special(out, infinity(*number < 0.0)),
        Value::Float(number) => {
            Digits::parse(zmij::Buffer::new().format_finite(*number))?.write(out)
        }
        Value::Decimal(text) | Value::Text(text) => numeric_text(text.trim(), out),
        _ => Err(Refusal::Class),
    }
}

fn numeric_text(text: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is = |name: &str| unsigned.eq_ignore_ascii_case(name);
    if text.eq_ignore_ascii_case("nan") {
        special(out, NAN)
    } else if is("inf") || is("infinity") {
        special(out, infinity(text.starts_with('-')))
    } else {
        Digits::parse(text)?.write(out)
    }
}

fn infinity(is_negative: bool) -> u16 {
    if is_negative {
        NEGATIVE_INFINITE
    } else {
        INFINITE
    }
}

fn special(out: &mut Vec<u8>, sign: u16) -> Result<(), Refusal> {
    for part in [0, 0, sign, 0] {
        out.extend_from_slice(&part.to_be_bytes());
    }
    Ok(())
}

/// A decimal taken apart: its digits without a point, and how many of them stand before it.
struct Digits {
    is_negative: bool,
    digits: Vec<u8>,
    /// How many digits stand before the point; negative if zeros are missing after it.
    before: i64,
}

impl Digits {
    /// `-12.50`, `.5`, `1.`, `1e-7`.
    fn parse(text: &str) -> Result<Self, Refusal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (
                mantissa,
                exponent.parse::<i32>().map_err(|_| Refusal::Text)?,
            ),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits: Vec<u8> = [whole, fraction].concat().into_bytes();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(Refusal::Text);
        }
        let before = i64::try_from(whole.len()).map_err(|_| Refusal::Range)? + i64::from(exponent);
        Ok(Self {
            is_negative: mantissa.starts_with('-'),
            digits,
            before,
        })
    }

    /// How many digits stand after the point.
    fn scale(&self) -> usize {
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        usize::try_from(length.saturating_sub(self.before)).unwrap_or(0)
    }

    /// The digit so many places before the point (0 stands directly before it, -1 after it).
    fn at(&self, place: i64) -> u8 {
        let index = usize::try_from(self.before - 1 - place).ok();
        index
            .and_then(|index| self.digits.get(index))
            .map_or(0, |digit| digit - b'0')
    }

    /// The number times ten to the power of `places`, rounded half away from zero.
    fn rounded(&self, places: i64) -> Option<i128> {
        if self.before > 30 {
            return None;
        }
        let mut number: i128 = 0;
        for place in (-places..self.before.max(0)).rev() {
            number = number * 10 + i128::from(self.at(place));
        }
        if self.at(-places - 1) >= 5 {
            number += 1;
        }
        Some(if self.is_negative { -number } else { number })
    }

    /// Groups of four digits, without the zeros at both ends.
    fn write(&self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let scale = self.scale();
        if self.before > DIGITS_BEFORE || scale > DIGITS_AFTER {
            return Err(Refusal::Range);
        }
        let mut weight = (self.before - 1).div_euclid(4);
        let after = i64::try_from(scale.div_ceil(4)).unwrap_or(0);
        let group = |position: i64| {
            (0..4).rev().fold(0_u16, |group, place| {
                group * 10 + u16::from(self.at(position * 4 + place))
            })
        };
        let mut groups: Vec<u16> = (-after..=weight).rev().map(group).collect();
        let leading = groups.iter().take_while(|&&group| group == 0).count();
        groups.drain(..leading);
        weight -= i64::try_from(leading).unwrap_or(0);
        while groups.last() == Some(&0) {
            groups.pop();
        }
        if groups.is_empty() {
            weight = 0;
        }
        let short = |number: i64| i16::try_from(number).map_err(|_| Refusal::Range);
        let count = i64::try_from(groups.len()).map_err(|_| Refusal::Range)?;
        out.extend_from_slice(&short(count)?.to_be_bytes());
        out.extend_from_slice(&short(weight)?.to_be_bytes());
        let sign = if self.is_negative && count > 0 {
            NEGATIVE
        } else {
            0
        };
        out.extend_from_slice(&sign.to_be_bytes());
        out.extend_from_slice(&short(i64::try_from(scale).unwrap_or(i64::MAX))?.to_be_bytes());
        for group in groups {
            out.extend_from_slice(&group.to_be_bytes());
        }
        Ok(())
    }
}
