//go:build unix

package launch

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// streams are one exec session as the kubelet sees it.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	end            func(metav1.Status) // sends the result and closes
	cut            func()              // breaks the connection without a word
}

// upgrade speaks what the client asks for.
func upgrade(t *testing.T, w http.ResponseWriter, r *http.Request) (*streams, bool) {
	t.Helper()
	if websocket.IsWebSocketUpgrade(r) {
		return upgradeWebSocket(t, w, r)
	}
	return upgradeSPDY(t, w, r)
}

// channel writes to one channel of a v5.channel.k8s.io connection.
type channel struct {
	id   byte
	conn *websocket.Conn
	lock *sync.Mutex
}

func (c channel) Write(p []byte) (int, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return len(p), c.conn.WriteMessage(websocket.BinaryMessage, append([]byte{c.id}, p...))
}

func upgradeWebSocket(t *testing.T, w http.ResponseWriter, r *http.Request) (*streams, bool) {
	t.Helper()
	u := websocket.Upgrader{Subprotocols: []string{remotecommand.StreamProtocolV5Name}, CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := u.Upgrade(w, r, nil)
	if err != nil {
		t.Errorf("upgrade to websocket: %v", err)
		return nil, false
	}
	in, feed := io.Pipe()
	go func() {
		for {
			_, message, err := conn.ReadMessage()
			if err != nil {
				_ = feed.CloseWithError(io.EOF)
				return
			}
			switch {
			case len(message) > 1 && message[0] == remotecommand.StreamStdIn:
				_, _ = feed.Write(message[1:])
			case len(message) == 2 && message[0] == remotecommand.StreamClose:
				_ = feed.Close()
			}
		}
	}()
	var lock sync.Mutex
	to := func(id byte) channel { return channel{id, conn, &lock} }
	return &streams{stdin: in, stdout: to(remotecommand.StreamStdOut), stderr: to(remotecommand.StreamStdErr),
		end: func(s metav1.Status) {
			body, _ := json.Marshal(s)
			_, _ = to(remotecommand.StreamErr).Write(body)
			lock.Lock()
			defer lock.Unlock()
			_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
			_ = conn.Close()
		},
		cut: func() { _ = conn.NetConn().Close() }}, true
}

func upgradeSPDY(t *testing.T, w http.ResponseWriter, r *http.Request) (*streams, bool) {
	t.Helper()
	if _, err := httpstream.Handshake(r, w, []string{remotecommand.StreamProtocolV4Name}); err != nil {
		t.Errorf("spdy handshake: %v", err)
		return nil, false
	}
	made := make(chan httpstream.Stream, 4)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		made <- s
		return nil
	})
	if conn == nil {
		return nil, false
	}
	want := 1
	for _, name := range []string{"stdin", "stdout", "stderr"} {
		if r.URL.Query().Get(name) == "true" {
			want++
		}
	}
	s := &streams{stdin: http.NoBody, stdout: io.Discard, stderr: io.Discard, cut: func() { _ = conn.Close() }}
	var failure httpstream.Stream
	for range want {
		switch one := <-made; one.Headers().Get(corev1.StreamType) {
		case corev1.StreamTypeStdin:
			s.stdin = one
		case corev1.StreamTypeStdout:
			s.stdout = one
		case corev1.StreamTypeStderr:
			s.stderr = one
		case corev1.StreamTypeError:
			failure = one
		}
	}
	s.end = func(status metav1.Status) {
		body, _ := json.Marshal(status)
		_, _ = failure.Write(body)
		for _, c := range []any{s.stdout, s.stderr, failure} {
			if closer, ok := c.(io.Closer); ok {
				_ = closer.Close()
			}
		}
	}
	return s, true
}
