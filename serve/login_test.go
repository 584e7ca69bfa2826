package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogInSettings: what is not safe or cannot work is refused with what to write instead.
func TestLogInSettings(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const oidc = "issuer: 'https://login.example', client_id: waybill, url: 'https://waybill.example/', " +
		"roles: {noc: operate}"
	for text, want := range map[string]string{
		"oidc: {" + oidc + "}": "",
		"oidc: {" + oidc + ", client_secret_file: " + secret + "}":                                    "",
		"oidc: {" + oidc + ", client_secret_file: /none}":                                             "client_secret_file",
		"oidc: {" + oidc + ", ca: " + secret + "}":                                                    "has no certificates",
		"oidc: {" + strings.Replace(oidc, "https://login", "http://login", 1) + "}":                   "issuer: got",
		"oidc: {" + strings.Replace(oidc, "https://waybill", "http://waybill", 1) + "}":               "url: got",
		"oidc: {" + strings.Replace(oidc, "operate", "king", 1) + "}":                                 "roles: noc",
		"oidc: {" + strings.Replace(oidc, "client_id: waybill, ", "", 1) + "}":                        "client_id",
		"oidc: {client_id: waybill}":                                                                  "issuer: want",
		"oidc: {issuer: 'https://login.example', client_id: waybill, url: 'https://waybill.example'}": "roles: want",
		"proxy_login: {from: [192.0.2.7], user_header: X-Forwarded-User, roles: {'*': read}}":         "",
		"proxy_login: {user_header: X-Forwarded-User, roles: {'*': read}}":                            "from and user_header",
		"proxy_login: {from: [0.0.0.0/0], user_header: X-Forwarded-User, roles: {'*': read}}":         "is everybody",
		"proxy_login: {from: [proxy], user_header: X-Forwarded-User, roles: {'*': read}}":             "from: got",
		"proxy_login: {from: [192.0.2.7], user_header: X-Forwarded-User}":                             "roles: want",
	} {
		c, err := read(t, []byte(text+"\n"))
		if err == nil {
			err = c.Check()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
