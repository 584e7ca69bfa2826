package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
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

// A webhook gets the rules, signed as Standard Webhooks has it (HMAC-SHA256 of id, time and body), again when it could
// not take them, and the same rules to withdraw. The SDN controller of Transparent Security gets its own call for each.
func TestMitigationWebhook(t *testing.T) {
	const secret = "0123456789abcdef"
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got, ids []string
	status := []int{503, 200, 200, 201, 201, 404, 201}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "."))
		mac.Write(body)
		signed, want := r.Header.Get("Webhook-Signature"), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if signed != want {
			t.Errorf("signature %q, want %q", signed, want)
		}
		var m struct {
			Type  string
			Rules []telemetry.MitigationRule
			Port  string `json:"dst_port"`
			MAC   string `json:"src_mac"`
			To    string `json:"dst_ip"`
		}
		if err := json.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		text := r.Method + " " + m.Type + m.MAC + " " + m.To + " " + m.Port
		if len(m.Rules) > 0 {
			text = r.Method + " " + m.Type + " " + m.Rules[0].Text
		}
		got, ids = append(got, text), append(ids, r.Header.Get("Webhook-Id"))
		w.WriteHeader(status[0])
		status = status[1:]
	}))
	defer receiver.Close()
	hook := mitigationWebhook{URL: receiver.URL, SecretFile: file}
	sender, err := hook.sender()
	if err != nil {
		t.Fatal(err)
	}
	rules := []telemetry.MitigationRule{
		{ID: "1", Device: "a6:1a:f6:b1:64:01", Target: "192.0.2.80/32", Protocol: "udp", Port: 53, Text: "drop"},
		{ID: "2", Device: "a6:1a:f6:b1:64:02", Target: "192.0.2.80/32", Protocol: "udp", Port: 53, Text: "drop"},
	}
	w := &mitigate.Webhook{Post: sender.Send}
	if err := w.Apply(t.Context(), rules); err != nil {
		t.Error(err)
	}
	if err := w.Withdraw(t.Context(), rules); err != nil {
		t.Error(err)
	}
	w.TransparentSecurity = true
	if err := w.Apply(t.Context(), rules); err != nil {
		t.Error(err)
	}
	if err := w.Apply(t.Context(), rules); err == nil { // the first is refused: nothing is sent that must be withdrawn
		t.Error("a rule that was refused is taken for sent")
	}
	if err := w.Withdraw(t.Context(), rules[:1]); err != nil {
		t.Error(err)
	}
	want := []string{
		"POST mitigation.apply drop", "POST mitigation.apply drop", "POST mitigation.withdraw drop",
		"POST a6:1a:f6:b1:64:01 192.0.2.80 53", "POST a6:1a:f6:b1:64:02 192.0.2.80 53",
		"POST a6:1a:f6:b1:64:01 192.0.2.80 53", "DELETE a6:1a:f6:b1:64:01 192.0.2.80 53",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("got %q with ids %q, want %q", got, ids, want)
	}
}
