package filesystem

import "time"

// freshLine is how long a line of the kernel or of a daemon speaks of the present.
const freshLine = 10 * time.Minute
