//! What a browser shows of a status without a page of its own: 404 above all. It owns that page and when it is wanted;
//! programs get the same as a line of text.

use http::HeaderMap;
use http::header::ACCEPT;

/// The style follows the device: its scheme, its width.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto 2rem;max-width:40rem;padding:0 1rem;\
                     overflow-wrap:anywhere}h1{font-size:1.5rem}\
                     p{font-family:monospace;white-space:pre-wrap}";

/// Whether the client is one that shows pages.
#[must_use]
pub fn is_wanted(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter();
    accepted.any(|value| {
        let text = value.as_bytes();
        text.windows(9).any(|part| part == b"text/html")
    })
}

/// The page that says `text`, such as `404 Not Found: /path`: what comes before the colon is its title.
#[must_use]
pub fn page(text: &str) -> String {
    let (title, detail) = text.split_once(": ").unwrap_or((text, ""));
    let (title, detail) = (escaped(title), escaped(detail));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{detail}</p>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn is_for_clients_that_name_html() {
        for (accept, wanted) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("*/*", false),
            ("application/json", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(is_wanted(&headers), wanted, "{accept}");
        }
        assert!(!is_wanted(&HeaderMap::new()));
    }

    #[test]
    fn escapes_what_the_client_sent() {
        let page = page("404 Not Found: /<script>\"'&");
        assert!(page.contains("<title>404 Not Found</title>"));
        assert!(page.contains("<p>/&lt;script&gt;&quot;&#39;&amp;</p>"));
    }
}
