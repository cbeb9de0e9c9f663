package codec_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	common "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"orange/fleet/codec"
	"orange/fleet/testkit"
	"orange/internal/rules/task"
)

// makes is a line of a key file with a new key.
func makes() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // it never fails
	return base64.StdEncoding.EncodeToString(raw)
}

func read(t *testing.T, keys ...string) *codec.Codec {
	t.Helper()
	c, err := codec.Parse("# the keys of the fleet\n\n" + strings.Join(keys, "\n") + "\n")
	testkit.Must(t, err)
	return c
}

func payloadsOf(t *testing.T, text string) []*common.Payload {
	t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayload(text)
	testkit.Must(t, err)
	return []*common.Payload{p}
}

func encrypt(t *testing.T, c *codec.Codec, text string) []*common.Payload {
	t.Helper()
	out, err := c.Encode(payloadsOf(t, text))
	testkit.Must(t, err)
	return out
}

func TestTheServerSeesNothingOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	c := read(t, makes())
	one, again := encrypt(t, c, "secret words"), encrypt(t, c, "secret words")
	for _, p := range [][]*common.Payload{one, again} {
		if text, err := proto.Marshal(p[0]); err != nil || bytes.Contains(text, []byte("secret")) {
			t.Errorf("%q, %v", text, err)
		}
	}
	if bytes.Equal(one[0].Data, again[0].Data) {
		t.Error("the same words look the same")
	}
	back, err := c.Decode(one)
	if err != nil || !proto.Equal(back[0], payloadsOf(t, "secret words")[0]) {
		t.Errorf("%v, %v", back, err)
	}
}

func TestAnOldKeyReadsAndTheFirstOneWrites(t *testing.T) {
	t.Parallel()
	old, next := makes(), makes()
	before, both, after := read(t, old), read(t, next, old), read(t, next)
	if back, err := both.Decode(encrypt(t, before, "x")); err != nil || !proto.Equal(back[0], payloadsOf(t, "x")[0]) {
		t.Errorf("the old key: %v, %v", back, err)
	}
	if _, err := after.Decode(encrypt(t, both, "x")); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if _, err := before.Decode(encrypt(t, both, "x")); !errors.Is(err, codec.ErrKey) {
		t.Errorf("without the key: %v", err)
	}
}

func TestWhatWasChangedOnItsWayIsRefused(t *testing.T) {
	t.Parallel()
	c := read(t, makes())
	p := encrypt(t, c, "x")
	p[0].Data[len(p[0].Data)-1] ^= 1
	if back, err := c.Decode(p); err == nil {
		t.Errorf("%v", back)
	}
}

func TestWhatWasSaidBeforeTheFleetHadAKeyIsRead(t *testing.T) {
	t.Parallel()
	back, err := read(t, makes()).Decode(payloadsOf(t, "x"))
	if err != nil || !proto.Equal(back[0], payloadsOf(t, "x")[0]) {
		t.Errorf("%v, %v", back, err)
	}
}

func TestReadRefusesAnEmptyKeyFileAndOneThatOthersCanRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	for text, want := range map[string]string{"": "no key", "# none\n": "no key", "abc\n": "line 1",
		makes() + "\n" + makes()[4:]: "line 2", makes(): ""} {
		testkit.Must(t, os.WriteFile(path, []byte(text), task.PrivateFile))
		switch _, err := codec.Read(path); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
	testkit.Must(t, os.Chmod(path, 0o640))
	if _, err := codec.Read(path); !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if _, err := codec.Read(path + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
