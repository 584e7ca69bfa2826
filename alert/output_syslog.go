package alert

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/waybill-int/waybill/telemetry"
)

// facilities are the names of RFC 5424 §6.2.1, at their numbers.
var facilities = []string{
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
	"audit", "alert", "clock",
	"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
}

const (
	// maxSyslog is the length of a message in bytes: receivers should take as much (RFC 5424 §6.1).
	maxSyslog = 2048
	// maxParam is the length of a value of structured data.
	maxParam = 128
	// sdID names the structured data. 32473 is the number for those that have none of their own (RFC 5612).
	sdID = "waybill@32473"
	// syslogEcho is how long a server may take to close the connection when it has the message.
	syslogEcho = time.Second
)

// A syslog sends messages of RFC 5424: over UDP one in a datagram (RFC 5426), over TCP and TLS each over a connection
// of its own, with its length in front (RFC 6587 §3.4.1, RFC 5425 §4.3).
type syslog struct {
	network, address string
	facility         int
	tls              *tls.Config
	host             string
}

func newSyslog(s *Syslog) (*syslog, error) {
	network, address, _ := strings.Cut(s.Address, "://")
	facility := s.Facility
	if facility == "" {
		facility = defaultFacility
	}
	config, err := tlsConfig(s.CA)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	return &syslog{network, address, slices.Index(facilities, facility), config, headerText(host, 255)}, nil
}

func (s *syslog) send(ctx context.Context, n *Notification) error {
	message := s.message(n)
	var dialer net.Dialer
	switch s.network {
	case "udp":
		conn, err := dialer.DialContext(ctx, "udp", s.address)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write(message)
		return err
	case "tls":
		dialer := tls.Dialer{NetDialer: &dialer, Config: s.tls}
		conn, err := dialer.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return err
		}
		return deliverStream(ctx, conn, message)
	}
	conn, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	return deliverStream(ctx, conn, message)
}

// deliverStream writes a message and says that nothing follows. Syslog has no answer: a server that closes the
// connection in order has read it, one that breaks it off has not, and one that does nothing is believed.
func deliverStream(ctx context.Context, conn net.Conn, message []byte) error {
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(defaultTimeout)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetDeadline(deadline)
	if _, err := fmt.Fprintf(conn, "%d %s", len(message), message); err != nil {
		return err
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return err
	}
	if echo := time.Now().Add(syslogEcho); echo.Before(deadline) {
		_ = conn.SetReadDeadline(echo)
	}
	_, err := io.Copy(io.Discard, io.LimitReader(conn, maxSyslog))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// message returns n as RFC 5424 has it.
func (s *syslog) message(n *Notification) []byte {
	b := fmt.Appendf(nil, "<%d>1 %s %s waybill %d %s ", s.facility*8+syslogSeverity(n),
		n.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), s.host, os.Getpid(), strings.TrimPrefix(n.Type, "alert."))
	b = append(b, "["+sdID...)
	labels := labelsOf(&n.Data)
	labels["id"], labels["message"] = n.Data.ID, n.ID
	if n.Data.Resolution != "" {
		labels["resolution"] = string(n.Data.Resolution)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		b = appendParam(b, name, labels[name])
	}
	b = append(b, "] \xef\xbb\xbf"...) // what follows is UTF-8
	b = append(b, oneLine(n.line())...)
	if len(b) > maxSyslog {
		b = []byte(strings.ToValidUTF8(string(b[:maxSyslog]), ""))
	}
	return b
}

// syslogSeverity is that of RFC 5424 §6.2.1: 2 critical, 4 warning, 5 notice, 6 informational.
func syslogSeverity(n *Notification) int {
	switch {
	case n.Type == typeResolved:
		return 5
	case n.Type == typeTest:
		return 6
	case n.Data.Severity == telemetry.Critical:
		return 2
	case n.Data.Severity == telemetry.Warning:
		return 4
	}
	return 6
}

// appendParam appends a value of structured data, unless it would leave no room for the text: maxSyslog would cut it
// open.
func appendParam(b []byte, name, value string) []byte {
	value = oneLine(value)
	for len(value) > maxParam {
		_, last := utf8.DecodeLastRuneInString(value)
		value = value[:len(value)-last]
	}
	value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `]`, `\]`).Replace(value)
	name = name[:min(len(name), 32)] // SD-NAME
	if len(b)+len(name)+len(value)+4 > maxSyslog/2 {
		return b
	}
	return append(b, " "+name+`="`+value+`"`...)
}

// oneLine replaces what a terminal would act on and what is not UTF-8.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return '?'
		}
		return r
	}, text)
}

// headerText returns a text of printable ASCII for a field of the header, "-" for none.
func headerText(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < 33 || r > 126 {
			return -1
		}
		return r
	}, text)
	if text == "" {
		return "-"
	}
	return text[:min(len(text), most)]
}
