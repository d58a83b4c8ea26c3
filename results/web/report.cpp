#include "results/web/report.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <regex>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace results::web {
namespace {
// The source of a content security policy that allows this text: 'sha256-' and its hash in base 64.
std::string csp_source(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};  // of the text alone: core/hash.h adds its length
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data());
  std::vector<unsigned char> base64(4 * ((bytes.size() + 2) / 3) + 1);
  EVP_EncodeBlock(base64.data(), bytes.data(), static_cast<int>(bytes.size()));
  return " 'sha256-" + std::string(base64.begin(), base64.end() - 1) + "'";
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string read_part(const std::filesystem::path& pages, const std::filesystem::path& vendor,
                      const std::string& name) {
  constexpr std::string_view kVendor = "vendor/";
  return core::read_file(name.rfind(kVendor, 0) == 0 ? vendor / name.substr(kVendor.size()) : pages / name);
}
}  // namespace

std::string json_for_html(const core::Json& json) {
  std::string text = json.dump(-1, ' ', true, core::Json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  replace_all(text, ">", "\\u003e");
  replace_all(text, "&", "\\u0026");
  return text;
}

std::string script_for_html(std::string script) {
  for (const char* word : {"script", "Script", "SCRIPT"}) {
    replace_all(script, std::string("</") + word, std::string("\\x3C/") + word);
    replace_all(script, std::string("<") + word, std::string("\\x3C") + word);
  }
  replace_all(script, "<!--", "\\x3C!--");
  return script;
}

std::string report_html(const std::filesystem::path& pages, const std::filesystem::path& vendor,
                        const core::Json& data) {
  static const std::regex kStyle(R"re(<link rel="stylesheet" href="([\w./-]+)">)re");
  static const std::regex kScript(R"re(<script src="([\w./-]+)"></script>)re");
  std::string styles, scripts, body;
  bool data_stands = false;
  std::istringstream lines(core::read_file(pages / "index.html"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, kStyle)) {
      const std::string style = "\n" + read_part(pages, vendor, found[1]);
      styles += csp_source(style);
      line = "<style>" + style + "</style>";
    } else if (std::regex_match(line, found, kScript)) {
      const std::string script = "\n" + script_for_html(read_part(pages, vendor, found[1]));
      scripts += csp_source(script);
      line = "<script>" + script + "</script>";
      if (!data_stands) {
        line = R"(<script type="application/json" id="data">)" + json_for_html(data) + "</script>\n" + line;
      }
      data_stands = true;
    }
    body += line + "\n";
  }
  const std::string policy = "default-src 'none'; script-src" + scripts + "; style-src" + styles +
                             "; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";
  const std::string charset = "<meta charset=\"utf-8\">\n";
  const size_t at = body.find(charset);
  if (at == std::string::npos || !data_stands) {
    throw core::SystemError("the pages in " + pages.string() + " belong to another version");
  }
  return body.insert(at + charset.size(), "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy +
                                              "\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
}

}  // namespace results::web
