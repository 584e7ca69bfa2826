package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// Which addresses are served, and which are refused with which line.
func TestServeExposure(t *testing.T) {
	ca, dir := test.NewAuthority(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca.Issue("server", 1, file("cert"), file("key"))
	if err := auth.WriteTokens(file("tokens"), nil); err != nil {
		t.Fatal(err)
	}
	clients := "tls: {clients: {noc: admin}}\n"
	if err := os.WriteFile(file("clients.yaml"), []byte(clients), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, https := "--tokens "+file("tokens"), "--tls-cert "+file("cert")+" --tls-key "+file("key")
	mutual := https + " --tls-client-ca " + ca.File + " --config " + file("clients.yaml")
	for _, c := range []struct{ args, refused string }{
		{"--http :8080", ""},
		{"--http 127.0.0.1:8080", ""},
		{"--http 127.1.2.3:8080", ""},
		{"--http [::1]:8080", ""},
		{"--http localhost:8080", ""},
		{"--http :8080 " + tokens, ""},
		{"--http :8080 " + https, ""},
		{"--http :8080 " + mutual, ""},
		{"--http 0.0.0.0:8080", "there is no log-in; listen on 127.0.0.1, or give --tokens"},
		{"--http [::]:8080", "there is no log-in; listen on 127.0.0.1, or give --tokens"},
		{"--http noc.example:8080", "there is no log-in; listen on 127.0.0.1, or give --tokens"},
		{"--http 0.0.0.0:8080 " + tokens, "in the clear; give --tls-cert"},
		{"--http 0.0.0.0:8080 " + https, "there is no log-in; give --tokens or --tls-client-ca"},
		{"--http 0.0.0.0:8080 " + tokens + " " + https, ""},
		{"--http 0.0.0.0:8080 " + mutual, ""},
		{"--http 0.0.0.0:8080 " + tokens + " " + mutual, ""},
		{"--http 0.0.0.0:8080 --insecure", ""},
		{"--http 0.0.0.0:8080 --insecure " + tokens, ""},
		{"--http 0.0.0.0:8080 --insecure " + https, ""},
		{"--tokens " + file("none"), "waybill token create makes the file"},
		{"--tokens " + file("cert"), "tokens: "},
		{"--tls-cert " + file("cert"), "cert and key are needed together"},
		{"--tls-cert " + file("cert") + " --tls-key " + file("none"), "no such file"},
		{"--tls-cert " + file("key") + " --tls-key " + file("cert"), "tls: certificate"},
		{"--tls-client-ca " + ca.File, "need a cert and a key"},
		{https + " --tls-client-ca " + ca.File, "client_ca and clients are needed together"},
		{https + " --config " + file("clients.yaml"), "client_ca and clients are needed together"},
		{https + " --config " + file("clients.yaml") + " --tls-client-ca " + file("key"), "has no certificates, want PEM"},
	} {
		root := newRootCommand()
		var out, errs bytes.Buffer
		root.SetArgs(append([]string{"serve", "--check"}, strings.Fields(c.args)...))
		root.SetOut(&out)
		root.SetErr(&errs)
		code := command.Execute(root)
		switch {
		case c.refused == "" && code != 0:
			t.Errorf("%s: refused: %s", c.args, errs.String())
		case c.refused != "" &&
			(code != command.ExitUsage || !strings.Contains(errs.String(), c.refused) ||
				strings.Count(errs.String(), "\n") != 1):
			t.Errorf("%s: got code %d and %q; want one line with %q", c.args, code, errs.String(), c.refused)
		}
	}
}

func TestServeAccessConfig(t *testing.T) {
	for text, want := range map[string]string{
		"tls: {certificate: x}": `certificate`,
		"tls: [x]":              ":1: tls: got a list, want keys and values",
		"metrics: everybody":    "want read (a role is needed) or open",
		"query: {roles: read}":  `query: unknown key "roles"; did you mean role?`,
		"query: {role: nobody}": "want read, operate or admin",
		"tls: {cert: a, key: b, client_ca: c, clients: {x: root}}": `tls: clients: x: got "root"`,
	} {
		file := filepath.Join(t.TempDir(), "waybill.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := runWaybill(t, "serve", "--check", "--config", file); code != command.ExitUsage ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: got code %d, %s", text, code, errs)
		}
	}
	ca, dir := test.NewAuthority(t), t.TempDir()
	cert, key, tokens := filepath.Join(dir, "cert"), filepath.Join(dir, "key"), filepath.Join(dir, "tokens")
	ca.Issue("server", 1, cert, key)
	if err := auth.WriteTokens(tokens, nil); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WAYBILL_TLS", "{cert: /nowhere, key: "+key+"}")
	t.Setenv("WAYBILL_METRICS", "open")
	t.Setenv("WAYBILL_TOKENS", tokens)
	out, errs, code := runWaybill(t, "serve", "--dump", "--tls-cert", cert)
	for _, want := range []string{
		"cert: " + cert + "\n", "key: " + key + "\n", "metrics: open\n",
		"tokens: " + tokens + "\n",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("no %q in the dump: %s%s", want, out, errs)
		}
	}
}

