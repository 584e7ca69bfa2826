package alert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// A webhook posts notifications as JSON. With a secret they are signed as the Standard Webhooks specification has it
// (standardwebhooks.com), for which there are libraries in most languages: over id, time and body, so that a message
// cannot be made up, changed, or sent again later.
type webhook struct {
	*poster
	key []byte // nil: not signed
}

func newWebhook(w *Webhook) (*webhook, error) {
	secret := w.Secret
	if w.SecretFile != "" {
		text, err := os.ReadFile(w.SecretFile)
		if err != nil {
			return nil, fmt.Errorf("secret_file: %w", err)
		}
		if secret = strings.TrimSpace(string(text)); secret == "" {
			return nil, errors.New("secret_file: it is empty")
		}
	}
	key, err := signingKey(secret)
	if err != nil {
		return nil, err
	}
	p, err := newPoster(&w.HTTP, "")
	return &webhook{p, key}, err
}

// signingKey returns the key that a secret stands for: base64 behind "whsec_", else the text itself. Empty: none.
func signingKey(secret string) ([]byte, error) {
	if secret == "" {
		return nil, nil
	}
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, errors.New("secret: want base64 behind whsec_")
		}
	}
	if len(key) < 16 {
		return nil, errors.New("secret: want at least 16 bytes")
	}
	return key, nil
}

func (w *webhook) send(ctx context.Context, n *Notification) error {
	return w.sign(ctx, http.MethodPost, n.ID, n.json())
}

// sign sends a message once, signed if there is a key.
func (w *webhook) sign(ctx context.Context, method, id string, body []byte) error {
	now := time.Now().Unix()
	headers := map[string]string{"Webhook-Id": id, "Webhook-Timestamp": strconv.FormatInt(now, 10)}
	if w.key != nil {
		headers["Webhook-Signature"] = signature(w.key, id, now, body)
	}
	return w.do(ctx, method, body, headers)
}

// A Sender sends messages to a webhook that are not of alerts, signed as those are.
type Sender struct {
	webhook *webhook
	timeout time.Duration
}

// NewSender returns what sends to a webhook. Without a secret nobody could tell who sends, so it must have one.
func NewSender(w *Webhook) (*Sender, error) {
	if w.Secret == "" && w.SecretFile == "" {
		return nil, errors.New("want secret or secret_file")
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	hook, err := newWebhook(w)
	return &Sender{hook, or(w.Timeout, defaultTimeout)}, err
}

// sendTries is how often a Sender tries to send a message.
const sendTries = 4

// Send sends a message and returns when the receiver took it. It tries again, as alerts do, where that may help, until
// ctx is done or it was tried four times.
func (s *Sender) Send(ctx context.Context, method, id string, body []byte) error {
	for tried := 1; ; tried++ {
		once, cancel := context.WithTimeout(ctx, s.timeout)
		err := s.webhook.sign(once, method, id, body)
		cancel()
		var never permanent
		var reply answered
		if err == nil || errors.As(err, &never) || tried == sendTries {
			return err
		}
		wait := backoff(tried)
		if errors.As(err, &reply) {
			wait = max(wait, reply.after)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// signature signs a message that is sent at a time, in seconds since 1970.
func signature(key []byte, id string, at int64, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
