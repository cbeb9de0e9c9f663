package hook

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/run/proc"
)

// The person sets it with orange env, and the process that performs the hook may have another environment.
func TestNotify_trustsTheAuthoritiesOfTheTasksEnvironment(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	dir := t.TempDir()
	file := filepath.Join(dir, "authority.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for variable, trusted := range map[string]bool{"SSL_CERT_FILE=" + file: true, "SSL_CERT_DIR=" + dir: true,
		"SSL_CERT_DIR=/nowhere": false} {
		ctx := proc.WithEnviron(t.Context(), func() proc.Environ { return proc.Environ{Given: []string{variable}} })
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := send(request); (err == nil) != trusted {
			t.Errorf("%s: %v", variable, err)
		}
	}
}
