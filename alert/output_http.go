package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A poster posts JSON to a server.
type poster struct {
	url     string
	headers map[string]string
	client  *http.Client
}

func newPoster(h *HTTP, path string) (*poster, error) {
	config, err := tlsConfig(h.CA)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	transport.MaxIdleConns, transport.IdleConnTimeout = 1, 30*time.Second
	return &poster{
		url: h.URL + path, headers: h.Headers,
		// A redirect would take the message, and its headers, to where nobody configured.
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// post sends a body with headers. Errors do not tell the URL, which may hold a secret.
func (p *poster) post(ctx context.Context, body []byte, headers map[string]string) error {
	return p.do(ctx, http.MethodPost, body, headers)
}

func (p *poster) do(ctx context.Context, method string, body []byte, headers map[string]string) error {
	request, err := http.NewRequestWithContext(ctx, method, p.url, bytes.NewReader(body))
	if err != nil {
		return permanent{errors.New("the URL cannot be used")}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "waybill")
	for name, value := range p.headers {
		request.Header.Set(name, value)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := p.client.Do(request)
	if err != nil {
		if hidden, ok := errors.AsType[*url.Error](err); ok {
			err = hidden.Err
		}
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	return judge(response, time.Now())
}

// judge says what a response means: nil if the message was taken.
func judge(response *http.Response, now time.Time) error {
	code := response.StatusCode
	err := fmt.Errorf("the receiver answered %d %s", code, http.StatusText(code))
	switch {
	case code >= 200 && code < 300:
		return nil
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly,
		code == http.StatusTooManyRequests:
		return answered{err, retryAfter(response.Header.Get("Retry-After"), now)}
	}
	return permanent{err}
}

// retryAfter reads the header Retry-After (RFC 9110 §10.2.3): seconds or a date; 0 if there is none. It is at most
// maxAfter.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxAfter)
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), maxAfter)
	}
	return 0
}
