#include "results/web/plain_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace results::web {
namespace {
using core::Json;

std::string text_of(const Json& json) {
  if (json.is_null()) return "";
  return html_text(json.is_string() ? json.get<std::string>() : json.dump());
}

std::string link(const std::string& path, const Json& text) {
  return "<a href=\"/plain/" + html_text(path) + "\">" + text_of(text) + "</a>";
}

std::string to_exchange(const Json& of) {
  return link("exchange/" + of["exchange"].dump(), "Request " + of["number"].dump());
}

std::string outcome(const Json& of) {
  const std::string kind = of["arrived"].is_null() ? "" : of["good"] == true ? "verdict right" : "verdict wrong";
  return "<span class=\"" + kind + "\">" + text_of(of["outcome"]) + "</span>";
}

std::string row(const std::vector<std::string>& cells, const char* tag = "td") {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return html + "</tr>\n";
}

std::string pre(const Json& text) { return "<pre class=\"source plain said\">" + text_of(text) + "</pre>\n"; }

// With line numbers, which the style sheet counts.
std::string code(const Json& text) {
  std::string html = "<pre class=\"source\"><code>";
  std::string source = text.get<std::string>();
  if (source.ends_with('\n')) source.pop_back();
  for (const std::string& line : core::split(source, '\n')) {
    html += "<span class=\"line\">" + html_text(line) + "\n</span>";
  }
  return html + "</code></pre>\n";
}

// The lines of a unified diff, marked.
std::string changes(const std::string& difference) {
  std::string html = "<pre class=\"source plain\">";
  for (const std::string& line : core::split(difference, '\n')) {
    const std::string kind = line.starts_with('+') ? "new" : line.starts_with('-') ? "gone" : "";
    html += "<span class=\"changed " + kind + "\">" + html_text(line) + "\n</span>";
  }
  return html + "</pre>\n";
}

std::string section(const Json& of, bool open, const std::string& body) {
  return fmt::format("<details{}><summary>{}, about {} tokens</summary>\n{}</details>\n", open ? " open" : "",
                     text_of(of["title"]), of["tokens"].dump(), body);
}

std::string page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\">\n<title>" +
         html_text(title) +
         " – Kernelwright</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/pages.css\">\n"
         "</head>\n<body>\n<header class=\"bar\"><a class=\"brand\" href=\"/plain\">Kernelwright</a></header>\n<main>\n"
         "<h1>" +
         html_text(title) + "</h1>\n" + body + "</main>\n</body>\n</html>\n";
}

std::string campaigns_page(const Json& of) {
  std::string rows;
  for (const Json& campaign : of["campaigns"]) {
    const std::string name = campaign["campaign"].get<std::string>();
    rows += row({link("campaign/" + name, name), text_of(campaign["status"]), text_of(campaign["started"]),
                 text_of(campaign["attempts"])});
  }
  return page("Campaigns", "<table>" + row({"Campaign", "Status", "Started", "Attempts"}, "th") + rows + "</table>\n");
}

std::string campaign_page(const Json& of) {
  std::string body;
  if (!of["none_answered"].is_null()) {
    body += "<p class=\"older\">None of its requests to models was answered. The last reason: " +
            text_of(of["none_answered"]) + "</p>\n";
  }
  body += "<p>Status: " + text_of(of["status"]) + ", started " + text_of(of["started"]) + ", " +
          text_of(of["attempts"]) + " attempts.</p>\n<h2>Requests to models</h2>\n";
  if (of["requests"].empty()) return page("Campaign " + of["campaign"].get<std::string>(), body + "<p>None.</p>\n");
  body += "<table>" + row({"Request", "Problem", "Model", "Task", "Outcome"}, "th");
  for (const Json& request : of["requests"]) {
    body += row({to_exchange(request), text_of(request["problem"]), text_of(request["model"]), text_of(request["task"]),
                 outcome(request)});
  }
  return page("Campaign " + of["campaign"].get<std::string>(), body + "</table>\n");
}

std::string solutions(const Json& of) {
  std::string html = "<h2>Solutions of the reply</h2>\n";
  if (of["brought"].empty()) html += "<p>None: " + text_of(of["outcome"]) + "</p>\n";
  for (const Json& one : of["brought"]) {
    const std::string attempt = one["attempt"].is_null() ? "" : " (attempt " + one["attempt"].dump() + ")";
    html += "<p><a href=\"/#/solution/" + text_of(one["hash"]) + "\">" + text_of(one["solution"]) +
            "</a>: " + text_of(one["outcome"]) + attempt + "</p>\n";
    if (one["difference"].is_null()) continue;
    html += "<details open><summary>Changes to " + text_of(one["parent"]["solution"]) + "</summary>\n" +
            changes(one["difference"].get<std::string>()) + "</details>\n";
  }
  return html;
}

std::string told_next(const Json& next) {
  if (next.is_null()) return "<h2>Told next</h2>\n<p>No later request continues this one: nothing was told.</p>\n";
  std::string html = "<h2>Told next</h2>\n<p>" + to_exchange(next) +
                     (next["sent_back"] == true ? " sent this reply back with the reasons."
                                                : " was the next one in this line of the search.") +
                     " Its outcome: " + outcome(next) + "</p>\n";
  for (const Json& told : next["told"]) {
    const Json& difference = told["difference"];
    html += section(told, next["sent_back"] == true,
                    difference.is_null() ? pre(told["text"]) : changes(difference.get<std::string>()));
  }
  return html;
}

std::string reply_and_prompt(const Json& of) {
  std::string html;
  if (!of["reply"].is_null()) {
    html += "<h2>Reply</h2>\n";
    if (of["reply"]["complete"] == false) html += "<p class=\"older\">It ran into the limit of tokens.</p>\n";
    for (const Json& part : of["reply"]["parts"]) html += part["code"] == true ? code(part["text"]) : pre(part["text"]);
  }
  html += "<h2>Prompt, about " + of["tokens"].dump() + " tokens</h2>\n";
  int64_t largest = 0;
  for (const Json& one : of["prompt"]) largest = std::max(largest, one["tokens"].get<int64_t>());
  for (const Json& one : of["prompt"]) html += section(one, one["tokens"] == largest, pre(one["text"]));
  return html;
}

std::string exchange_page(const Json& of) {
  const std::string campaign = of["campaign"].get<std::string>();
  return page("Request " + of["number"].dump() + " for " + of["problem"].get<std::string>(),
              "<p>" + outcome(of) + "</p>\n<p>Campaign " + link("campaign/" + campaign, campaign) + ", model " +
                  text_of(of["model"]) + ", task " + text_of(of["task"]) + ", asked " + text_of(of["asked"]) +
                  "</p>\n" + solutions(of) + told_next(of["next"]) + reply_and_prompt(of));
}
}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::optional<std::string> plain_page(PageData& data, std::string_view path) {
  const bool campaign = path.starts_with("campaign/"), exchange = path.starts_with("exchange/");
  if (path != "overview" && !campaign && !exchange) return std::nullopt;
  const std::optional<Json> json = data.at(path);
  if (!json) return std::nullopt;
  return campaign ? campaign_page(*json) : exchange ? exchange_page(*json) : campaigns_page(*json);
}

}  // namespace results::web
