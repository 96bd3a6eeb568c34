package extproc

import (
	"io"
	"net/http"
	"slices"

	"github.com/espalier-dev/espalier/request"
)

// A body is the body of a request, read from the messages of its stream. Each part is charged when
// it is read, and there is no other copy of it.
type body struct{ *stream }

// Read reads the body, and answers messages where Envoy waits for answers before it sends more.
func (s body) Read(p []byte) (int, error) {
	for len(p) > 0 {
		var err error
		switch {
		case s.err != nil || s.refused != nil:
			return 0, errEnded
		case s.inChunk:
			var n int
			if n, err = s.in.chunk.Read(p); n > 0 {
				return n, nil
			}
			if err == io.EOF {
				err = s.endChunk()
			}
		case s.atEnd:
			return 0, io.EOF
		default:
			err = s.nextChunk()
		}
		if err != nil {
			return 0, s.fail(err)
		}
	}
	return 0, nil
}

// fail records why the stream cannot go on. A body that is late is refused instead.
func (s body) fail(err error) error {
	if code, _ := statusOf(err); code == deadlineExceeded || err == errEnded {
		return err
	}
	s.err = cutOff(err)
	return s.err
}

// endChunk reads the end of a message with a part of the body.
func (s body) endChunk() error {
	if err := s.in.finish(); err != nil {
		return err
	}
	s.inChunk, s.isPending, s.atEnd = false, true, s.in.isLast
	switch as := s.in.config.request; {
	case s.atEnd:
	case as == buffered:
		return s.refuse(request.BadRequest("the body of the request is sent without its end, or with trailers"))
	case as == bufferedPartial:
		return s.refuse(&request.StatusError{Code: http.StatusRequestEntityTooLarge, Reason: "RequestEntityTooLarge",
			Message: "Request entity too large: the proxy has not sent all of it"})
	}
	return nil
}

// nextChunk reads the start of the next message with a part of the body, or what ends the body.
func (s body) nextChunk() error {
	as := s.in.config.request
	if as != streamed && as != buffered && as != bufferedPartial && as != fullDuplex {
		return s.refuse(&request.StatusError{Code: http.StatusInternalServerError, Reason: "InternalError",
			Message: "Internal error occurred: the proxy does not send the bodies of requests: see request_body_mode"})
	}
	if as != fullDuplex && !s.isAnswered {
		if err := s.announce(); err != nil {
			return err
		}
	}
	if as == streamed && s.isPending {
		if err := s.answerPart(); err != nil {
			return err
		}
	}
	for {
		if err := s.in.next(); err != nil {
			return err
		}
		switch s.in.kind {
		case requestBody:
			s.inChunk = true
			return nil
		case requestTrailers:
			if as != fullDuplex {
				return s.refuse(request.BadRequest("trailers are accepted in mode FULL_DUPLEX_STREAMED only"))
			}
			s.trailers, s.hasTrailer, s.atEnd = slices.Clone(s.in.headers), true, true
			return nil
		}
		// A server may answer before it has read the body.
		if err := s.relay(); err != nil {
			return err
		}
	}
}

// announce answers the headers of the request, without which Envoy does not send its body. In mode
// BUFFERED the headers can change once more with the body, when it is known.
func (s body) announce() error {
	if s.in.config.request == buffered {
		return s.answerHeaders(mutation{})
	}
	contentType, isChanged := s.x.Outlook()
	s.announced = contentType
	return s.answerHeaders(s.mutation(contentType, isChanged))
}

// answerPart answers a part of the body in mode STREAMED, with what there is of the result.
func (s body) answerPart() error {
	s.isPending = false
	err := s.out.body(requestBody, mutation{}, s.output)
	s.output = s.output[:0]
	return err
}

// refuse ends the body with a refusal.
func (s body) refuse(refused *request.StatusError) error {
	s.refused = refused
	return errEnded
}

// decodeStream decodes the body while it comes, and passes on the result.
func (s *stream) decodeStream() *request.StatusError {
	result, refused := s.x.Stream()
	if refused != nil {
		return refused
	}
	s.isStarted = true
	if s.in.config.request == fullDuplex {
		if s.err = s.answerHeaders(s.mutation(result.ContentType(), true)); s.err != nil {
			return nil
		}
	}
	buffer := pieces.Get().(*[pieceBytes]byte)
	defer pieces.Put(buffer)
	for {
		n, err := result.Read(buffer[:])
		if refused := s.passPart(buffer[:n]); refused != nil || s.err != nil {
			return refused
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			_, refused := result.State()
			return refused
		}
	}
	s.warnings = result.Warnings()
	if s.in.config.request == streamed {
		s.err = body{s}.answerPart()
		return nil
	}
	if !s.hasTrailer {
		s.err = s.out.piece(requestBody, nil, true)
	} else {
		s.err = s.answerTrailers(true)
	}
	return nil
}

// passPart passes on a part of the result. In mode STREAMED it is kept until a part of the body is
// to be answered.
func (s *stream) passPart(text []byte) *request.StatusError {
	switch {
	case len(text) == 0:
	case s.in.config.request == fullDuplex:
		s.err = s.out.piece(requestBody, text, false)
	default:
		if more := len(s.output) + len(text) - cap(s.output); more > 0 {
			size := max(pieceBytes, 2*cap(s.output), len(s.output)+len(text))
			if !s.x.Hold(size) { // the old one is garbage, and counts as well
				return request.Overloaded()
			}
			s.output = append(make([]byte, 0, size), s.output...)
		}
		s.output = append(s.output, text...)
	}
	return nil
}
