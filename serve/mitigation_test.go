package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot work is refused at the start, with the key that is wrong.
func TestMitigationSettings(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const router = "bgp: {as: 64512, router_id: 10.0.0.2"
	hook := "webhook: {url: 'https://10.0.0.9/', secret_file: " + secret + "}"
	for text, want := range map[string]string{
		hook: "",
		hook + "\n  nodes: [{node: 1, socket: /x}]\n  automatic: {by: node}":                               "",
		router + ", peers: [{address: 10.0.0.3, as: 64513, flowspec: true}]}\n  automatic: {by: flowspec}": "",
		router + ", peers: [{address: 10.0.0.3, as: 64513, flowspec: true}]}\n  default: rtbh":             `default: "rtbh"`,
		router + ", peers: [{address: 10.0.0.3, as: 64513, rtbh: true}]}":                                  "next_hop",
		router + ", peers: [{address: 10.0.0.3, as: 64513}]}":                                              "want flowspec, rtbh or both",
		router + "}": "peers: want at least one",
		"bgp: {as: 64512, router_id: 'fd00::1', peers: []}": "router_id",
		"for: 8d":                            "for: got",
		"max_rules: 0":                       "max_rules",
		"max_share: 0":                       "max_share",
		"automatic: {after: 10s}":            "nothing that drops is configured",
		"default: rtbh":                      `default: "rtbh" is not configured`,
		"nodes: [{node: 1}]":                 "nodes[0]: want url or socket",
		"nodes: [{node: 1, url: 'ftp://x'}]": "nodes[0]: url",
		"nodes: [{node: 1, socket: /x}, {node: 1, socket: /y}]":                  "nodes[1]: node: got 1",
		"nodes: [{node: 1, socket: /x, token_file: /none}]":                      "token_file",
		"webhook: {url: 'https://10.0.0.9/'}":                                    "secret",
		"webhook: {url: 10.0.0.9, secret_file: " + secret + "}":                  "url",
		hook + "\n  nodes: [{node: 1, socket: /x}]\n  automatic: {exporters: 1}": "automatic.by: want one of",
		hook + "\n  automatic: {exporters: 3}":                                   "automatic.exporters",
		strings.Replace(hook, "secret_file", "template: x, secret_file", 1):      "template",
	} {
		c, err := read(t, []byte("mitigation:\n  "+text+"\n"))
		if err == nil {
			err = c.Check()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
