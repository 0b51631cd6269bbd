//! The libraries of quantities, versions, addresses, URLs and formats (CE-10).

use proptest::prelude::*;

use crate::evaluate::{check, cost, evaluate};

const NOT_A_QUANTITY: &str = "error: quantities must match the regular expression \
    '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// CE-10: quantities.
#[test]
fn quantities() {
    check(&[
        ("isQuantity('1.3Gi')", "true"),
        ("isQuantity('1.3G')", "true"),
        ("isQuantity('-1e3')", "true"),
        ("isQuantity('1,3G')", "false"),
        ("isQuantity('10000k')", "true"),
        ("isQuantity('200K')", "false"),
        ("isQuantity('Three')", "false"),
        ("isQuantity('')", "false"),
        ("quantity('abc')", NOT_A_QUANTITY),
        ("quantity('1 Gi')", NOT_A_QUANTITY),
        ("quantity('1KK')", "error: unable to parse quantity's suffix"),
        ("quantity('1e')", "error: unable to parse quantity's suffix"),
        ("quantity('1Gi') == quantity('1024Mi')", "true"),
        ("quantity('1.5') == quantity('1500m')", "true"),
        ("quantity('1e3') == quantity('1k')", "true"),
        ("quantity('0.5Ki') == quantity('512')", "true"),
        ("sign(quantity('-1'))", "-1"),
        ("sign(quantity('0'))", "0"),
        ("sign(quantity('9999999999999999999999G'))", "1"),
        ("quantity('50k').isInteger()", "true"),
        ("quantity('1500m').isInteger()", "false"),
        ("quantity('1000m').isInteger()", "false"),
        ("quantity('5000000G').isInteger()", "true"),
        ("quantity('50k').asInteger()", "50000"),
        ("quantity('1m').asInteger()", "error: cannot convert value to integer"),
        (
            "quantity('9999999999999999999999999999999999999G').asInteger()",
            "error: cannot convert value to integer",
        ),
        ("quantity('50.703k').asApproximateFloat()", "50703.0"),
        ("quantity('1m').asApproximateFloat()", "0.001"),
        ("quantity('1.5Ki').asApproximateFloat()", "1536.0"),
        ("quantity('50k').add(quantity('20')) == quantity('50020')", "true"),
        ("quantity('50k').add(20) == quantity('50020')", "true"),
        ("quantity('50k').sub(quantity('20')) == quantity('49980')", "true"),
        ("quantity('1').sub(quantity('1500m')) == quantity('-0.5')", "true"),
        ("quantity('1').sub(2).asInteger()", "-1"),
        ("quantity('9223372036854775807').add(1) == quantity('9223372036854775808')", "true"),
        ("quantity('200M').compareTo(quantity('0.2G'))", "0"),
        ("quantity('50M').compareTo(quantity('50Mi'))", "-1"),
        ("quantity('50Mi').compareTo(quantity('50M'))", "1"),
        ("quantity('150Mi').isGreaterThan(quantity('100Mi'))", "true"),
        ("quantity('50M').isLessThan(quantity('100M'))", "true"),
        ("quantity('1e2147483647').isGreaterThan(quantity('1'))", "true"),
        // What is less than nano is rounded up, away from zero.
        ("quantity('0.1n') == quantity('1n')", "true"),
        ("quantity('-0.1n') == quantity('-1n')", "true"),
        // Binary quantities end at 64 bits.
        ("quantity('100Ei') == quantity('9223372036854775807')", "true"),
    ]);
}

/// CE-10: semantic versions, strict or made regular first.
#[test]
fn versions() {
    check(&[
        ("isSemver('1.2.3-alpha.1+build.5')", "true"),
        ("isSemver('1.2')", "false"),
        ("isSemver('v1.2', true)", "true"),
        ("isSemver('v1.2', false)", "false"),
        ("isSemver('01.02', true)", "true"),
        ("isSemver('1.2-a', true)", "false"),
        ("semver('')", "error: Version string empty"),
        ("semver('1.2')", "error: No Major.Minor.Patch elements found"),
        ("semver('a.2.3')", "error: Invalid character(s) found in major number \"a\""),
        ("semver('1.02.3')", "error: Minor number must not contain leading zeroes \"02\""),
        ("semver('1.2.3-')", "error: Prerelease is empty"),
        ("semver('1.2.3-ä')", "error: Invalid character(s) found in prerelease \"ä\""),
        (
            "semver('1.2.3-01')",
            "error: Numeric PreRelease version must not contain leading zeroes \"01\"",
        ),
        ("semver('1.2.3+')", "error: Build meta data is empty"),
        ("semver('1.2-a', true)", "error: short version cannot contain PreRelease/Build meta data"),
        ("semver('v01.02.03', true) == semver('1.2.3')", "true"),
        ("semver('v1', true) == semver('1.0.0')", "true"),
        ("semver('1.2.3').major()", "1"),
        ("semver('1.2.3').minor()", "2"),
        ("semver('1.2.3').patch()", "3"),
        ("semver('1.2.3').compareTo(semver('1.10.0'))", "-1"),
        ("semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1'))", "true"),
        ("semver('1.0.0-2').isLessThan(semver('1.0.0-10'))", "true"),
        ("semver('1.0.0-10').isLessThan(semver('1.0.0-a'))", "true"),
        ("semver('1.0.0-a').isLessThan(semver('1.0.0-a.0'))", "true"),
        ("semver('1.0.0+a') == semver('1.0.0+b')", "true"),
    ]);
}

