package auth

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/conf/conftest"
)

const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseTokens(t *testing.T) {
	tokens, err := ParseTokens([]byte("tokens:\n- {name: alice, role: admin, sha256: " + sum +
		", created: '2026-11-21T09:00:00Z', expires: '2027-11-21T09:00:00+01:00'}\n" +
		"- name: prometheus\n  role: read\n  sha256: " + strings.Repeat("ab", 32) + "\n"))
	if err != nil || len(tokens) != 2 {
		t.Fatalf("got %v, %v", tokens, err)
	}
	a, p := tokens[0], tokens[1]
	if a.Name != "alice" || a.Role != Admin || a.SHA256[1] != 0x23 ||
		!a.Expires.Equal(time.Date(2027, 11, 21, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("alice: %+v", a)
	}
	if p.Name != "prometheus" || p.Role != Read || !p.Expires.IsZero() || !p.Valid(time.Now()) {
		t.Errorf("prometheus: %+v", p)
	}
	for _, text := range []string{"", "# nobody yet\n", "tokens: []\n", "{}", `{"tokens":[]}`} {
		if tokens, err := ParseTokens([]byte(text)); err != nil || len(tokens) != 0 {
			t.Errorf("%q: got %v, %v", text, tokens, err)
		}
	}
}

func TestParseTokensRefuses(t *testing.T) {
	entry := func(name, role, sha, more string) string {
		return fmt.Sprintf("- {name: %s, role: %s, sha256: %s%s}\n", name, role, sha, more)
	}
	many := "tokens:\n"
	for i := range maxTokens + 1 {
		many += entry(fmt.Sprint("t", i), "read", fmt.Sprintf("%064x", i), "")
	}
	for text, want := range map[string]string{
		"tokens:\n" +
			entry("a", "root", sum, ""): "role: got \"root\", want read",
		"tokens:\n" + entry("a", "nobody", sum, ""):       `role: got "nobody"`,
		"tokens:\n" + entry("a", "", sum, ""):             "line 2: tokens[0].role: ",
		"tokens:\n" + entry("", "read", sum, ""):          "name: got",
		"tokens:\n" + entry("'a b'", "read", sum, ""):     "name: got",
		"tokens:\n" + entry("a", "read", sum[:62], ""):    "want 64 hexadecimal digits",
		"tokens:\n" + entry("a", "read", "wb_secret", ""): "want 64 hexadecimal digits",
		"tokens:\n" +
			entry("a", "read", sum, ", expires: tomorrow"): "line 2: tokens[0].expires: want a time such as",
		"tokens:\n" +
			entry("a", "read", sum,
				", expire: '2026-11-21T09:00:00Z'"): `line 2: tokens[0]: unknown key "expire"; did you mean expires?`,
		"tokens:\n" + entry("a", "read", sum, "") + entry("b", "admin", sum, ""):         "twice",
		"tokens:\n" + entry("a", "read", sum, "") + entry("a", "admin", sum[1:]+"0", ""): "twice",
		"token: []":                   "token",
		"tokens: {}":                  "",
		"tokens: 7":                   "",
		"a: [":                        "",
		"tokens: []\n---\ntokens: []": "line 3: a second YAML document",
		"- &a [*a]":                   "",
		many:                          "at most 1000",
		strings.Repeat("#", 1<<20+1):  "too large",
	} {
		tokens, err := ParseTokens([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.200q: got %v, %v; want one line with %q", text, tokens, err, want)
		}
	}
}

func TestWriteTokens(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "link.yaml")
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	want := []Token{
		{Name: "alice", Role: Admin, SHA256: DigestOf("a"), Created: now},
		{Name: "prometheus", Role: Read, SHA256: DigestOf("b"), Created: now, Expires: now.Add(90 * 24 * time.Hour)},
	}
	check := func(name string, want []Token, mode os.FileMode) {
		t.Helper()
		got, err := ReadTokens(name)
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("got mode %v, want %v", info.Mode(), mode)
		}
	}
	if err := WriteTokens(file, want); err != nil {
		t.Fatal(err)
	}
	check(file, want, 0o600)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteTokens(link, want[:1]); err != nil {
		t.Fatal(err)
	}
	check(file, want[:1], 0o640)
	if err := WriteTokens(file, nil); err != nil {
		t.Fatal(err)
	}
	check(file, nil, 0o640)
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) != 0 {
		t.Errorf("left behind: %v", hidden)
	}
	if err := WriteTokens(filepath.Join(dir, "none", "tokens.yaml"), want); err == nil {
		t.Error("wrote into a directory that is not there")
	}
}

func TestMisspeltKeys(t *testing.T) {
	text := "tokens:\n- name: a\n  role: read\n  sha256: " + sum +
		"\n  created: 2026-11-21T09:00:00Z\n  expires: 2027-11-21T09:00:00Z\n"
	conftest.Misspell(t, reflect.TypeFor[tokensFile](), []string{text}, func(text []byte) error {
		_, err := ParseTokens(text)
		return err
	})
}

// Whatever a file says, it is read or refused; what is read can be written and read again.
func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("tokens:\n- {name: a, role: read, sha256: " + sum + "}\n"))
	f.Add([]byte("tokens:\n- name: b\n  role: admin\n  sha256: " + sum +
		"\n  created: 2026-11-21T09:00:00Z\n  expires: 2027-11-21T09:00:00Z\n"))
	f.Add([]byte(`{"tokens":[{"name":"c","role":"operate","sha256":"` + sum + `"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, err := ParseTokens(text)
		if err != nil {
			return
		}
		file := filepath.Join(t.TempDir(), "tokens.yaml")
		if err := WriteTokens(file, tokens); err != nil {
			t.Fatal(err)
		}
		again, err := ReadTokens(file)
		if err != nil || len(again) != len(tokens) {
			t.Fatalf("got %v, %v; want %v", again, err, tokens)
		}
		for i := range tokens {
			if a, b := again[i], tokens[i]; a.Name != b.Name || a.Role != b.Role || a.SHA256 != b.SHA256 ||
				a.Expires.Unix() != b.Expires.Unix() {
				t.Errorf("got %+v, want %+v", a, b)
			}
		}
	})
}
