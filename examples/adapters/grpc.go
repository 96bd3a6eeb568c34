package adapters

import (
	"bytes"
	"context"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/espalier-dev/espalier/request"
)

// GRPC returns an interceptor for calls whose message is an object in JSON, as
// bytes. The schema is that of the object's kind. Warnings become metadata. gRPC
// has read the message before the gate sees it: the server's MaxRecvMsgSize and
// MaxConcurrentStreams bound what that takes.
func GRPC(gate *request.Gate, find request.Finder) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, message any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		object, ok := message.(*wrapperspb.BytesValue)
		if !ok {
			return nil, status.Error(codes.Unimplemented, "there is no object in the message")
		}
		x := gate.Begin(request.Request{
			Context: ctx, Method: "POST", URL: &url.URL{Path: "/"},
			ContentLength: int64(len(object.GetValue())), Body: bytes.NewReader(object.GetValue()),
		})
		defer x.Close() // after next, which reads the result
		result, refused := x.Judge(find)
		if refused != nil {
			return nil, status.Error(codeOf(refused), x.Refuse(refused).Message)
		}
		if len(result.Warnings) > 0 {
			_ = grpc.SetHeader(ctx, metadata.MD{"warning": result.Warnings}) // it fails after the headers were sent
		}
		return next(ctx, wrapperspb.Bytes(result.Body))
	}
}

// codeOf returns the code of gRPC for a refusal.
func codeOf(refused *request.StatusError) codes.Code {
	switch refused.Code {
	case 413, 503:
		return codes.ResourceExhausted
	case 403:
		return codes.PermissionDenied
	case 408:
		return codes.DeadlineExceeded
	case 500:
		return codes.Internal
	}
	return codes.InvalidArgument
}
