package alert

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// message is a notification about a link, with texts that need care.
func message(t *testing.T) *Notification {
	t.Helper()
	node, port, to, queue := uint32(1), uint32(3), uint32(17), uint8(2)
	fired := time.Now().UTC().Truncate(time.Second).Add(-time.Minute)
	return &Notification{ID: "0123456789abcdef-1-1", Type: typeFiring, Time: fired, Data: telemetry.Alert{
		ID: "0123456789abcdef", Rule: "link-lost", State: telemetry.AlertFiring, Severity: telemetry.Critical,
		Since: fired.Add(-time.Minute), Fired: &fired,
		Summary: "a \"link\" is [lost]\n\x1b[31mµ", Labels: map[string]string{"team": `fab"ric\]`},
		Annotations: map[string]string{"runbook": "https://r"},
		Event: telemetry.Event{
			ID: "1", Kind: telemetry.EventLinkLost, Node: &node, Name: "leaf1", Port: &port, ToNode: &to, Queue: &queue,
			ReasonName: "bad\xff\nreason",
			Start:      fired, Evidence: []telemetry.Evidence{},
		},
	}}
}

func senderOf(t *testing.T, o *Output) sender {
	t.Helper()
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	s, err := newSender(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The signature is that of the reference vector of Standard Webhooks.
func TestSignature(t *testing.T) {
	key, err := signingKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A webhook gets JSON with a signature over exactly what it gets.
func TestWebhook(t *testing.T) {
	secret := "0123456789abcdef"
	var got Notification
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(h.Get("webhook-id") + "." + h.Get("webhook-timestamp") + "." + string(body)))
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); h.Get("webhook-signature") != want {
			t.Errorf("signature is %s, want %s", h.Get("webhook-signature"), want)
		}
		at, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
		if age := time.Since(time.Unix(at, 0)); err != nil || age < -time.Minute || age > 5*time.Minute {
			t.Errorf("timestamp is %s", h.Get("webhook-timestamp"))
		}
		if r.Method != "POST" || h.Get("content-type") != "application/json" || h.Get("x-team") != "fabric" ||
			h.Get("webhook-id") != "0123456789abcdef-1-1" {
			t.Errorf("%s %v", r.Method, h)
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	w := senderOf(t,
		&Output{Webhook: &Webhook{HTTP: HTTP{
			URL:     server.URL + "/hook?a=b",
			Headers: map[string]string{"X-Team": "fabric"},
		}, Secret: secret}})
	n := message(t)
	if err := w.send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got.ID != n.ID || got.Type != "alert.firing" || got.Data.Summary != n.Data.Summary ||
		*got.Data.Event.Port != 3 || !got.Data.Fired.Equal(*n.Data.Fired) {
		t.Errorf("got %+v", got)
	}
}

// What a receiver answers is understood, and errors do not tell the URL.
func TestHTTPAnswers(t *testing.T) {
	var status atomic.Int64
	var elsewhere atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			elsewhere.Add(1)
			return
		}
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(int(status.Load()))
	}))
	w := senderOf(t, &Output{Webhook: &Webhook{HTTP: HTTP{URL: server.URL + "/hunter2"}}})
	for code, want := range map[int]string{
		200: "taken", 204: "taken", 301: "refused", 307: "refused", 400: "refused", 401: "refused", 404: "refused",
		410: "refused",
		408: "later", 425: "later", 429: "later", 500: "later", 502: "later", 503: "later",
	} {
		status.Store(int64(code))
		err := w.send(t.Context(), message(t))
		got := "taken"
		var never permanent
		var reply answered
		switch {
		case errors.As(err, &never):
			got = "refused"
		case errors.As(err, &reply) && reply.after == 7*time.Second:
			got = "later"
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
	server.Close()
	err := w.send(t.Context(), message(t))
	var never permanent
	var reply answered
	if err == nil || errors.As(err, &never) || errors.As(err, &reply) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a server that is down: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "999999999": maxAfter, "-1": 0, "soon": 0,
		"Sat, 21 Nov 2026 09:00:30 GMT": 30 * time.Second, "Sat, 21 Nov 2026 08:00:00 GMT": 0,
		"Sat, 21 Nov 2027 09:00:00 GMT": maxAfter,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// A server with a certificate of its own is trusted if its file is named, and not otherwise.
func TestWebhookTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	ca := caFile(t, server)
	if err := senderOf(t, &Output{Webhook: &Webhook{HTTP: HTTP{URL: server.URL, CA: ca}}}).send(t.Context(),
		message(t)); err != nil {
		t.Error(err)
	}
	if err := senderOf(t, &Output{Webhook: &Webhook{HTTP: HTTP{URL: server.URL}}}).send(t.Context(),
		message(t)); err == nil {
		t.Error("a stranger was trusted")
	}
}

func caFile(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What Alertmanager gets is a postableAlert of its OpenAPI description (api/v2/openapi.yaml): no other keys, labels are
// needed, texts in maps, times in RFC 3339. That it takes labels with valid names and values only, and no end before
// the start, is what its code checks besides.
func TestAlertmanager(t *testing.T) {
	var bodies [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/prefix/api/v2/alerts" || r.Method != "POST" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL.Path, r.Header)
		}
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, body)
	}))
	defer server.Close()
	a := senderOf(t, &Output{Alertmanager: &Alertmanager{HTTP{URL: server.URL + "/prefix/"}}})
	firing, resolved, early := message(t), message(t), message(t)
	end, before := firing.Data.Fired.Add(time.Hour), firing.Data.Fired.Add(-time.Hour)
	resolved.Type, resolved.Data.Resolved, resolved.Data.Resolution = typeResolved, &end, telemetry.AlertEnded
	early.Data.Resolved = &before
	var starts []time.Time
	var ends []time.Time
	for _, n := range []*Notification{firing, resolved, early} {
		if err := a.send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	for _, body := range bodies {
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(body, &list); err != nil || len(list) != 1 {
			t.Fatalf("%v: %s", err, body)
		}
		alert := list[0]
		var labels, annotations map[string]string
		var start, end time.Time
		for key, into := range map[string]any{
			"labels": &labels, "annotations": &annotations, "startsAt": &start,
			"endsAt": &end,
		} {
			if err := json.Unmarshal(alert[key], into); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			delete(alert, key)
		}
		if len(alert) > 0 {
			t.Errorf("keys that Alertmanager does not know: %v", alert)
		}
		for name, value := range labels {
			if !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`).MatchString(name) || value == "" {
				t.Errorf("label %q is %q", name, value)
			}
		}
		if labels["alertname"] != "link-lost" || labels["severity"] != "critical" || labels["node"] != "leaf1" ||
			labels["to_node"] != "17" || labels["team"] == "" || annotations["summary"] == "" {
			t.Errorf("got %v %v", labels, annotations)
		}
		starts, ends = append(starts, start), append(ends, end)
	}
	if in := time.Until(ends[0]); in < 2*alertmanagerRefresh || in > alertmanagerTrust {
		t.Errorf("a firing alert ends in %v", in)
	}
	if !starts[0].Equal(*firing.Data.Fired) || !ends[1].Equal(end) || ends[2].Before(starts[2]) {
		t.Errorf("got %v %v", starts, ends)
	}
}

// rfc5424 is SYSLOG-MSG of RFC 5424 §6, with a text in UTF-8, whose MSG begins with a byte order mark.
var rfc5424 = func() *regexp.Regexp {
	const (
		print    = `[\x21-\x7e]`
		name     = `[\x21\x23-\x3c\x3e-\x5c\x5e-\x7e]{1,32}` // without = ] " and blanks
		value    = `(?:[^"\\\]]|\\["\\\]])*`
		stamp    = `\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`
		element  = `\[(?P<id>` + name + `)((?: ` + name + `="` + value + `")*)\]`
		priority = `<(0|[1-9]\d{0,2})>`
	)
	return regexp.MustCompile(`^` + priority + `([1-9]\d{0,2}) (-|` + stamp + `) (-|` + print + `{1,255}) (-|` + print +
		`{1,48}) (-|` + print + `{1,128}) (-|` + print + `{1,32}) ` + element + ` \x{feff}([^\x00-\x1f]*)$`)
}()

func TestSyslogMessage(t *testing.T) {
	long := message(t)
	long.Data.Summary = strings.Repeat("ü", 5000)
	for i := range 40 {
		long.Data.Labels[fmt.Sprint("label_with_a_name_that_is_longer_than_it_should_be_", i)] = strings.Repeat(`"é`,
			300)
	}
	resolved := message(t)
	resolved.Type, resolved.Data.Resolution = typeResolved, telemetry.AlertForgotten
	mild := message(t)
	mild.Data.Severity = telemetry.Info
	s := senderOf(t, &Output{Syslog: &Syslog{Address: "udp://127.0.0.1:9", Facility: "local3"}}).(*syslog)
	for _, c := range []struct {
		n        *Notification
		priority string
		line     string
	}{
		{message(t), "154", `firing: link-lost: a "link" is [lost]??[31mµ`}, // 19*8 + 2
		{resolved, "157", `resolved (forgotten): link-lost: a "link" is [lost]??[31mµ`},
		{mild, "158", ""},
		{long, "154", ""},
	} {
		got := s.message(c.n)
		m := rfc5424.FindStringSubmatch(string(got))
		if m == nil || len(got) > 2048 {
			t.Errorf("%d bytes, not RFC 5424: %q", len(got), got)
			continue
		}
		if m[1] != c.priority || m[2] != "1" || m[5] != "waybill" || m[7] != strings.TrimPrefix(c.n.Type, "alert.") ||
			m[8] != "waybill@32473" || c.line != "" && m[10] != c.line {
			t.Errorf("got %q", m[1:])
		}
		if c.n != long &&
			(!strings.Contains(m[9], ` node="leaf1"`) || !strings.Contains(m[9], ` team="fab\"ric\\\]"`) ||
				!strings.Contains(m[9], ` reason="bad??reason"`)) {
			t.Errorf("got %q", m[9])
		}
	}
}

