package api

import (
	_ "embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
)

// The page at which a browser exchanges a token for a session. Its addresses are relative, so that it works below any
// path. Its script leads back to what was asked for; without it the console begins at its first page.
var (
	//go:embed login.html
	logInText string
	//go:embed login.css
	logInStyle []byte
	//go:embed login.js
	logInScript []byte

	logInPage = template.Must(template.New("login").Parse(logInText))
)

// maxLogIn is the size of the form, in bytes.
const maxLogIn = 4 << 10

// logIn answers what nobody needs to be logged in for: /login, its style and script, and /logout. Where there are no
// tokens these do not exist.
func (c *checks) logIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.guard.HasLogIn() {
			next.ServeHTTP(w, r)
			return
		}
		get := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case r.URL.Path == "/login.css" && get:
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
			w.Write(logInStyle)
		case r.URL.Path == "/login.js" && get:
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			w.Write(logInScript)
		case r.URL.Path == "/login" && get:
			c.writeLogIn(w, http.StatusOK, "")
		case r.URL.Path == "/login" && r.Method == http.MethodPost && c.guard.Tokens != nil:
			c.begin(w, r)
		case r.URL.Path == "/login-oidc" && get && c.guard.OIDC != nil:
			c.toProvider(w, r)
		case r.URL.Path == "/login-oidc-callback" && get && c.guard.OIDC != nil:
			c.fromProvider(w, r)
		case r.URL.Path == "/logout" && r.Method == http.MethodPost:
			c.end(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// begin takes the token of the form, sets the cookie and goes on to the console.
func (c *checks) begin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogIn)
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			c.refuse(w, refusedBody,
				types.NewProblem(http.StatusRequestEntityTooLarge, "the form is longer than %d bytes", maxLogIn))
			return
		}
		types.NewProblem(http.StatusBadRequest, "the form cannot be read").Write(w)
		return
	}
	// PostForm: a token in the query would be in the logs of every proxy.
	id, cookie, err := c.guard.LogIn(r.PostForm.Get("token"), time.Now())
	if err != nil {
		c.refused[refusedUnknown].Add(1)
		p := c.failed(w, r, err)
		c.writeLogIn(w, p.Status, p.Detail)
		return
	}
	setCookie(w, r, cookie)
	c.cfg.Logger.Info("audit", "who", id.Name, "role", id.Role.String(), "by", "token", "from", c.guard.ClientOf(r),
		"method", r.Method,
		"path", r.URL.Path, "status", http.StatusSeeOther)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", "./") // not http.Redirect, which does not know of a path that a proxy took away
	w.WriteHeader(http.StatusSeeOther)
}

// toProvider sends a browser to the OIDC provider.
func (c *checks) toProvider(w http.ResponseWriter, r *http.Request) {
	location, cookie, err := c.guard.OIDC.Begin(r.Context(), time.Now())
	if err != nil {
		c.cfg.Logger.Error("cannot log in at the OIDC provider", "error", err)
		c.writeLogIn(w, http.StatusBadGateway, "the provider cannot be asked now; the log of this server says why")
		return
	}
	setCookie(w, r, cookie)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// fromProvider begins the session of somebody whom the OIDC provider has sent back. The answer is a page that leads to
// the console, and not a redirect: the cookie of the session is for this site alone, and a browser that comes from
// another one would not send it yet.
func (c *checks) fromProvider(w http.ResponseWriter, r *http.Request) {
	id, cookie, err := c.guard.FinishLogIn(r, time.Now())
	if err != nil {
		c.refused[refusedUnknown].Add(1)
		n := c.failedLogins.Add(1)
		c.say.Do(func() {
			c.cfg.Logger.Warn("log-in failed", "from", c.guard.ClientOf(r), "why", err, "failed_so_far", n)
		})
		status := http.StatusUnauthorized
		if errors.Is(err, auth.ErrNoRole) {
			status = http.StatusForbidden
		}
		c.writeLogIn(w, status, err.Error())
		return
	}
	setCookie(w, r, cookie)
	setCookie(w, r, &http.Cookie{Name: auth.LogInCookie, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	c.cfg.Logger.Info("audit", "who", id.Name, "role", id.Role.String(), "by", "oidc", "from", c.guard.ClientOf(r),
		"method", r.Method, "path", r.URL.Path, "status", http.StatusOK)
	header := w.Header()
	header.Set("Content-Security-Policy", contentSecurityPolicy("'self'"))
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the address has the code
	_, _ = io.WriteString(w, loggedInPage)
}

// end ends the session of the cookie, if there is one.
func (c *checks) end(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(auth.SessionCookie); err == nil {
		c.guard.Sessions.End(cookie.Value)
	}
	setCookie(w, r, &http.Cookie{
		Name: auth.SessionCookie, MaxAge: -1, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	w.WriteHeader(http.StatusNoContent)
}

// setCookie makes the cookie one for TLS and for this machine; browsers take localhost for secure. Only where an
// operator insists on plain HTTP between machines it goes without, since it would not come back otherwise. It has no
// path: that is then the one below which a proxy has put this server.
func setCookie(w http.ResponseWriter, r *http.Request, cookie *http.Cookie) {
	cookie.Secure = r.TLS != nil || onLoopback(r)
	http.SetCookie(w, cookie)
}

// loggedInPage leads to the console.
const loggedInPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Waybill</title><meta http-equiv="refresh" content="0; url=./"></head>
<body><a href="./">Go on</a></body>
</html>
`

// writeLogIn writes the page.
func (c *checks) writeLogIn(w http.ResponseWriter, status int, problem string) {
	header := w.Header()
	header.Set("Content-Security-Policy", contentSecurityPolicy("'self'"))
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = logInPage.Execute(w, map[string]any{
		"Problem": problem, "Tokens": c.guard.Tokens != nil, "OIDC": c.guard.OIDC != nil,
	}) // an error means that who asked is gone
}

// session answers /api/v1/session: who asks, as far as this server knows.
func (h *handler) session(w http.ResponseWriter, r *http.Request, _ *params) {
	writeAnswer(w, auth.From(r.Context()))
}
