package auth

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/waybill-int/waybill/internal/yamldoc"
)

const (
	// maxTokens is how many tokens a file may hold: each request is compared with all of them.
	maxTokens = 1000
	// maxTokensFile is the size of a tokens file, in bytes.
	maxTokensFile = 1 << 20
	// maxName is the length of a name, in bytes.
	maxName = 64
)

// tokensFile is the content of a tokens file.
type tokensFile struct {
	Tokens []tokenEntry `yaml:"tokens"`
}

type tokenEntry struct {
	Name    string `yaml:"name"`
	Role    string `yaml:"role"`
	SHA256  string `yaml:"sha256"`
	Created string `yaml:"created,omitempty"`
	Expires string `yaml:"expires,omitempty"`
}

// ReadTokens reads a tokens file, YAML or JSON. It is read strictly: who edits one by hand must not give a token more
// rights, or a longer life, by a slip of the pen.
func ReadTokens(name string) ([]Token, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTokensFile+1))
	if err != nil {
		return nil, err
	}
	tokens, err := ParseTokens(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return tokens, nil
}

// ParseTokens reads the text of a tokens file.
func ParseTokens(text []byte) ([]Token, error) {
	if len(text) > maxTokensFile {
		return nil, fmt.Errorf("longer than %d bytes", maxTokensFile)
	}
	parsed, err := yamldoc.Parse(text)
	if err != nil {
		return nil, oneLine(err)
	}
	var file tokensFile
	for i, document := range parsed.Docs {
		if i > 0 {
			return nil, errors.New("more than one YAML document")
		}
		if document.Body == nil {
			continue
		}
		if err := yamldoc.Decode(document.Body, &file); err != nil {
			return nil, oneLine(err)
		}
	}
	if len(file.Tokens) > maxTokens {
		return nil, fmt.Errorf("got %d tokens, want at most %d", len(file.Tokens), maxTokens)
	}
	tokens := make([]Token, len(file.Tokens))
	names, digests := map[string]bool{}, map[Digest]bool{}
	for i := range file.Tokens {
		t, err := file.Tokens[i].token()
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		if names[t.Name] || digests[t.SHA256] {
			return nil, fmt.Errorf("token %d: %s, or its hash, is there twice", i+1, t.Name)
		}
		names[t.Name], digests[t.SHA256] = true, true
		tokens[i] = t
	}
	return tokens, nil
}

func (e *tokenEntry) token() (t Token, err error) {
	if err = CheckName(e.Name); err != nil {
		return t, err
	}
	t.Name = e.Name
	if t.Role, err = ParseRole(e.Role); err != nil {
		return t, fmt.Errorf("role: %w", err)
	}
	if err = t.SHA256.UnmarshalText([]byte(e.SHA256)); err != nil {
		return t, err
	}
	if e.Created != "" {
		if t.Created, err = time.Parse(time.RFC3339, e.Created); err != nil {
			return t, fmt.Errorf("created: got %q, want a time such as 2026-11-21T09:00:00Z", e.Created)
		}
	}
	if e.Expires != "" {
		if t.Expires, err = time.Parse(time.RFC3339, e.Expires); err != nil {
			return t, fmt.Errorf("expires: got %q, want a time such as 2026-11-21T09:00:00Z", e.Expires)
		}
	}
	return t, nil
}

// CheckName refuses names that would not be safe to print, or hard to type.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-") != "" {
		return fmt.Errorf("name: got %q, want 1 to %d of a-z, A-Z, 0-9 and . _ @ -", name, maxName)
	}
	return nil
}

// WriteTokens replaces a tokens file in one step: a server that reads at the same time sees the old or the new one. A new
// file can be read by its owner only; an existing one keeps its mode, and its owner if this process may give it away.
func WriteTokens(name string, tokens []Token) error {
	file := tokensFile{Tokens: make([]tokenEntry, len(tokens))}
	for i, t := range tokens {
		digest, _ := t.SHA256.MarshalText()
		e := tokenEntry{Name: t.Name, Role: t.Role.String(), SHA256: string(digest)}
		if !t.Created.IsZero() {
			e.Created = t.Created.UTC().Format(time.RFC3339)
		}
		if !t.Expires.IsZero() {
			e.Expires = t.Expires.UTC().Format(time.RFC3339)
		}
		file.Tokens[i] = e
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(name) // the file is replaced, not the link to it
	if err != nil {
		target = name
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".tokens-*") // mode 0600
	if err != nil {
		return err
	}
	if old, statErr := os.Stat(target); statErr == nil {
		err = f.Chmod(old.Mode().Perm())
		keepOwner(f, old)
	}
	_, writeErr := f.Write(text)
	err = cmp.Or(err, writeErr, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// oneLine cuts the excerpt off that the YAML library adds to its errors: it could hold more of the file than a log should.
func oneLine(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(text)
}
