// Routes to a server: private certificates and proxies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/process.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <vector>

#include "agent/models/folder_fixture.h"
#include "agent/models/http_server_fixture.h"
#include "agent/models/model_fixture.h"
#include "agent/models/providers.h"

namespace agent::models {
namespace {
namespace bp = boost::process;
using test::ask;
using test::completion_of;
using test::HttpSeen;
using test::HttpServer;
using test::HttpWire;
using test::no_completion_of;
using test::prompt_of;
using test::wait_for;
using testing::HasSubstr;
using testing::Not;

constexpr char kAnswer[] = R"({"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]})";

ModelOptions options_with(const std::string& name, const std::string& value) {
  ModelOptions options;
  options.environment = [=](const std::string& asked) -> std::optional<std::string> {
    if (asked == "KW_API_KEY") return "secret-key";
    return asked == name ? std::optional(value) : std::nullopt;
  };
  options.retry.most_tries = 2;
  options.retry.first_delay = std::chrono::milliseconds(1);
  return options;
}

// Writes a self-signed certificate for 127.0.0.1 and its key to one file.
void write_certificate(const std::filesystem::path& file) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), 24 * 3600);
  X509_set_pubkey(x, key.get());
  X509_NAME* const name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(x, name);
  for (const auto& [kind, value] :
       {std::pair{NID_subject_alt_name, "IP:127.0.0.1"}, {NID_basic_constraints, "CA:TRUE"}}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(x, key.get(), EVP_sha256());
  const std::unique_ptr<FILE, decltype(&std::fclose)> out(std::fopen(file.c_str(), "w"), std::fclose);
  PEM_write_X509(out.get(), x);
  PEM_write_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

constexpr char kTlsServer[] = R"(
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(sys.argv[2])))
        self.end_headers()
        self.wfile.write(sys.argv[2].encode())
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
)";

TEST(HttpRoutes, ACertificateOfOnesOwnIsTrustedWhereItIsNamed) {
  const test::Folder folder;
  const std::filesystem::path file = folder.path() / "certificate.pem";
  write_certificate(file);
  ::setenv("no_proxy", "127.0.0.1", 1);
  bp::ipstream out;
  bp::child server(bp::search_path("python3"), "-c", kTlsServer, file.string(), kAnswer, bp::std_out > out,
                   bp::std_err > bp::null);
  std::string port;
  ASSERT_TRUE(std::getline(out, port)) << "no python3 for the test's server";
  const std::string url = "https://127.0.0.1:" + port + "/v1#m";

  const NoCompletion none = no_completion_of(wait_for(ask(*make_model(url, options_with("", "")), prompt_of("x"))));
  EXPECT_EQ(none.cause, NoCompletion::Cause::unreachable);
  EXPECT_EQ(none.tries, 1) << "it will not be trusted later";
  EXPECT_THAT(none.what, HasSubstr("SSL_CERT_FILE"));

  for (const char* variable : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    const auto model = make_model(url, options_with(variable, file.string()));
    EXPECT_EQ(completion_of(wait_for(ask(*model, prompt_of("x")))).text, "Hi") << variable;
  }
  ModelOptions named = options_with("", "");
  named.ca_file = file;
  const auto model = make_model(url, named);
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 8; ++i) answers.push_back(ask(*model, prompt_of("x")));
  for (auto& answer : answers) EXPECT_EQ(completion_of(wait_for(std::move(answer))).text, "Hi");
  server.terminate();
}

// Sets an environment variable of this process: libcurl reads proxies from there.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(HttpRoutes, AProxyIsAskedWhereTheEnvironmentNamesOne) {
  HttpServer proxy([](HttpWire& wire, const HttpSeen&, int) { wire.answer("200 OK", "application/json", kAnswer); });
  const Variable variable("http_proxy", proxy.url());
  const auto model = make_model("http://model.invalid/v1#m", options_with("", ""));
  EXPECT_EQ(completion_of(wait_for(ask(*model, prompt_of("x")))).text, "Hi");
  EXPECT_THAT(proxy.seen().at(0).head, HasSubstr("POST http://model.invalid/v1/chat/completions HTTP"));
  HttpServer direct([](HttpWire& wire, const HttpSeen&, int) { wire.answer("200 OK", "application/json", kAnswer); });
  wait_for(ask(*make_model(direct.url() + "/v1#m", options_with("", "")), prompt_of("x")));
  EXPECT_EQ(direct.seen().size(), 1u) << "no_proxy names its address";
}

TEST(HttpRoutes, AProxyForTlsSeesNoKey) {
  HttpServer proxy([](HttpWire& wire, const HttpSeen&, int) { wire.answer("502 Bad Gateway", "text/plain", "no"); });
  const Variable variable("https_proxy", proxy.url());
  const auto model = make_model("https://model.invalid/v1#m", options_with("", ""));
  const NoCompletion none = no_completion_of(wait_for(ask(*model, prompt_of("x"))));
  EXPECT_TRUE(none.cause == NoCompletion::Cause::unreachable || none.cause == NoCompletion::Cause::cut_off)
      << none.what;
  EXPECT_EQ(none.tries, 2);
  ASSERT_FALSE(proxy.seen().empty());
  for (const HttpSeen& seen : proxy.seen()) {
    EXPECT_THAT(seen.head, HasSubstr("CONNECT model.invalid:443"));
    EXPECT_THAT(seen.head + seen.body, Not(HasSubstr("secret-key")));
  }
}
}  // namespace
}  // namespace agent::models
