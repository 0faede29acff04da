package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/task"
)

// nodeDatabase returns the worker's connection in the form of the npm package pg.
func nodeDatabase(config *pgx.ConnConfig) task.NodeDatabase {
	return task.NodeDatabase{
		Host:            config.Host,
		Port:            config.Port,
		User:            config.User,
		Password:        config.Password,
		Database:        config.Database,
		ApplicationName: config.RuntimeParams["application_name"],
		Options:         nodeOptions(config.RuntimeParams),
		TLS:             nodeTLS(config),
	}
}

// nodeOptions returns the settings of the connection as options of the server, because the package pg knows only some
// of them as parameters. It has its own client_encoding.
func nodeOptions(settings map[string]string) string {
	var options []string
	if given := settings["options"]; given != "" {
		options = []string{given}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains([]string{"application_name", "client_encoding", "options"}, name) {
			options = append(options, "-c "+name+"="+optionEscaper.Replace(settings[name]))
		}
	}
	return strings.Join(options, " ")
}

var optionEscaper = strings.NewReplacer(`\`, `\\`, " ", `\ `, "\t", "\\\t", "\n", "\\\n", "\r", "\\\r")

// nodeTLS returns the encryption of the connection, nil if it is not encrypted. If encryption is optional, pgx has
// several settings, which it tries in order.
func nodeTLS(config *pgx.ConnConfig) *task.NodeTLS {
	chosen, isOptional := config.TLSConfig, config.TLSConfig == nil
	for _, next := range config.Fallbacks {
		if next.Host != config.Host {
			continue
		}
		if chosen == nil {
			chosen = next.TLSConfig
		}
		isOptional = isOptional || next.TLSConfig == nil
	}
	if chosen == nil {
		return nil
	}
	found := &task.NodeTLS{
		Optional: isOptional,
		Verify:   !chosen.InsecureSkipVerify || chosen.VerifyPeerCertificate != nil, // verify-ca checks by itself
		Host:     !chosen.InsecureSkipVerify,
	}
	if chosen.RootCAs != nil {
		found.CA = rootCertificate(config.ConnString())
	}
	if len(chosen.Certificates) > 0 {
		found.Cert, found.Key = encodeCertificate(chosen.Certificates[0])
	}
	return found
}

var rootCertificateKey = regexp.MustCompile(`\bsslrootcert\s*=\s*(?:'([^']*)'|([^\s']+))`)

// rootCertificate returns the file of the authorities to trust that the connection string or the environment names.
func rootCertificate(connection string) string {
	if u, err := url.Parse(connection); err == nil && u.Query().Has("sslrootcert") {
		return u.Query().Get("sslrootcert")
	}
	if match := rootCertificateKey.FindStringSubmatch(connection); match != nil {
		return match[1] + match[2]
	}
	return os.Getenv("PGSSLROOTCERT")
}

// encodeCertificate returns a client's certificate and its key as PEM.
func encodeCertificate(pair tls.Certificate) (certificate, key string) {
	for _, der := range pair.Certificate {
		certificate += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	if der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey); err == nil {
		key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	return certificate, key
}
