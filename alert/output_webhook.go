package alert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
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
	body := n.json()
	now := time.Now().Unix()
	headers := map[string]string{"Webhook-Id": n.ID, "Webhook-Timestamp": strconv.FormatInt(now, 10)}
	if w.key != nil {
		headers["Webhook-Signature"] = signature(w.key, n.ID, now, body)
	}
	return w.post(ctx, body, headers)
}

// signature signs a message that is sent at a time, in seconds since 1970.
func signature(key []byte, id string, at int64, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
