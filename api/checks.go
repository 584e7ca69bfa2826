package api

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
)

const (
	// maxURL is the length of path and query that a request may have: a filter of the largest size fits, however it is
	// written.
	maxURL = 64 << 10
	// maxBody is the size of a body, in bytes. It is read before a handler is called, so that all know the same answer
	// to one that is too large, and none waits for one that comes slowly.
	maxBody = 64 << 10
	// maxRequests is how many requests are answered at a time. It is more than browsers and tools of one team have.
	maxRequests = 256
	// A client may send requestsPerSecond requests for long, and requestBurst at once. A page of the console sends ten
	// a second.
	requestsPerSecond, requestBurst = 200, 400
	// A client may give failureBurst tokens that are not valid, and then one every failureEvery.
	failureBurst = 5
	failureEvery = 12 * time.Second
)

// checks are what a request passes before a handler sees it. They know nothing of the handlers.
type checks struct {
	cfg         Config
	guard       *auth.Guard
	crossOrigin *http.CrossOriginProtection
	requests    *auth.Limit
	failures    *auth.Limit // of tokens that are not valid
	slots       semaphore
	role        func(*http.Request) auth.Role // that a request needs

	refused      [len(refusals)]atomic.Uint64
	failedLogins atomic.Uint64
	defects      atomic.Uint64  // that requests met
	say          rate.Sometimes // log lines about strangers
}

func newChecks(cfg Config, role func(*http.Request) auth.Role) *checks {
	return &checks{
		cfg: cfg, guard: cfg.Access, crossOrigin: http.NewCrossOriginProtection(),
		requests: auth.NewLimit(requestsPerSecond, requestBurst),
		failures: auth.NewLimit(1/failureEvery.Seconds(), failureBurst),
		slots:    make(semaphore, maxRequests), role: role, say: rate.Sometimes{Interval: time.Minute},
	}
}

// before puts the checks in front of h, in the order in which a request meets them.
func (c *checks) before(h http.Handler) http.Handler {
	steps := []func(next http.Handler) http.Handler{
		c.headers,      // what keeps browsers safe is on every answer
		c.panics,       // of all that follows
		c.length,       // of path and query
		c.host,         // pages of other sites: names that point here
		c.origin,       // pages of other sites: requests
		c.frequency,    // how often a client may ask
		c.logIn,        // what nobody needs to be logged in for
		c.authenticate, // who asks
		c.authorize,    // what they may do
		c.concurrency,  // how much is done at a time; strangers take no part of that
		c.audit,        // what they do
		c.body,         // what they send
	}
	for i := len(steps) - 1; i >= 0; i-- {
		h = steps[i](h)
	}
	return h
}

// A refusal is why a request was not answered. It is the label reason of waybill_http_refused_total.
type refusal int

const (
	refusedLength refusal = iota
	refusedHost
	refusedOrigin
	refusedFrequency
	refusedConcurrency
	refusedUnknown
	refusedRole
	refusedBody
)

var refusals = [...]string{
	"url_too_long", "wrong_host", "cross_origin", "too_often", "too_many", "not_logged_in",
	"not_allowed", "body_too_large",
}

func (c *checks) refuse(w http.ResponseWriter, why refusal, p *types.Problem) {
	c.refused[why].Add(1)
	p.Write(w)
}

func (c *checks) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		next.ServeHTTP(w, r)
	})
}

