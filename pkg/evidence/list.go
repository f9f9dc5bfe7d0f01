package evidence

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ContainsAny tells whether a text has one of some words.
func ContainsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// First is the first of a list that is so, or nil.
func First[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// Last is the last of a list that is so, or nil.
func Last[T any](list []T, is func(T) bool) *T {
	for i, e := range slices.Backward(list) {
		if is(e) {
			return &list[i]
		}
	}
	return nil
}

// Keep are those of a list that are so.
func Keep[T any](list []T, is func(T) bool) []T {
	var out []T
	for _, e := range list {
		if is(e) {
			out = append(out, e)
		}
	}
	return out
}

// Each is what is made of every one of a list.
func Each[T, U any](list []T, of func(T) U) []U {
	var out []U
	for _, e := range list {
		out = append(out, of(e))
	}
	return out
}

// Few writes the first of a list, and how many more there are.
func Few[T any](list []T, most int, of func(T) string) string {
	out := Each(list[:min(most, len(list))], of)
	if more := len(list) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// PodsOf are the pods at whose paths something is mounted, each once.
func PodsOf(x *snapshot.Index, list []snapshot.VolumeMount) []*corev1.Pod {
	pods := Each(list, func(m snapshot.VolumeMount) *corev1.Pod { return x.PodByUID(m.Path.PodUID) })
	return Once(nil, Keep(pods, func(p *corev1.Pod) bool { return p != nil })...)
}

// Names are those that are not empty, each once.
func Names(list ...string) []string {
	return Once(nil, Keep(list, func(n string) bool { return n != "" })...)
}

// Once adds to a list those that it does not have.
func Once[T comparable](list []T, more ...T) []T {
	for _, e := range more {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}