// Each way to a syslog server ends with the message there, whole.
func TestSyslogTransports(t *testing.T) {
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if err := senderOf(t, &Output{Syslog: &Syslog{Address: "udp://" + udp.LocalAddr().String()}}).send(t.Context(),
		message(t)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	_ = udp.SetReadDeadline(time.Now().Add(time.Minute))
	n, _, err := udp.ReadFrom(b)
	if err != nil || !rfc5424.Match(b[:n]) {
		t.Errorf("udp: %v %q", err, b[:n])
	}

	tlsServer := httptest.NewTLSServer(nil) // for its certificate
	defer tlsServer.Close()
	ca := caFile(t, tlsServer)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, o := range []*Syslog{{Address: "tcp://" + plain.Addr().String()}, {Address: "tls://", CA: ca}} {
		listener := plain
		if o.CA != "" {
			listener = tlsListener(t, tlsServer)
			o.Address += listener.Addr().String()
		}
		got := make(chan string, 1)
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				got <- err.Error()
				return
			}
			defer conn.Close()
			got <- framed(conn)
		}()
		if err := senderOf(t, &Output{Syslog: o}).send(t.Context(), message(t)); err != nil {
			t.Errorf("%s: %v", o.Address, err)
		}
		if text := <-got; !rfc5424.MatchString(text) {
			t.Errorf("%s: %q", o.Address, text)
		}
	}
}

