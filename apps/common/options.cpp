#include "common/options.hpp"

#include "common/refuse.hpp"
#include "common/report.hpp"
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace po = boost::program_options;

namespace lookback::apps {
namespace {

constexpr const char* input_option = "input";

option_group common_group() {
    option_group group{"Common options", {}};
    auto add = group.options.add_options();
    add("dataset,d", text_option("/PATH"), "the object in each input that is given without one");
    add("backend", text_option("auto|cpu|cuda"), "where to compute (auto: a usable GPU, else CPU)");
    add("threads,@", text_option("N"), "CPU threads (default: every core)");
    add("memory,S", text_option("SIZE"), "memory in all, a hard cap: 1.5G, 800M, 50%");
    add("tmp,T", text_option("DIR"), "folder for temporary files (default: beside the output)");
    add("progress", text_option("auto|on|off"), "progress bar on stderr (auto: on a terminal)");
    add("json", text_option("FILE|-"), "write a report of the run as JSON");
    add("dry-run,n", flag_option(), "print what would be done, and do nothing");
    add("config", text_option("FILE"), "read options from FILE, one 'long-name = value' a line");
    add("verbose,v", flag_option(), "say on stderr what is done");
    add("quiet,q", flag_option(), "say nothing but errors");
    add("version", flag_option(), "print the version");
    add("help,h", flag_option(), "print this help");
    return group;
}

po::options_description everything(const app_description& app) {
    po::options_description all;
    for (const auto& group : app.groups) all.add(group.options);
    all.add(common_group().options);
    all.add_options()(input_option, list_option("IN"), "inputs");
    return all;
}

std::vector<std::string> long_names(const po::options_description& all) {
    std::vector<std::string> names;
    for (const auto& option : all.options()) names.push_back("--" + option->long_name());
    std::erase(names, std::string("--") + input_option);
    return names;
}

[[noreturn]] void refuse_unknown(const app_description& app, const po::options_description& all,
                                 const std::string& option, const std::string& where) {
    const std::string name = option.substr(0, option.find('='));
    const std::string typed = name.starts_with('-') ? name : "--" + name;
    const std::string near = nearest(typed, long_names(all));
    refuse(fmt::format("unknown option '{}'{}; {}", where.empty() ? name : typed, where,
                       near.empty() ? fmt::format("see {} --help", app.name)
                                    : fmt::format("did you mean '{}'?", near)));
}

// Runs one of Boost's parsers; its complaints become ours.
template <class Parser>
po::parsed_options parsed(const app_description& app, const po::options_description& all,
                          const std::string& where, const Parser& parser) {
    try {
        return parser();
    } catch (const po::unknown_option& failure) {
        refuse_unknown(app, all, failure.get_option_name(), where);
    } catch (const po::error& failure) {
        refuse(fmt::format("{}{}; see {} --help", failure.what(), where, app.name));
    }
}

// Drops what `taken` has already, and all but the last value of options that hold one.
void keep_last_values(po::parsed_options& parsed, const std::set<std::string>& taken) {
    std::set<std::string> seen;
    auto& options = parsed.options;
    for (auto option = options.rbegin(); option != options.rend(); ++option) {
        const po::option_description* known =
            parsed.description->find_nothrow(option->string_key, false);
        const bool collects = known != nullptr && known->semantic()->is_composing();
        const bool repeated = !seen.insert(option->string_key).second;
        if (taken.count(option->string_key) != 0 || (repeated && !collects)) {
            option->string_key.clear();
        }
    }
    std::erase_if(options, [](const po::option& option) {
        return option.string_key.empty() && option.position_key == -1;
    });
}

void store(const app_description& app, const po::parsed_options& parsed, const std::string& where,
           po::variables_map& values) {
    try {
        po::store(parsed, values);
    } catch (const po::error& failure) {
        refuse(fmt::format("{}{}; see {} --help", failure.what(), where, app.name));
    }
}

std::set<std::string> names_in(const po::parsed_options& parsed) {
    std::set<std::string> names;
    for (const auto& option : parsed.options) names.insert(option.string_key);
    return names;
}

void store_config(const app_description& app, const po::options_description& all,
                  const std::string& file, const std::set<std::string>& taken,
                  po::variables_map& values) {
    std::ifstream stream(file);
    if (!stream || std::filesystem::is_directory(file))
        refuse(fmt::format("cannot read --config file '{}'; check its name", file));
    const std::string where = fmt::format(" in '{}'", file);
    auto options =
        parsed(app, all, where, [&] { return po::parse_config_file<char>(stream, all); });
    keep_last_values(options, taken);
    store(app, options, where, values);
}

template <class Enum, std::size_t Count>
Enum choice(const command_line& line, const char* option, const char* const (&names)[Count],
            const Enum (&meanings)[Count]) {
    if (!line.has(option)) return meanings[0];
    const std::string given = line.text(option);
    for (std::size_t i = 0; i < Count; ++i) {
        if (given == names[i]) return meanings[i];
    }
    std::string allowed = names[0];
    for (std::size_t i = 1; i < Count; ++i) allowed += std::string(", ") + names[i];
    refuse(fmt::format("option '--{}': '{}' is none of {}", option, given, allowed));
}

common_options read_common(const command_line& line) {
    common_options common;
    common.backend = choice(line, "backend", {"auto", "cpu", "cuda"},
                            {backend::automatic, backend::cpu, backend::cuda});
    common.progress = choice(line, "progress", {"auto", "on", "off"},
                             {progress_mode::automatic, progress_mode::on, progress_mode::off});
    if (line.has("threads")) {
        // More threads than this are a slip of the finger, and each costs a stack.
        constexpr std::int64_t most_threads = 4096;
        const std::int64_t threads = parse_count("--threads", line.text("threads"), 1);
        if (threads > most_threads) {
            refuse(fmt::format("option '--threads': {} is more than {}", threads, most_threads));
        }
        common.threads = static_cast<int>(threads);
    }
    if (line.has("memory")) {
        common.memory = parse_size("--memory", line.text("memory"), memory_of_machine());
    }
    common.tmp = line.text("tmp");
    common.json = line.text("json");
    if (!common.json.empty()) require_report_file(common.json);
    common.dry_run = line.flag("dry-run");
    common.verbose = line.flag("verbose");
    common.quiet = line.flag("quiet");
    if (common.verbose && common.quiet) refuse("--verbose and --quiet exclude each other");
    return common;
}

// One option with its text, wrapped to `width` columns from column `indent`.
std::string option_help(const po::option_description& option) {
    constexpr std::size_t indent = 30;
    constexpr std::size_t width = 80;
    const std::string dashed =
        option.canonical_display_name(po::command_line_style::allow_dash_for_short);
    const bool has_short = dashed.size() == 2 && dashed[0] == '-';
    std::string head = has_short ? fmt::format("  {}, --{}", dashed, option.long_name())
                                 : fmt::format("      --{}", option.long_name());
    if (option.semantic()->max_tokens() > 0) head.append(" ").append(option.semantic()->name());
    std::string text = head.size() + 2 > indent ? head + "\n" + std::string(indent, ' ')
                                                : head + std::string(indent - head.size(), ' ');
    std::size_t column = indent;
    const std::string& words = option.description();
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        const std::size_t length = end - at;
        if (column != indent && column + 1 + length > width) {
            text += "\n" + std::string(indent, ' ');
            column = indent;
        }
        if (column != indent) {
            text += ' ';
            ++column;
        }
        text += words.substr(at, length);
        column += length;
        at = end + 1;
    }
    return text + "\n";
}

std::string group_help(const option_group& group) {
    std::string text = fmt::format("\n{}:\n", group.title);
    for (const auto& option : group.options.options()) text += option_help(*option);
    return text;
}

}  // namespace

