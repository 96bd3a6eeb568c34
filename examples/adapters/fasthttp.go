// Package adapters judges bodies where there is no net/http, by package request:
// in a server of fasthttp, and in one of gRPC.
package adapters

import (
	"bytes"
	"io"
	"net/http"
	"net/url"

	"github.com/valyala/fasthttp"

	"github.com/espalier-dev/espalier/request"
)

// FastHTTP returns a handler that judges requests before next gets them, as
// middleware does for net/http. The server should have StreamRequestBody and a
// MaxRequestBodySize beyond that of the gate, which then limits the bodies.
func FastHTTP(gate *request.Gate, find request.Finder, next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		header := http.Header{}
		for name, value := range c.Request.Header.All() {
			header.Add(string(name), string(value)) // fasthttp uses its bytes again
		}
		// The target as it was sent: fasthttp decodes the path, and drops parts of it.
		target, err := url.ParseRequestURI(string(c.Request.Header.RequestURI()))
		if err != nil {
			c.Error("the path cannot be parsed", fasthttp.StatusBadRequest)
			return
		}
		var body io.Reader = c.RequestBodyStream()
		if !c.Request.IsBodyStream() {
			body = bytes.NewReader(c.Request.Body())
		}
		r := request.Request{
			Method: string(c.Method()), Host: string(c.Host()), URL: target, Header: header,
			ContentLength: int64(c.Request.Header.ContentLength()), Body: body,
		}
		x := gate.Begin(r)
		defer x.Close() // after next, which reads the result
		screening, refused := request.Screen(r.Method, target.RawQuery, header, func() bool { return find.Passes(&r) })
		drop(c, screening.Drop)
		if refused == nil && !screening.Write {
			next(c)
			return
		}
		var result request.Result
		if refused == nil {
			result, refused = x.Judge(find)
		}
		switch {
		case refused != nil:
			answer(c, x.Answer(refused))
			return
		case !result.Untouched:
			pass(c, result)
		}
		next(c)
		for _, warning := range result.Warnings {
			c.Response.Header.Add("Warning", warning)
		}
	}
}

// drop removes headers of the request.
func drop(c *fasthttp.RequestCtx, names []string) {
	for _, name := range names {
		c.Request.Header.Del(name)
	}
	if len(names) > 0 {
		c.Request.Header.Del("Connection") // it may name one of them
	}
}

// pass puts the result in the place of the body. It drops trailers: fasthttp shows them as headers,
// and request.Screen did not see them.
func pass(c *fasthttp.RequestCtx, result request.Result) {
	drop(c, request.Stale(result.Changed))
	var trailers []string
	for name := range c.Request.Header.Trailers() {
		trailers = append(trailers, string(name))
	}
	drop(c, trailers)
	c.Request.SetBody(result.Body)
	c.Request.Header.SetContentLength(len(result.Body))
	if result.ContentType != "" {
		c.Request.Header.SetContentType(result.ContentType)
	}
}

// answer writes the answer to a request that is refused.
func answer(c *fasthttp.RequestCtx, a request.Answer) {
	c.Response.Reset()
	for name, value := range a.Header {
		c.Response.Header.Set(name, value)
	}
	c.SetStatusCode(a.Code)
	c.SetBody(a.Body)
}
