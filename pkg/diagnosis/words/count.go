package words

import "fmt"

// Count counts things: "1 replica", "3 replicas".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