func (c *checks) length(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Path)+len(r.URL.RawQuery) > maxURL {
			c.refuse(w, refusedLength,
				types.NewProblem(http.StatusRequestURITooLong, "path and query are longer than %d bytes", maxURL))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// host stops pages of another site that let their own name point to 127.0.0.1 and read what they get from there (DNS
// rebinding). Their requests carry that name.
func (c *checks) host(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if onLoopback(r) && !c.cfg.knowsHost(r.Host) {
			c.refuse(w, refusedHost,
				types.NewProblem(http.StatusMisdirectedRequest,
					"this server is not %q; if a proxy asks by that name, configure it", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// origin refuses what pages of another site let a browser send, which adds the cookie of the session, or comes from
// this machine as its user does: they could not read the answer, but make the server work for it. They may link to the
// console and the docs. Programs that are no browsers send neither Origin nor Sec-Fetch-Site.
func (c *checks) origin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		checked := *r
		if !followsLink(r) {
			checked.Method = http.MethodPost // CrossOriginProtection lets all GET pass
		}
		if err := c.crossOrigin.Check(&checked); err != nil {
			c.refuse(w, refusedOrigin,
				types.NewProblem(http.StatusForbidden, "%s %s is not possible from a page of another site", r.Method,
					r.URL.Path))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// followsLink reports whether a browser opens a page as a document of its own, and not in a page of another site.
func followsLink(r *http.Request) bool {
	page := !strings.HasPrefix(r.URL.Path+"/", "/metrics/") && !strings.HasPrefix(r.URL.Path+"/", "/api/")
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

func (c *checks) frequency(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait, ok := c.requests.Take(c.guard.ClientOf(r), time.Now()); !ok {
			retryAfter(w, wait)
			c.refuse(w, refusedFrequency,
				types.NewProblem(http.StatusTooManyRequests, "more than %d requests a second", requestsPerSecond))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (c *checks) concurrency(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		release, ok := c.slots.try()
		if !ok {
			retryAfter(w, time.Second)
			c.refuse(w, refusedConcurrency,
				types.NewProblem(http.StatusServiceUnavailable, "too many concurrent requests (limit %d)", maxRequests))
			return
		}
		defer release()
		next.ServeHTTP(w, r)
	})
}

func (c *checks) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.role(r) == auth.Nobody {
			next.ServeHTTP(w, r)
			return
		}
		id, err := c.guard.Identify(r, time.Now())
		switch {
		case err == nil:
			next.ServeHTTP(w, r.WithContext(auth.With(r.Context(), id)))
		case errors.Is(err, auth.ErrCertificate), errors.Is(err, auth.ErrNoRole):
			c.refuse(w, refusedRole, types.NewProblem(http.StatusForbidden, "%v", err))
		case !errors.Is(err, auth.ErrMissing):
			p := c.failed(w, r, err)
			c.refuse(w, refusedUnknown, p)
		case c.guard.HasLogIn() && r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == "/index.html"):
			c.refused[refusedUnknown].Add(1)
			c.writeLogIn(w, http.StatusUnauthorized, "")
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="waybill"`)
			c.refuse(w, refusedUnknown, types.NewProblem(http.StatusUnauthorized, "%v", err))
		}
	})
}

// failed takes note of a token that is not valid, and returns what to answer. Only those that are not valid are
// limited: nobody guesses 256 bits, and who tries must not lock out others behind the same address.
func (c *checks) failed(w http.ResponseWriter, r *http.Request, why error) *types.Problem {
	n, from := c.failedLogins.Add(1), c.guard.ClientOf(r)
	c.say.Do(func() { c.cfg.Logger.Warn("log-in failed", "from", from, "why", why, "failed_so_far", n) })
	if wait, ok := c.failures.Take(from, time.Now()); !ok {
		retryAfter(w, wait)
		return types.NewProblem(http.StatusTooManyRequests,
			"too many log-ins from this address failed; the last one because %v", why)
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="waybill", error="invalid_token"`)
	return types.NewProblem(http.StatusUnauthorized, "%v", why)
}

func (c *checks) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		need, id := c.role(r), auth.From(r.Context())
		if id.Role < need {
			c.refuse(w, refusedRole,
				types.NewProblem(http.StatusForbidden, "%s %s needs the role %s; %s has %s", r.Method, r.URL.Path, need,
					id.Name, id.Role))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// audit writes down who did what, once it is done.
func (c *checks) audit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.role(r) <= auth.Read {
			next.ServeHTTP(w, r)
			return
		}
		id, status := auth.From(r.Context()), statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			c.cfg.Logger.Info("audit", "who", id.Name, "role", id.Role.String(), "by", id.By, "from",
				c.guard.ClientOf(r), "method", r.Method, "path", r.URL.Path, "status", status.status)
		}()
		next.ServeHTTP(&status, r)
	})
}

// A statusWriter keeps the status of an answer, 0 or another that it began with until the answer begins.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach what is below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (c *checks) body(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			c.refuse(w, refusedBody,
				types.NewProblem(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", maxBody))
			return
		} else if err != nil {
			types.NewProblem(http.StatusBadRequest, "the body did not come: %v", err).Write(w)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
		next.ServeHTTP(w, r)
	})
}

// retryAfter says in how many seconds it is worth to ask again, at least one.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
}