// As an operator does it: make a token, ask with it over TLS, revoke it. The server goes on all the while.
func TestServeTokensAndTLS(t *testing.T) {
	ca, dir := test.NewAuthority(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	ca.Issue("server", 1, in("cert"), in("key"))
	ca.Issue("noc", 2, in("noc"), in("noc-key"))
	ca.Issue("guest", 3, in("guest"), in("guest-key"))
	token, errs, code := runWaybill(t, "token", "create", "--tokens", in("tokens"), "--name", "alice", "--expires",
		"90d")
	if code != 0 || !strings.HasPrefix(token, "wb_") || !strings.Contains(errs, "not shown again") {
		t.Fatalf("token create: %q, %s", token, errs)
	}
	if err := os.WriteFile(in("token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, func(c *serve.Config) {
		c.Tokens = in("tokens")
		c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA, c.TLS.Clients = in("cert"), in("key"), ca.File,
			map[string]string{"noc": "admin"}
	})
	url := s.URL()
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Fatalf("got %s", url)
	}
	asks := func(want int, says string, args ...string) {
		t.Helper()
		_, errs, code := runWaybill(t, append([]string{"nodes", "--server", url}, args...)...)
		if code != want || !strings.Contains(errs, says) || strings.Contains(errs, "wb_A") {
			t.Errorf("%q: got code %d and %s; want %d and %q", args, code, errs, want, says)
		}
	}
	asks(0, "no nodes yet", "--ca", ca.File, "--token-file", in("token"))
	asks(0, "no nodes yet", "--ca", ca.File, "--cert", in("noc"), "--key", in("noc-key"))
	asks(1, "--token-file", "--ca", ca.File)
	asks(1, "gives its common name no role", "--ca", ca.File, "--cert", in("guest"), "--key", in("guest-key"))
	asks(1, "--ca names a file", "--token-file", in("token"))
	asks(2, "a certificate needs its key", "--ca", ca.File, "--cert", in("noc"))
	asks(2, "one token and nothing else", "--ca", ca.File, "--token-file", in("cert"))
	asks(2, "in the clear", "--server", "http://noc.example", "--token-file", in("token"))
	t.Setenv("WAYBILL_TOKEN", strings.TrimSpace(token))
	asks(0, "no nodes yet", "--ca", ca.File)
	t.Setenv("WAYBILL_TOKEN", auth.NewToken())
	asks(1, "not known here", "--ca", ca.File)
	t.Setenv("WAYBILL_TOKEN", "")

	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: ca.Pool()},
		DisableKeepAlives: true,
	}}
	serial := func() int64 {
		response, err := client.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("got certificate %d, want 1", got)
	}
	ca.Issue("server", 4, in("cert"), in("key"))
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	test.Eventually(t, "reading the certificate again", func() bool { return serial() == 4 })

	if out, _, _ := runWaybill(t, "token", "list", "--tokens", in("tokens")); !strings.Contains(out, "alice") ||
		!strings.Contains(out, "read") || strings.Contains(out, "wb_") {
		t.Errorf("token list: %s", out)
	}
	if _, errs, code := runWaybill(t, "token", "revoke", "--tokens", in("tokens"), "--name", "alice"); code != 0 {
		t.Errorf("token revoke: %s", errs)
	}
	test.Eventually(t, "revoking", func() bool {
		_, errs, code := runWaybill(t, "nodes", "--server", url, "--ca", ca.File, "--token-file", in("token"))
		return code == 1 && strings.Contains(errs, "not known here, or was revoked")
	})
}

func TestTokenCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"create --name a", 2, "--tokens FILE is needed"},
		{"create --tokens FILE", 2, "--name"},
		{"create --tokens FILE --name a/b", 2, "--name"},
		{"create --tokens FILE --name a --role root", 2, "want read, operate or admin"},
		{"create --tokens FILE --name a --expires soon", 2, "--expires"},
		{"create --tokens FILE --name a --expires -1h", 2, "--expires"},
		{"create --tokens FILE --name a --expires 0d", 2, "--expires"},
		{"list --tokens FILE", 1, "no such file"},
		{"create --tokens FILE --name a --role operate", 0, "wb_"},
		{"create --tokens FILE --name b --role admin --expires 1ns", 0, "wb_"},
		{"create --tokens FILE --name a", 1, "already"},
		{"list --tokens FILE", 0, "(expired)"},
		{"list --tokens FILE", 0, "never"},
		{"revoke --tokens FILE --name c", 1, `no token named "c"`},
		{"revoke --tokens FILE --name a", 0, ""},
		{"revoke --tokens FILE --name a", 1, `no token named "a"`},
		{"list x", 2, "unexpected argument"},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "FILE", file))
		out, errs, code := runWaybill(t, append([]string{"token"}, args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: got code %d, %q, %q; want %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
	tokens, err := auth.ReadTokens(file)
	if err != nil || len(tokens) != 1 || tokens[0].Name != "b" || tokens[0].Role != auth.Admin ||
		tokens[0].Valid(time.Now()) {
		t.Errorf("left: %+v, %v", tokens, err)
	}
}

// Headers have a limit, and a request line too.
func TestServeHeaderSize(t *testing.T) {
	s := startServer(t, nil)
	for size, want := range map[int]string{1000: "200", 200_000: "431"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: %s\r\n\r\n",
			strings.Repeat("x", size))
		answer := make([]byte, 12)
		io.ReadFull(conn, answer)
		conn.Close()
		if got := strings.TrimPrefix(string(answer), "HTTP/1.1 "); got != want {
			t.Errorf("%d bytes: got %q, want %s", size, answer, want)
		}
	}
}