po::value_semantic* text_option(const char* placeholder) {
    return po::value<std::string>()->value_name(placeholder);
}

po::value_semantic* list_option(const char* placeholder) {
    return po::value<std::vector<std::string>>()->composing()->value_name(placeholder);
}

po::value_semantic* flag_option() {
    return po::bool_switch();
}

std::string command_line::text(const char* name) const {
    return has(name) ? values[name].as<std::string>() : std::string();
}

std::vector<std::string> command_line::list(const char* name) const {
    return has(name) ? values[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

command_line parse_command_line(const app_description& app, int argc, const char* const* argv) {
    namespace style = po::command_line_style;
    const po::options_description all = everything(app);
    po::positional_options_description positional;
    positional.add(input_option, -1);
    auto options = parsed(app, all, "", [&] {
        // No guessing from prefixes: a script must not break when an option is added.
        return po::command_line_parser(argc, argv)
            .options(all)
            .positional(positional)
            .style(style::unix_style & ~style::allow_guessing)
            .run();
    });
    keep_last_values(options, {});
    command_line line;
    store(app, options, "", line.values);
    if (line.has("config")) {
        store_config(app, all, line.text("config"), names_in(options), line.values);
    }
    if (line.flag("help") || line.flag("version")) return line;
    line.common = read_common(line);
    line.inputs = line.list(input_option);
    return line;
}

std::string help_text(const app_description& app) {
    std::string text = fmt::format("{}\n\nUsage:\n{}", app.summary, app.synopsis);
    for (const auto& group : app.groups) text += group_help(group);
    text += group_help(common_group());
    text += fmt::format("\nExamples:\n{}", app.examples);
    text += "\nExit status: 0 done; 1 the answer is no; 2 anything else.\n";
    return text;
}

bool given(const command_line& line, const char* name) {
    const auto& value = line.values[name];
    if (value.empty()) return false;
    return value.value().type() != typeid(bool) || value.as<bool>();
}

void refuse_pair(const command_line& line, const char* first, const char* second,
                 std::string_view why) {
    if (!given(line, first) || !given(line, second)) return;
    refuse(fmt::format("--{} and --{} exclude each other: {}", first, second, why));
}

std::vector<std::string> split_names(std::string_view option, std::string_view text) {
    std::vector<std::string> names(1);
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
            names.back().push_back('"');  // a quote inside stands twice
            ++at;
        } else if (letter == '"') {
            quoted = !quoted;
        } else if (letter == ',' && !quoted) {
            names.emplace_back();
        } else {
            names.back().push_back(letter);
        }
    }
    const bool empty_name = std::any_of(names.begin(), names.end(),
                                        [](const std::string& name) { return name.empty(); });
    if (quoted || empty_name) {
        refuse(fmt::format("option '{}': '{}' has {}", option, text,
                           quoted ? "an open quote" : "an empty name"));
    }
    return names;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best;
    // Farther than a third of the word and it is another word.
    std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 2) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t columns = candidate.size() + 1;
        std::vector<std::vector<std::size_t>> cost(word.size() + 1,
                                                   std::vector<std::size_t>(columns));
        for (std::size_t i = 0; i <= word.size(); ++i) {
            for (std::size_t j = 0; j < columns; ++j) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                const std::size_t swap = word[i - 1] != candidate[j - 1] ? 1 : 0;
                cost[i][j] =
                    std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + swap});
                if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] &&
                    word[i - 2] == candidate[j - 1]) {
                    cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        // A word cut short ("--rev") is nearer than its distance says.
        const bool prefix = word.size() > 3 && candidate.rfind(word, 0) == 0;
        const std::size_t distance = prefix ? 1 : cost[word.size()].back();
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace lookback::apps