/// CE-10: IP addresses.
#[test]
fn addresses() {
    let bad = |text: &str, problem: &str| {
        format!(
            "error: IP Address \"{text}\" parse error during conversion from string: \
            ParseAddr(\"{text}\"): {problem}"
        )
    };
    for (text, problem) in [
        ("", "unable to parse IP"),
        ("abc", "unable to parse IP"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("1.2.3.04", "IPv4 field has octet with leading zero"),
        ("1.2.3.256", "IPv4 field has value >255"),
        ("1..2.3", "IPv4 field must have at least one digit (at \".2.3\")"),
        ("1.2.3.x", "unexpected character (at \"x\")"),
        ("::12345", "each group must have 4 or less digits (at \"12345\")"),
        ("1::2::3", "multiple :: in address (at \":3\")"),
        ("1:2", "address string too short"),
        ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
        ("1:", "colon must be followed by more characters (at \":\")"),
        ("::1%", "zone must be a non-empty string"),
    ] {
        assert_eq!(evaluate(&format!("ip('{text}')")), bad(text, problem), "{text}");
    }
    check(&[
        ("isIP('127.0.0.1')", "true"),
        ("isIP('::1')", "true"),
        ("isIP('127.0.0.256')", "false"),
        ("isIP('::ffff:1.2.3.4')", "false"),
        (
            "ip('::ffff:1.2.3.4')",
            "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed",
        ),
        ("ip('fe80::1%eth0')", "error: IP address \"fe80::1%eth0\" with zone value is not allowed"),
        ("string(ip('2001:DB8:0:0:1:0:0:1'))", "2001:db8::1:0:0:1"),
        ("string(ip('1:2:3:4:5:6:1.2.3.4'))", "1:2:3:4:5:6:102:304"),
        ("ip.isCanonical('2001:db8::1')", "true"),
        ("ip.isCanonical('2001:DB8::1')", "false"),
        ("ip('127.0.0.1') == ip('127.0.0.1')", "true"),
        ("ip('1.2.3.4').family()", "4"),
        ("ip('::1').family()", "6"),
        ("ip('0.0.0.0').isUnspecified()", "true"),
        ("ip('127.9.9.9').isLoopback()", "true"),
        ("ip('224.0.0.1').isLinkLocalMulticast()", "true"),
        ("ip('224.0.1.1').isLinkLocalMulticast()", "false"),
        ("ip('ff02::1').isLinkLocalMulticast()", "true"),
        ("ip('169.254.1.1').isLinkLocalUnicast()", "true"),
        ("ip('fe80::1').isLinkLocalUnicast()", "true"),
        ("ip('10.0.0.1').isGlobalUnicast()", "true"),
        ("ip('255.255.255.255').isGlobalUnicast()", "false"),
        ("ip('::').isGlobalUnicast()", "false"),
        ("type(ip('::1')) == net.IP", "true"),
    ]);
}

/// CE-10: CIDR blocks.
#[test]
fn blocks() {
    check(&[
        ("isCIDR('192.168.0.0/24')", "true"),
        ("isCIDR('192.168.0.0')", "false"),
        ("isCIDR('192.168.0.0/024')", "false"),
        ("isCIDR('192.168.0.0/33')", "false"),
        ("isCIDR('::/128')", "true"),
        (
            "cidr('1.2.3.4')",
            "error: network address parse error during conversion from string: \
                netip.ParsePrefix(\"1.2.3.4\"): no '/'",
        ),
        (
            "cidr('1.2.3.4/33')",
            "error: network address parse error during conversion from string: \
                netip.ParsePrefix(\"1.2.3.4/33\"): prefix length out of range",
        ),
        (
            "cidr('1.2.3.4/a')",
            "error: network address parse error during conversion from string: \
                netip.ParsePrefix(\"1.2.3.4/a\"): bad bits after slash: \"a\"",
        ),
        ("cidr('192.168.0.0/24').containsIP('192.168.0.9')", "true"),
        ("cidr('192.168.0.0/24').containsIP(ip('192.168.1.1'))", "false"),
        ("cidr('0.0.0.0/0').containsIP('::1')", "false"),
        ("cidr('2001:db8::/32').containsIP('2001:db8:1::1')", "true"),
        ("cidr('192.168.0.0/24').containsCIDR('192.168.0.128/25')", "true"),
        ("cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/23'))", "false"),
        ("cidr('10.0.0.1/8').ip() == ip('10.0.0.1')", "true"),
        ("string(cidr('10.0.0.1/8').masked())", "10.0.0.0/8"),
        ("string(cidr('ff::1/0').masked())", "::/0"),
        ("cidr('10.0.0.1/8') == cidr('10.0.0.0/8')", "false"),
        ("cidr('::/64').prefixLength()", "64"),
        ("cidr('10.0.0.0/8').containsIP('x')", "error: no such overload"),
        ("cidr('10.0.0.0/8').containsIP('::ffff:1.2.3.4')", "error: no such overload"),
        (
            "cidr('10.0.0.0/8').containsCIDR('x')",
            "error: network address parse error during conversion from string: network address \
                parse error during conversion from string: netip.ParsePrefix(\"x\"): no '/'",
        ),
    ]);
}

/// CE-10: URLs.
#[test]
fn urls() {
    let bad = |text: &str, problem: &str| {
        format!("error: URL parse error during conversion from string: parse \"{text}\": {problem}")
    };
    for (text, problem) in [
        ("::bad", "missing protocol scheme"),
        ("abc", "invalid URI for request"),
        ("http://a b/", "invalid character \" \" in host name"),
        ("http://a/%zz", "invalid URL escape \"%zz\""),
        ("http://a/%2", "invalid URL escape \"%2\""),
        ("http://a:x/", "invalid port \":x\" after host"),
        ("http://[::1/", "missing ']' in host"),
        ("http://a@b@c^@d/", "net/url: invalid userinfo"),
    ] {
        assert_eq!(evaluate(&format!("url('{text}')")), bad(text, problem), "{text}");
    }
    check(&[
        ("url('')", "error: URL parse error during conversion from string: parse \"\": empty url"),
        ("isURL('https://a:80/')", "true"),
        ("isURL('../relative')", "false"),
        ("isURL('/absolute')", "true"),
        ("url('HTTPS://example.com:80/').getScheme()", "https"),
        ("url('/path').getScheme()", ""),
        ("url('https://user@example.com:80/').getHost()", "example.com:80"),
        ("url('https://[::1]:80/').getHost()", "[::1]:80"),
        ("url('https://[::1]:80/').getHostname()", "::1"),
        ("url('https://[::1]:80/').getPort()", "80"),
        ("url('https://example.com').getPort()", ""),
        ("url('https://example.com').getEscapedPath()", ""),
        ("url('https://example.com/a b%20c').getEscapedPath()", "/a%20b%20c"),
        ("url('https://example.com/a%2Fb').getEscapedPath()", "/a%2Fb"),
        ("url('https://example.com/ä#f').getEscapedPath()", "/%C3%A4"),
        ("url('https://a/?k=1&l=x+y%21&k=2&e').getQuery()", "{k: [1, 2], l: [x y!], e: []}"),
        ("url('https://a/?').getQuery()", "{}"),
        ("url('https://a/?a;b=1&c=2').getQuery()", "{c: [2]}"),
        ("url('https://a/b') == url('https://a/b')", "true"),
        ("url('HTTPS://a/b') == url('https://a/b')", "true"),
        ("url('https://a/b') == url('https://a/c')", "false"),
    ]);
}

/// CE-10: named formats.
#[test]
fn formats() {
    check(&[
        ("format.named('dns1123Label').value() == format.dns1123Label()", "true"),
        ("format.named('nope')", "none"),
        ("format.dns1123Label().validate('my-label')", "none"),
        (
            "format.dns1123Label().validate('A')",
            "some [a lowercase RFC 1123 label must consist of lower case alphanumeric characters \
                or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  \
                or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')]",
        ),
        ("format.dns1123Label().validate('a-').hasValue()", "true"),
        ("format.dns1123LabelPrefix().validate('a-').hasValue()", "false"),
        ("format.dns1123SubdomainPrefix().validate('a.b-').hasValue()", "false"),
        ("format.dns1035LabelPrefix().validate('a-').hasValue()", "false"),
        ("format.dns1035Label().validate('1a').hasValue()", "true"),
        ("format.qualifiedName().validate('example.com/Name')", "none"),
        ("format.labelValue().validate('a b').hasValue()", "true"),
        ("format.uri().validate('http://example.com')", "none"),
        ("format.uri().validate('abc')", "some [parse \"abc\": invalid URI for request]"),
        ("format.uuid().validate('x')", "some [does not match the UUID format]"),
        ("format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')", "none"),
        ("format.byte().validate('aGVsbG8=')", "none"),
        ("format.byte().validate('a')", "some [invalid base64]"),
        ("format.date().validate('2023-02-29')", "some [invalid date]"),
        ("format.datetime().validate('2024-02-29T00:00:00Z')", "none"),
    ]);
}

/// CE-35: what the functions cost.
#[test]
fn costs() {
    for (expression, expected) in [
        ("quantity('01234567890')", 2),
        ("isSemver('01234567890')", 2),
        ("semver('1.2.3').major()", 2),
        ("isURL('https://example.com/')", 1),
        ("url('https://example.com/').getHost()", 3),
        ("ip.isCanonical('10.0.0.1')", 2),
        ("cidr('10.0.0.0/8').containsIP('10.0.0.1')", 3),
        ("cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))", 3),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", 6),
        ("cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))", 6),
        ("cidr('2001:db8::/64').containsIP('2001:db8::1')", 6),
        ("quantity('1') == quantity('1')", 3),
        ("format.named('uri')", 1),
        ("format.dns1123Label().validate('abc')", 9),
        ("format.uuid().validate('0123456789')", 1 + 2 * 18),
        ("format.date().validate('😀x')", 1 + 18),
        ("format.date().validate('v1.0.0-rc.1+b')", 1 + 2 * 18),
        ("format.uri().validate('18446744073709551615')", 1 + 3 * 276),
        ("'v1.0.0-rc.1+b'.split('').join() == 'x'", 7),
    ] {
        assert_eq!(cost(expression), expected, "{expression}");
    }
}

proptest! {
    /// No text makes a function panic, and what is valid can be read.
    #[test]
    fn any_text(text in r#"[0-9a-fA-FkKMGi.:/%+\-@\[\]?&=#eEv xé\x00*]{0,24}"#) {
        let quoted = serde_json::Value::from(text.as_str()).to_string();
        for (is, read) in [
            ("isQuantity", "quantity"),
            ("isSemver", "semver"),
            ("isIP", "ip"),
            ("isCIDR", "cidr"),
            ("isURL", "url"),
        ] {
            let is_valid = evaluate(&format!("{is}({quoted})"));
            let is_read = !evaluate(&format!("{read}({quoted})")).starts_with("error");
            prop_assert_eq!(is_valid, is_read.to_string());
        }
        for format in ["uri", "datetime", "qualifiedName", "dns1123LabelPrefix"] {
            evaluate(&format!("format.{format}().validate({quoted})"));
        }
        evaluate(&format!("{quoted}.format(dyn([1, 'a', 1.5]))"));
        evaluate(&format!("semver({quoted}, true)"));
    }

    /// Comparing quantities agrees with comparing the numbers they are.
    #[test]
    fn quantities_compare_as_numbers(a in -99_999_i64..99_999, b in -99_999_i64..99_999) {
        for (left, right) in [(format!("{a}m"), format!("{}.{:03}", b / 1000, (b % 1000).abs()))] {
            if b < 0 && b > -1000 {
                continue;
            }
            let order = evaluate(&format!("quantity('{left}').compareTo(quantity('{right}'))"));
            prop_assert_eq!(order, (a.cmp(&b) as i64).to_string());
            let sum = format!("quantity('{left}').add(quantity('{right}')) == quantity('{}m')", a + b);
            prop_assert_eq!(evaluate(&sum), "true");
        }
    }

    /// An address and its shortest form are equal.
    #[test]
    fn addresses_are_written_canonically(bits: u128, zeros in 0_u32..128) {
        let address = std::net::Ipv6Addr::from(bits & u128::MAX.checked_shl(zeros).unwrap_or(0));
        if address.to_ipv4_mapped().is_none() {
            let canonical = format!("ip.isCanonical(string(ip('{address}')))");
            prop_assert_eq!(evaluate(&canonical), "true");
        }
    }
}
