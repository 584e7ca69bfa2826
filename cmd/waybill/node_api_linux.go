package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/node/kernel"
)

// leastToken is how long a token of the API of a node is at least: such as openssl rand -hex 16 makes.
const leastToken = 16

// serveNodeAPI answers handler over TLS to who has the token, until ctx is done. It returns where.
func serveNodeAPI(ctx context.Context, a *kernel.API, handler http.Handler, log *slog.Logger) (net.Addr, error) {
	token, err := readToken(a.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("api: token_file: %w", err)
	}
	certificate, err := auth.OpenTLS(a.Cert, a.Key, "", func(err error) {
		if err != nil {
			log.Error("the old certificate of the API still counts", "error", err)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	l, err := net.Listen("tcp", a.Listen)
	if err != nil {
		return nil, fmt.Errorf("api: listen: %w", err)
	}
	server := &http.Server{
		Handler: withToken(token, handler), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	limited := auth.LimitConnections(l, 64, 16)
	go func() { _ = server.Serve(tls.NewListener(limited, certificate.Config())) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return l.Addr(), nil
}

// readToken reads a file with nothing else in it.
func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s: want one word of at least %d characters, such as openssl rand -hex 16 makes", file,
			leastToken)
	}
	return token, nil
}

// withToken lets requests with the token pass. How long the comparison takes says nothing of it.
func withToken(token string, handler http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "want the token of this node", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// transport returns how a node is reached at a URL, and its token.
func (c *nodeClient) transport() (http.RoundTripper, string, error) {
	if !strings.HasPrefix(c.url, "https://") {
		return nil, "", fmt.Errorf("--url: got %q, want https://HOST:PORT", c.url)
	}
	if c.tokenFile == "" {
		return nil, "", errors.New("--url wants --token-file, the file with the token of the node")
	}
	token, err := readToken(c.tokenFile)
	if err != nil {
		return nil, "", fmt.Errorf("--token-file: %w", err)
	}
	config, err := auth.ClientTLS(c.ca, "", "")
	if err != nil {
		return nil, "", fmt.Errorf("--ca: %w", err)
	}
	return &http.Transport{TLSClientConfig: config}, token, nil
}
