package serve

import (
	"strings"
	"testing"
)

// Which roles start, and which are refused with which words.
func TestRoleCheck(t *testing.T) {
	const collect, analyze = "role: collect\n", "role: analyze\n"
	const clickhouse = "store: {clickhouse: {url: \"http://a:1\", database: d}}\n"
	for text, want := range map[string]string{
		"role: all":                         "",
		"role: both":                        `role: got "both", want all, collect, analyze, tables or query`,
		collect:                             "needs urls of servers of NATS",
		analyze:                             "needs urls of servers of NATS, or embedded",
		"bus: {urls: [x]}":                  "role is all, which needs no bus",
		collect + "bus: {urls: [nats://a]}": "",
		collect + "bus: {urls: [kafka://a:9092]}":                                 "",
		collect + "bus: {urls: [kafka://a:9092, nats://a]}":                       "not both",
		collect + "bus: {urls: [kafka://a]}":                                      "want kafka://HOST:PORT",
		collect + "bus: {urls: [nats://a]}\nhttp: 0.0.0.0:1":                      "",
		collect + "bus: {urls: [nats://a], name: a.b}":                            "want 1 to 64 letters",
		collect + "bus: {urls: [nats://a]}\ntokens: /x":                           "in the clear and to everybody",
		collect + "bus: {urls: [nats://a]}\ntls: {cert: /x, key: /x}":             "in the clear and to everybody",
		collect + "bus: {embedded: \"127.0.0.1:1\"}":                              "the analyzer runs the server",
		collect + "bus: {urls: [nats://a], spool: 1MiB}":                          "want at least 16MiB",
		collect + "bus: {urls: [nats://a], partitions: 0}":                        "want 1 to 256",
		collect + "bus: {urls: [nats://a], tls: {cert: /x}}":                      "cert and key are needed together",
		collect + "bus: {urls: [nats://a], tls: {ca: /none}}":                     "no such file",
		analyze + "bus: {urls: [nats://a], replicas: 6}":                          "want 1 to 5",
		analyze + "bus: {urls: [nats://a], embedded: \"127.0.0.1:1\"}":            "not both",
		analyze + "bus: {embedded: \"127.0.0.1:1\"}":                              "data names one",
		analyze + "data: /x\nbus: {embedded: \"127.0.0.1:1\"}":                    "",
		analyze + "data: /x\nbus: {embedded: \"0.0.0.0:1\"}":                      "give nkeys and tls",
		analyze + "data: /x\nbus: {embedded: \"0.0.0.0:1\", insecure: true}":      "",
		analyze + "data: /x\nbus: {embedded: here}":                               "want an address and a port",
		analyze + clickhouse + "data: /x\nbus: {urls: [nats://a], standby: true}": "",
		analyze + "data: /x\nbus: {urls: [nats://a], standby: true}":              "want store.clickhouse",
		analyze + "bus: {urls: [nats://a], standby: true}":                        "data names one",
		analyze + "data: /x\nbus: {embedded: \"127.0.0.1:1\", standby: true}":     "ends with its analyzer",
		analyze + "data: /x\nbus: {urls: [kafka://a:9092], standby: true}":        "Kafka has nothing for that",
		collect + "bus: {urls: [nats://a], standby: true}":                        "want analyze",
		analyze + "data: /x\nraw_reports: 16MiB\nbus: {urls: [nats://a]}":         "raw_reports",
	} {
		c, err := read(t, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		switch err := c.checkRole(); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
