//! Reading of URLs (WCF-61 to WCF-66, CE-10).

use billhook_apimachinery::net::Url;

fn shown(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) => {
            let user = url.user.as_deref().unwrap_or("-");
            format!("{}|{user}|{}|{}|{}", url.scheme, url.host, url.query, url.fragment)
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn parts_and_errors_of_urls() {
    for (text, expected) in [
        ("", "|-|||"),
        ("HTTPS://Host:9443/a/b", "https|-|Host:9443||"),
        ("https:///fancy", "https|-|||"),
        ("https://user:p%20w@h/", "https|user:p%20w|h||"),
        ("https://@h", "https||h||"),
        ("https://h/p?x=1?y#f%41#", "https|-|h|x=1?y|fA#"),
        ("https://h/?#", "https|-|h||"),
        ("https://[::1]:443/", "https|-|[::1]:443||"),
        ("https://[fe80::1%25en0]/", "https|-|[fe80::1%en0]||"),
        ("https://h:/p", "https|-|h:||"),
        ("https://h:99999/p", "https|-|h:99999||"),
        ("https://é/", "https|-|é||"),
        ("https:opaque", "https|-|||"),
        ("//h/p", "|-|h||"),
        ("///h/p", "|-|||"),
        ("h/p", "|-|||"),
        ("h:8080", "h|-|||"),
        ("1https://h", r#"parse "1https://h": first path segment in URL cannot contain colon"#),
        ("://h", r#"parse "://h": missing protocol scheme"#),
        ("1.2.3.4:80", r#"parse "1.2.3.4:80": first path segment in URL cannot contain colon"#),
        ("https://h:port/", r#"parse "https://h:port/": invalid port ":port" after host"#),
        ("https://[::1/", r#"parse "https://[::1/": missing ']' in host"#),
        ("https://[::1]x/", r#"parse "https://[::1]x/": invalid port "x" after host"#),
        ("https://a b/", r#"parse "https://a b/": invalid character " " in host name"#),
        ("https://h%41/", r#"parse "https://h%41/": invalid URL escape "%41""#),
        ("https://h/%zz", r#"parse "https://h/%zz": invalid URL escape "%zz""#),
        ("https://h/#%z", r#"parse "https://h/#%z": invalid URL escape "%z""#),
        ("https://u<@h/", r#"parse "https://u<@h/": net/url: invalid userinfo"#),
        ("https://h/\n", r#"parse "https://h/\n": net/url: invalid control character in URL"#),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}