// tlsListener listens with the certificate of a server.
func tlsListener(t *testing.T, server *httptest.Server) net.Listener {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: server.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// framed reads SYSLOG-FRAME of RFC 6587 §3.4.1: MSG-LEN SP SYSLOG-MSG, and nothing behind it.
func framed(conn net.Conn) string {
	r := bufio.NewReader(conn)
	digits, err := r.ReadString(' ')
	if err != nil {
		return err.Error()
	}
	length, err := strconv.Atoi(strings.TrimSuffix(digits, " "))
	if err != nil || digits[0] == '0' {
		return digits
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return err.Error()
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		return fmt.Sprint("more: ", rest, err)
	}
	return string(text)
}

// A syslog server that breaks the connection off has not got the message; one that is silent is believed.
func TestSyslogReset(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	silent := make(chan net.Conn, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // close resets
		conn.Close()
		if conn, err = listener.Accept(); err == nil {
			silent <- conn
		}
	}()
	s := senderOf(t, &Output{Syslog: &Syslog{Address: "tcp://" + listener.Addr().String()}})
	if err := s.send(t.Context(), message(t)); err == nil {
		t.Error("a connection that was reset passed for a delivery")
	}
	if err := s.send(t.Context(), message(t)); err != nil {
		t.Error(err)
	}
	(<-silent).Close()
}

// program writes a shell script and returns its path.
func program(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// A command gets its arguments as they are and the message on its input, and nothing of the environment.
func TestCommand(t *testing.T) {
	t.Setenv("WAYBILL_TOKEN", "hunter2")
	out := filepath.Join(t.TempDir(), "out")
	c := senderOf(t,
		&Output{Command: &Command{
			Path: program(t, `{ printf '%s\n' "$@"; env; pwd; cat; } > "$1"`),
			Args: []string{out, "$HOME; `id`"},
		}})
	if err := c.send(t.Context(), message(t)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var n Notification
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &n); err != nil || n.ID != message(t).ID {
		t.Errorf("%v: %s", err, text)
	}
	if lines[1] != "$HOME; `id`" || !slices.Contains(lines, "/") || strings.Contains(string(text), "hunter2") ||
		strings.Contains(string(text), "HOME=") {
		t.Errorf("got %s", text)
	}
}

// A command that fails is tried again, and its last words are known; one that takes too long is killed with its
// children.
func TestCommandFails(t *testing.T) {
	err := senderOf(t,
		&Output{Command: &Command{Path: program(t, "cat > /dev/null; echo out; echo no modem >&2; exit 3")}}).send(
		t.Context(), message(t))
	var reply answered
	if !errors.As(err, &reply) || err.Error() != "exit status 3: no modem" {
		t.Errorf("got %v", err)
	}
	pid := filepath.Join(t.TempDir(), "pid")
	c := senderOf(t,
		&Output{Command: &Command{
			Path: program(t, `sleep 1000 & echo $! > "$1.new"; mv "$1.new" "$1"; wait`),
			Args: []string{pid},
		}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.send(ctx, message(t)) }()
	var child string
	eventually(t, "the child", func() bool {
		text, err := os.ReadFile(pid)
		child = strings.TrimSpace(string(text))
		return err == nil
	})
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("got %v", err)
	}
	eventually(t, "the end of the child", func() bool {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		return errors.Is(err, os.ErrNotExist) || strings.Contains(string(stat), ") Z ") // nobody may wait for it here
	})
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 3000 { // half a minute: how long it takes on a busy machine is not what is tested
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not happen", what)
}

// A real receiver that fails, is down and comes back gets each message once, in order, though it is asked often.
func TestDelivery(t *testing.T) {
	var mu sync.Mutex
	var got []string
	asked := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var n Notification
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		if asked++; asked <= 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got = append(got, n.Type+" "+number(n.Data.Event.Node))
	})
	wanted := func(want ...string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Equal(got, want)
		}
	}
	server := httptest.NewServer(handler)
	events := &script{}
	e, err := New(configOf(t,
		"rules: [{name: a, filter: kind = link_lost, clear_after: 0s, outputs: [a]}]\noutputs: {a: {webhook: {url: '"+
			server.URL+"'}}}"),
		Deps{Events: events, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e.backoff = func(int) time.Duration { return 20 * time.Millisecond }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	events.begin(lost(1))
	eventually(t, "the first message", wanted("alert.firing 1"))
	address := server.Listener.Addr().String()
	server.CloseClientConnections()
	server.Close()
	events.end(1)
	events.begin(lost(2))
	eventually(t, "failing", func() bool {
		return e.Counters().Outputs[0].Waiting == 2 && e.Counters().Outputs[0].Outcomes[Retried] > 5
	})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := &http.Server{Handler: handler}
	go func() { _ = again.Serve(listener) }()
	defer again.Close()
	// The two are of one look, in no order.
	eventually(t, "the rest", func() bool {
		return wanted("alert.firing 1", "alert.resolved 1", "alert.firing 2")() ||
			wanted("alert.firing 1", "alert.firing 2", "alert.resolved 1")()
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c := e.Counters().Outputs[0]; c.Outcomes[Delivered] != 3 || c.Waiting != 0 {
		t.Errorf("got %+v", c)
	}
}
