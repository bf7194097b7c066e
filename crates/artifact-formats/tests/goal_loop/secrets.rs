//! The secret scan of pre-commit (section 6) and the subjects of section 8.

use windlass_artifact_formats::goal_loop::{
    AddedLine, SecretKind, added_lines, commit_subject, item_of_subject, scan_secrets,
};

use crate::id;

fn kind(file: &str, text: &str) -> Option<SecretKind> {
    let found = scan_secrets(&[AddedLine { file: file.to_owned(), line: 7, text: text.to_owned() }]);
    found.first().map(|finding| {
        let shown = finding.to_string();
        assert!(shown.starts_with(&format!("{file}:7: ")), "{shown}");
        assert!(!shown.contains("S3cr3tValue99"), "the value is shown: {shown}");
        finding.kind
    })
}

/// Joined at run time, so that scanners of this repository have nothing to find.
fn bearer(value: &str) -> String {
    format!("Authorization: Bea{} {value}", "rer")
}

#[test]
fn secrets_in_code_and_configuration_are_found() {
    for (file, text) in [
        ("src/a.py", "password = 'S3cr3tValue99'"),
        ("src/a.py", "DB_PASSWORD=\"S3cr3tValue99\""),
        ("src/a.rs", "const API_KEY: &str = \"S3cr3tValue99\";"),
        ("src/a.ts", "  apiKey: 'S3cr3tValue99',"),
        ("src/a.json", "\"client_secret\": \"S3cr3tValue99\""),
        ("src/a.go", "token := `S3cr3tValue99`"),
        ("src/a.py", "password = 'swordfish'"),
        ("src/a.rb", ":password => 'S3cr3tValue99'"),
        (".env", "AUTH_TOKEN=S3cr3tValue99"),
        ("deploy/x.yml", "  api_key: S3cr3tValue99"),
    ] {
        assert_eq!(kind(file, text), Some(SecretKind::Assignment), "{text}");
    }
    assert_eq!(kind("src/a.py", &bearer("eyJhbGciOiJS3cr3tValue99")), Some(SecretKind::Bearer));
    assert_eq!(
        kind("src/a.py", "url = 'postgres://app:S3cr3tValue99@db/x'"),
        Some(SecretKind::ConnectionString)
    );
    assert_eq!(
        kind("key.pem", &format!("-----BEGIN RSA {} KEY-----", "PRIVATE")),
        Some(SecretKind::PrivateKey)
    );
    assert_eq!(kind("src/a.py", &format!("x = 'AKIA{}'", "QWERTYUIOPASDFGH")), Some(SecretKind::KnownToken));
}

#[test]
fn code_prose_and_places_to_be_filled_in_are_no_secrets() {
    for (file, text) in [
        ("src/a.rs", "let token = parser.next_token();"),
        ("src/a.rs", "pub token: String,"),
        ("src/a.py", "password = os.environ['DB_PASSWORD']"),
        ("src/a.js", "const token = process.env.TOKEN;"),
        ("src/a.py", "raise ValueError('password: must not be empty')"),
        ("src/a.json", "\"token\": \"is required for login\""),
        ("src/a.json", "\"token_type\": \"something-long\""),
        ("src/a.py", "password = ''"),
        ("src/lexer.py", "next_token = 'identifier'"),
        ("src/form.ts", "password: 'string'"),
        ("conf.yml", "password: ${DB_PASSWORD}"),
        ("conf.yml", "password: {{ vault_password1 }}"),
        ("conf.yml", "password: <your-password-1>"),
        (".env.example", "API_KEY=changeme123"),
        ("src/a.py", "API_KEY = 'xxxxxxxxxxxx'"),
        ("README.md", "https://example.com/path:80@x"),
        ("src/a.rs", "// the bearer of bad news is here"),
    ] {
        assert_eq!(kind(file, text), None, "{text}");
    }
}

#[test]
fn obvious_fakes_are_exempt_in_tests_only() {
    for text in
        ["password = 'test-password'", "url = 'postgres://user:secret@localhost/x'", "api_key = 'abc123456'"]
    {
        assert_eq!(kind("tests/test_a.py", text), None, "{text}");
        assert!(kind("src/a.py", text).is_some(), "{text}");
    }
    assert_eq!(kind("tests/test_a.py", "password = 'q9Zr-77-Lmx2'"), Some(SecretKind::Assignment));
}

#[test]
fn added_lines_are_numbered_as_in_the_new_file() {
    let diff = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+++ b/evil\n three\n\
        diff --git a/b c.rs b/b c.rs\nnew file mode 100644\n--- /dev/null\n+++ b/b c.rs\n@@ -0,0 +1 @@\n+only\n\\ No newline at end of file\n";
    let found = added_lines(diff);
    let places: Vec<(&str, u32, &str)> =
        found.iter().map(|line| (line.file.as_str(), line.line, line.text.as_str())).collect();
    assert_eq!(places, [("a.rs", 2, "TWO"), ("a.rs", 3, "++ b/evil"), ("b c.rs", 1, "only")]);
}

#[test]
fn subjects_say_the_kind_by_prefix_and_can_be_read_back() {
    for (item, subject) in [
        ("F001", "feat(F001): Invoices by mail"),
        ("R002", "refactor(R002): Invoices by mail"),
        ("B003", "fix(B003): Invoices by mail"),
        ("E004", "feat(E004): Invoices by mail"),
    ] {
        assert_eq!(commit_subject(&id(item), "Invoices\n by mail"), subject);
        assert_eq!(item_of_subject(subject), Some(id(item)));
    }
    assert!(commit_subject(&id("F001"), &"long ".repeat(80)).chars().count() <= 100);
    for other in ["fix(F001): x", "feat(login): x", "feat: x", "chore(loop): run summary"] {
        assert_eq!(item_of_subject(other), None, "{other}");
    }
}
