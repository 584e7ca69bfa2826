package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/internal/test"
)

// What cannot work, or what others could read, is refused with what to do.
func TestQuerySettings(t *testing.T) {
	const store = "\nstore: {clickhouse: {url: \"https://h:8443\", database: w}}"
	for text, want := range map[string]string{
		"role: query\nanalyzer: {url: \"http://127.0.0.1:8080\"}":           "",
		"role: query\nanalyzer: {url: \"https://a:8080/waybill/\"}" + store: "",
		"role: query\nanalyzer: {url: \"http://a:8080\", insecure: true}":   "",
		"role: query": "want where its API is",
		"role: query\nanalyzer: {url: \"a:8080\"}":                                "want where its API is",
		"role: query\nanalyzer: {url: \"ftp://a/\"}":                              "want where its API is",
		"role: query\nanalyzer: {url: \"http://a/\"}":                             "others can read what is sent",
		"role: query\nanalyzer: {url: \"https://u:p@a/\"}":                        "want no user",
		"role: query\nanalyzer: {url: \"https://a/\", token_file: /nowhere}":      "token_file: open /nowhere",
		"role: query\nanalyzer: {url: \"https://a/\", tls: {cert: /x}}":           "cert and key are needed together",
		"role: query\nanalyzer: {url: \"https://a/\", tls: {ca: /nowhere}}":       "ca: open /nowhere",
		"role: query\nanalyzer: {url: \"https://a/\"}\ndata: /x":                  "keeps nothing",
		"role: query\nanalyzer: {url: \"https://a/\"}\nbus: {urls: [nats://x:1]}": "needs no bus",
		"role: query\nanalyzer: {url: \"https://a/\"}\nnames: {1: a}":             "has those of the analyzer",
		"role: query\nanalyzer: {url: \"https://a/\"}\nhttp: 0.0.0.0:80":          "there is no log-in",
		"analyzer: {url: \"https://a/\"}":                                         "got role all, want query",
		"role: none":                                                              "want all, collect, analyze, tables or query",
	} {
		c, err := read(t, []byte(text))
		if err == nil {
			err = c.Check()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("the password is in %v", err)
		}
	}
}

// A server with role query starts without the analyzer, and answers for it when it comes: over TLS of the authority
// that it was told, and with a token or a certificate that the analyzer knows.
func TestQueryAsksOverTLS(t *testing.T) {
	authority, others := test.NewAuthority(t), test.NewAuthority(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	authority.Issue("localhost", 2, file("analyzer.pem"), file("analyzer.key"))
	authority.Issue("query", 3, file("query.pem"), file("query.key"))
	token := auth.NewToken()
	tokens := []auth.Token{{Name: "query", Role: auth.Read, SHA256: auth.DigestOf(token)}}
	if err := auth.WriteTokens(file("tokens.yaml"), tokens); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"token": token + "\n", "other": auth.NewToken()} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := test.FreePort(t, "tcp")
	_, port, _ := strings.Cut(address, ":")
	start := func(change func(*Config)) (url string) {
		c := DefaultConfig()
		c.HTTP, c.Listen, c.Version = "127.0.0.1:0", []string{"udp://127.0.0.1:0"}, "v"
		change(&c)
		c.Points.Compile()
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		var s interface {
			Run(context.Context) error
			URL() string
		}
		var err error
		if c.Role == roleQuery {
			s, err = NewQuery(t.Context(), &c, io.Discard)
		} else {
			s, err = New(t.Context(), &c, io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return s.URL()
	}
	query := func(change func(*analyzerSettings)) string {
		return start(func(c *Config) {
			c.Role, c.Analyzer.URL, c.Analyzer.TLS.CA = roleQuery, "https://localhost:"+port, authority.File
			change(&c.Analyzer)
		})
	}
	withToken := query(func(a *analyzerSettings) { a.TokenFile = file("token") })
	for name, c := range map[string]struct {
		url  string
		want string
	}{
		"/healthz":      {withToken, "200 {\"status\":\"ok\",\"version\":\"v\"}"},
		"/readyz":       {withToken, "200 {\"status\":\"ready\",\"version\":\"v\"}"},
		"/api/v1/nodes": {withToken, "503 {\"type\""},
		"/":             {withToken, "200 <!doctype"},
	} {
		if got := fetch(t, c.url+name); !strings.HasPrefix(strings.ToLower(got), c.want) {
			t.Errorf("%s before there is an analyzer: got %.100s, want %s", name, got, c.want)
		}
	}
	analyzer := start(func(c *Config) {
		c.HTTP, c.Tokens = address, file("tokens.yaml")
		c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA = file("analyzer.pem"), file("analyzer.key"), authority.File
		c.TLS.Clients = map[string]string{"query": "read"}
		c.Names = map[uint32]string{7: "leaf7"}
	})
	for what, c := range map[string]struct {
		url, want string
	}{
		"with a token": {withToken, "200 "},
		"with a certificate": {query(func(a *analyzerSettings) {
			a.TLS.Cert, a.TLS.Key = file("query.pem"), file("query.key")
		}), "200 "},
		"with a token that is not known": {query(func(a *analyzerSettings) { a.TokenFile = file("other") }), "401 "},
		"with neither":                   {query(func(*analyzerSettings) {}), "401 "},
		"with another authority":         {query(func(a *analyzerSettings) { a.TLS.CA = others.File }), "503 "},
	} {
		if got := fetch(t, c.url+"/api/v1/nodes"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %.200s, want %s", what, got, c.want)
		}
	}
	test.Eventually(t, "names of the analyzer", func() bool {
		return strings.HasPrefix(fetch(t, withToken+"/api/v1/filter/validate?schema=nodes&text=node+%3D+leaf7"), "200 ")
	})

	pool := x509.NewCertPool()
	text, err := os.ReadFile(authority.File)
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	stranger := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}}}
	answer, err := stranger.Get(analyzer + "/query-state")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger asks what is configured, and gets %s", answer.Status)
	}
}

// fetch returns status and body of an answer.
func fetch(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status[:4] + string(body)
}
