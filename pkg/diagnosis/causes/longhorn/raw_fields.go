package longhorn

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// nestedNumber reads a number that Longhorn may write as text.
func nestedNumber(o map[string]any, path ...string) (int64, bool) {
	v, found, err := unstructured.NestedFieldNoCopy(o, path...)
	if !found || err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n, err == nil
}
