package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// fault is what a test has written into the file STORAGE/faults/DRIVER/NAMESPACE/CALL:
//
//	hang                         the call gives no answer
//	ResourceExhausted words…     the call is refused with that code
//	answer words…                what a call answers is wrong (ControllerPublishVolume: the device path)
//
// The namespace is that of the claim, so that one volume fails beside others that work.
func (b backend) fault(ctx context.Context, call, namespace string) (wrong string, err error) {
	data, err := os.ReadFile(filepath.Join(b.storage, "faults", b.driver, namespace, call))
	if err != nil {
		return "", nil //nolint:nilerr // no file is no fault
	}
	code, words, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	log.Printf("%s for %s: fault %s %s", call, namespace, code, words)
	switch code {
	case "hang":
		<-ctx.Done()
		return "", status.FromContextError(ctx.Err()).Err()
	case "answer":
		return words, nil
	}
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if c.String() == code {
			return "", status.Error(c, words)
		}
	}
	return "", status.Errorf(codes.Internal, "the lab knows no fault %s", code)
}
