package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/node/kernel"
	"github.com/waybill-int/waybill/telemetry"
)

// TestNodeAPI asks a node over the network, by the commands and as mitigation does: only who has its token is answered,
// and only over TLS with a certificate that is trusted.
func TestNodeAPI(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	const token = "0123456789abcdef"
	a := &kernel.API{
		Listen: "127.0.0.1:0", Cert: file("cert", ""), Key: file("key", ""), TokenFile: file("token", token+"\n"),
	}
	authority := test.NewAuthority(t)
	authority.Issue("localhost", 1, a.Cert, a.Key)
	var asked []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
	})
	short := *a
	short.TokenFile = file("short", "abc")
	log := slog.New(slog.DiscardHandler)
	if _, err := serveNodeAPI(t.Context(), &short, handler, log); err == nil {
		t.Error("a token of 3 characters was taken")
	}
	at, err := serveNodeAPI(t.Context(), a, handler, log)
	if err != nil {
		t.Fatal(err)
	}
	url := "https://" + at.String()
	ca := authority.File
	for _, row := range []struct {
		args string
		code int
		want string
	}{
		{"list --url " + url + " --token-file " + a.TokenFile + " --ca " + ca, 0, ""},
		{"remove web --url " + url + "/ --token-file " + a.TokenFile + " --ca " + ca, 0, ""},
		{"list --url " + url + " --token-file " + file("other", token+"x") + " --ca " + ca, 1, "want the token"},
		{"list --url " + url + " --token-file " + a.TokenFile, 1, "certificate"},
		{"list --url " + url, 2, "--token-file"},
		{"list --socket /x --url " + url + " --token-file " + a.TokenFile, 2, "--socket"},
		{"list --url http://" + at.String() + " --token-file " + a.TokenFile, 2, "https"},
	} {
		_, errs, code := runWaybill(t, append([]string{"node", "watch"}, strings.Fields(row.args)...)...)
		if code != row.code || !strings.Contains(errs, row.want) {
			t.Errorf("%s: got %d %s, want %d %s", row.args, code, errs, row.code, row.want)
		}
	}
	if want := []string{"GET /watch ", "DELETE /watch/web "}; strings.Join(asked, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", asked, want)
	}
	client := &nodeClient{url: url, tokenFile: a.TokenFile, ca: ca}
	transport, _, err := client.transport()
	if err != nil {
		t.Fatal(err)
	}
	rules := []telemetry.MitigationRule{{ID: "r1", Node: 1, Target: "192.0.2.80/32"}}
	for given, want := range map[string]string{token: "", "wrong": "want the token"} {
		nodes := mitigate.NewNodes([]mitigate.NodeAccess{
			{Node: 1, URL: url, Token: given, Client: &http.Client{Transport: transport}},
		})
		err := nodes.Apply(t.Context(), rules)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("token %s: got %v, want %q", given, err, want)
		}
	}
	if got := asked[len(asked)-1]; !strings.HasPrefix(got, "POST /filter {") || len(asked) != 3 {
		t.Errorf("mitigation asked %q", asked[2:])
	}
}
