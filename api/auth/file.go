package auth

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
)

const (
	// maxTokens is how many tokens a file may hold: each request is compared with all of them.
	maxTokens = 1000
	// maxName is the length of a name, in bytes.
	maxName = 64
)

// tokensFile is the content of a tokens file.
type tokensFile struct {
	Tokens []Token `yaml:"tokens"`
}

// ReadTokens reads a tokens file, YAML or JSON. It is read strictly: who edits one by hand must not give a token more
// rights, or a longer life, by a slip of the pen.
func ReadTokens(name string) ([]Token, error) {
	text, err := conf.Kind{}.Read(name)
	if err != nil {
		return nil, err
	}
	tokens, err := ParseTokens(text)
	return tokens, conf.InFile(name, err)
}

// ParseTokens reads the text of a tokens file. Messages do not repeat it: it may hold a token instead of its hash.
func ParseTokens(text []byte) ([]Token, error) {
	var f tokensFile
	file, err := conf.Kind{Secret: true}.Parse("", text, &f)
	if err != nil {
		return nil, err
	}
	if len(f.Tokens) > maxTokens {
		file.Say("tokens", "got %d, want at most %d", len(f.Tokens), maxTokens)
		return nil, file.Err()
	}
	names, digests := map[string]bool{}, map[Digest]bool{}
	for i := range f.Tokens {
		t, at := &f.Tokens[i], fmt.Sprintf("tokens[%d]", i)
		if err := CheckName(t.Name); err != nil {
			file.Say(at+".name", "%s", strings.TrimPrefix(err.Error(), "name: "))
		}
		if t.Role == Nobody {
			file.Say(at+".role", "want read, operate or admin")
		}
		if t.SHA256 == (Digest{}) {
			file.Say(at+".sha256", "want %d hexadecimal digits", 2*len(t.SHA256))
		}
		if names[t.Name] || digests[t.SHA256] {
			file.Say(at, "%s, or its hash, is there twice", t.Name)
		}
		names[t.Name], digests[t.SHA256] = true, true
	}
	if file.Err() != nil {
		return nil, file.Err()
	}
	return f.Tokens, nil
}

// CheckName refuses names that would not be safe to print, or hard to type.
func CheckName(name string) error {
	if name == "" || len(name) > maxName ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-") != "" {
		return fmt.Errorf("name: got %q, want 1 to %d of a-z, A-Z, 0-9 and . _ @ -", name, maxName)
	}
	return nil
}

// WriteTokens replaces a tokens file in one step: a server that reads at the same time sees the old or the new one. A
// new file can be read by its owner only; an existing one keeps its mode, and its owner if this process may give it
// away.
func WriteTokens(name string, tokens []Token) error {
	file := tokensFile{Tokens: slices.Clone(tokens)}
	for i := range file.Tokens {
		t := &file.Tokens[i]
		t.Created, t.Expires = t.Created.UTC().Truncate(time.Second), t.Expires.UTC().Truncate(time.Second)
	}
	text, err := conf.Format(file)
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
