package mitigate

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/waybill-int/waybill/telemetry"
)

// AuditFile is the name of the audit file: a JSON object for each action, one a line.
const AuditFile = "mitigation.log"

const (
	// maxActions is how many actions are told; the files have more.
	maxActions = 10_000
	// maxAudit is how long the file gets, in bytes: then it becomes the older one, and a new one begins.
	maxAudit = 16 << 20
)

// An Audit is what was done about attacks. Its file is opened for each line, so that it can be moved away. A full one
// becomes FILE.1, and what was FILE.1 is gone.
type Audit struct {
	path string // "": memory only
	most int64  // bytes of a file

	mu      sync.Mutex
	torn    bool // the last line of the file has no end, for the process died while it wrote
	actions []telemetry.MitigationAction
}

// OpenAudit reads the audit trail of a file, which need not be there, and adds to it from then on. Without a path it is
// kept in memory. Lines that cannot be read, such as the last one of a crash, are left out.
func OpenAudit(path string) (*Audit, error) {
	a := &Audit{path: path, most: maxAudit}
	if path == "" {
		return a, nil
	}
	for _, one := range []string{path + older, path} {
		if err := a.read(one); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return a, nil
}

// older is behind the name of the file before.
const older = ".1"

// read keeps what is in a file.
func (a *Audit) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	a.torn = false
	if end, err := f.Seek(-1, io.SeekEnd); err == nil { // it is not empty
		var last [1]byte
		if _, err := f.ReadAt(last[:], end); err != nil {
			return err
		}
		a.torn = last[0] != '\n'
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one telemetry.MitigationAction
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			a.keep(one)
		}
	}
	return lines.Err()
}

func (a *Audit) keep(one telemetry.MitigationAction) {
	if a.actions = append(a.actions, one); len(a.actions) > maxActions {
		a.actions = slices.Delete(a.actions, 0, maxActions/10)
	}
}

// Add adds an action. It is on disk when Add returns.
func (a *Audit) Add(one telemetry.MitigationAction) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keep(one)
	if a.path == "" {
		return nil
	}
	text, err := json.Marshal(&one)
	if err != nil {
		return err
	}
	if info, err := os.Stat(a.path); err == nil && info.Size() >= a.most {
		if err := os.Rename(a.path, a.path+older); err != nil {
			return err
		}
		a.torn = false
	}
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if a.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := f.Write(text)
	a.torn = n < len(text) && (n > 0 || a.torn) // a full disk
	return errors.Join(err, f.Sync(), f.Close())
}

// Of returns what was done about an attack, the oldest first.
func (a *Audit) Of(attack string) []telemetry.MitigationAction {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []telemetry.MitigationAction{}
	for i := range a.actions {
		if a.actions[i].Attack == attack {
			list = append(list, a.actions[i])
		}
	}
	return list
}
