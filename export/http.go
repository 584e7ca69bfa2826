package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/waybill-int/waybill/internal/conf/secure"
)

// ErrRefused says that the other side will never take what it got.
var ErrRefused = errors.New("refused")

// HTTP says where an output posts to.
type HTTP struct {
	URL       string `yaml:"url" doc:"where it is, http:// or https://"`
	TokenFile string `yaml:"token_file" doc:"file with a token to show, as Authorization: Bearer"`
	TLS       TLS    `yaml:"tls" doc:"how https is secured"`
}

// Check refuses what cannot work.
func (h *HTTP) Check() error {
	_, err := h.Client()
	return err
}

// Client returns what posts.
func (h *HTTP) Client() (*Client, error) {
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("url: got %q, want http://HOST:PORT or https://HOST:PORT", h.URL)
	}
	if h.TLS.On && u.Scheme != "https" {
		return nil, errors.New("url: want https:// with tls")
	}
	config, err := h.TLS.Config()
	if err != nil {
		return nil, err
	}
	token, err := Secret("token_file", h.TokenFile)
	if err != nil {
		return nil, err
	}
	if token != "" && !secure.IsPrivate(u) {
		return nil, errors.New("token_file: a token would be sent in the clear; want https://")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	return &Client{url: strings.TrimSuffix(h.URL, "/"), token: token, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// A Client posts to one place.
type Client struct {
	url, token string
	http       *http.Client
}

// Post sends a body to the URL with path behind it. The error is ErrRefused if the same body will never be taken.
func (c *Client) Post(ctx context.Context, path string, header map[string]string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for key, value := range header {
		r.Header.Set(key, value)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
	switch {
	case answer.StatusCode/100 == 2:
		return nil
	case answer.StatusCode == http.StatusBadRequest, answer.StatusCode == http.StatusRequestEntityTooLarge,
		answer.StatusCode == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %s: %s", ErrRefused, answer.Status, bytes.TrimSpace(text))
	}
	return fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(text))
}

// Close gives back the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
