package report

import "strings"

// Decided is where a text says what was decided, when a list of particulars of any length may follow
// it, as the admission of the API server writes them (pods "x" is forbidden: violates PodSecurity
// "restricted:latest": …; unable to validate against any security context constraint: […]); -1: nowhere.
// Other texts say what went wrong at their end, those of an authorizer (User "x" cannot …: reason), too.
func Decided(text string) int {
	at := strings.LastIndex(text, forbidden)
	if at >= 0 && strings.HasPrefix(text[at+len(forbidden):], "User ") {
		return -1
	}
	return at
}

const forbidden = "is forbidden: "
