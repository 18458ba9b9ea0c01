#include "data.hpp"
#include "harness.hpp"
#include "hdf5_peer.hpp"
#include "io/dataset.hpp"
#include "io/file.hpp"
#include "io/output.hpp"
#include "io/transfer.hpp"
#include "python_peer.hpp"

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include <unistd.h>

namespace lookback::bench {
namespace {

using key = std::uint64_t;

// Keys of 40 live bits in 64: shuffle and gzip take them to 5/8 of their size. Without a filter all
// bits are live.
key make_key(layout layout, std::uint64_t word) {
    return layout == layout::gzip ? word >> 24 : word;
}

io::filter filter_of(const std::string& text) {
    const std::optional<io::filter> parsed = io::parse_filter(text);
    if (!parsed) throw std::logic_error(text + " names no filter");
    return *parsed;
}

io::transfer_options with_threads(int threads) {
    io::transfer_options options;
    options.threads = threads;
    return options;
}

// Writes FILE:/keys with lib/io; returns the seconds of io::write.
double write_with_lookback(const std::string& path, layout layout, std::span<const key> keys,
                           int threads) {
    io::output_file output(path, {.truncate = true});
    io::storage_options storage;
    if (layout == layout::gzip) {
        storage.chunk_rows = 131072;
        storage.filters = {filter_of("SHUF"), filter_of("GZIP=4")};
    }
    double seconds = 0;
    {
        const io::dataset dataset = output.create("/keys", data_type::u64, keys.size(), storage);
        seconds = seconds_of(
            [&] { io::write(dataset, io::form::native, keys.data(), with_threads(threads)); });
    }
    output.commit();
    return seconds;
}

// A folder of its own for a job's files; gone with its contents when the job ends.
class scratch_folder {
public:
    explicit scratch_folder(const settings& settings) {
        std::string pattern = settings.folder + "/lookback-bench-XXXXXX";
        if (mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("cannot make a folder in " + settings.folder);
        }
        path_ = pattern;
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

// The input, as memory and as FILE:/keys written by HDF5, and room for what is read back.
class arena {
public:
    arena(const settings& settings, layout layout, std::size_t full_items)
        : folder_(settings),
          layout_(layout),
          input_(context_, settings.items(full_items)),
          read_(context_, input_.size()) {
        fill(input_.span(),
             [=](std::size_t, std::uint64_t word) { return make_key(layout, word); });
        write_with_hdf5(source(), layout, input_.span());
    }

    double read_round(int threads) {
        clear();
        const io::file file = io::file::open(source());
        const io::dataset dataset = io::dataset::open(file, "/keys");
        const double seconds = seconds_of(
            [&] { io::read(dataset, io::form::native, read_.data(), with_threads(threads)); });
        require_input();
        return seconds;
    }
    double hdf5_read_round() {
        clear();
        const double seconds = read_with_hdf5(source(), read_.span());
        require_input();
        return seconds;
    }
    double write_round(int threads) {
        const std::string path = folder_.file("ours.h5");
        const double seconds = write_with_lookback(path, layout_, input_.span(), threads);
        verify_file(path);
        return seconds;
    }
    double hdf5_write_round() {
        const std::string path = folder_.file("peer.h5");
        const double seconds = write_with_hdf5(path, layout_, input_.span());
        verify_file(path);
        return seconds;
    }
    double copy_round() {
        return seconds_of(
            [&] { copy_bytes(read_.data(), input_.data(), input_.size() * sizeof(key), 2); });
    }

private:
    std::string source() const { return folder_.file("source.h5"); }
    void clear() { std::memset(read_.data(), 0xff, read_.size() * sizeof(key)); }
    void require_input() const {
        require(std::memcmp(read_.data(), input_.data(), input_.size() * sizeof(key)) == 0,
                "what was read differs from what was written");
    }
    void verify_file(const std::string& path) {
        clear();
        read_with_hdf5(path, read_.span());
        require_input();
    }

    context context_{{.backend = backend::cpu}};
    scratch_folder folder_;
    layout layout_;
    buffer<key> input_;
    buffer<key> read_;
};

// Whole processes: from a file to a sorted file of the same layout.
class process_arena {
public:
    process_arena(const settings& settings, layout layout, std::size_t full_items)
        : settings_(settings), folder_(settings), keys_(context_, settings.items(full_items)) {
        fill(keys_.span(), [=](std::size_t, std::uint64_t word) { return make_key(layout, word); });
        digest_ = inspect_keys().digest;
        write_with_lookback(folder_.file("source.h5"), layout, keys_.span(), 2);
    }

    double lookback_round() {
        const std::string target = folder_.file("ours.h5");
        std::filesystem::remove(target);
        const double seconds = seconds_of([&] {
            run_program(settings_.h5sort,
                        {folder_.file("source.h5") + ":/keys", "-o", target, "-q"});
        });
        verify(target);
        return seconds;
    }
    // The slowest to verify and the least in doubt: the first output is checked, the others are
    // like it.
    double python_round() {
        const std::string target = folder_.file("peer.h5");
        std::filesystem::remove(target);
        const double seconds = seconds_of([&] {
            run_program(settings_.python,
                        {settings_.peers_script, "h5sort", folder_.file("source.h5"), target});
        });
        if (!peer_verified_) verify(target);
        peer_verified_ = true;
        return seconds;
    }

private:
    finding inspect_keys() const {
        const key* keys = keys_.data();
        return inspect(
            keys_.size(), [=](std::size_t i) { return keys[i]; },
            [=](std::size_t a, std::size_t b) { return keys[a] <= keys[b]; });
    }
    void verify(const std::string& path) {
        read_with_hdf5(path, keys_.span());
        const finding found = inspect_keys();
        require(found.sorted && found.digest == digest_, path + " is not the sorted input");
    }

    settings settings_;
    context context_{{.backend = backend::cpu}};
    scratch_folder folder_;
    buffer<key> keys_;
    std::uint64_t digest_ = 0;
    bool peer_verified_ = false;
};

std::string absent_program(const std::string& program) {
    return access(program.c_str(), X_OK) == 0 ? "" : "no " + program;
}

job read_job(const std::string& name, layout layout, std::size_t items) {
    const auto prepare = [=](const settings& settings) {
        const auto shared = std::make_shared<arena>(settings, layout, items);
        return std::vector<contestant>{
            {.name = "lookback:2", .round = [=] { return shared->read_round(2); }},
            {.name = "lookback:1", .round = [=] { return shared->read_round(1); }},
            {.name = "H5Dread", .round = [=] { return shared->hdf5_read_round(); }},
            {.name = "copy:2", .round = [=] { return shared->copy_round(); }}};
    };
    return {.name = "read/" + name,
            .description = std::to_string(items * sizeof(key) >> 20) + " MiB of u64, " + name,
            .items = items,
            .item_bytes = sizeof(key),
            .prepare = prepare};
}

job write_job(const std::string& name, layout layout, std::size_t items) {
    const auto prepare = [=](const settings& settings) {
        const auto shared = std::make_shared<arena>(settings, layout, items);
        return std::vector<contestant>{
            {.name = "lookback:2", .round = [=] { return shared->write_round(2); }},
            {.name = "H5Dwrite",
             .round = [=] { return shared->hdf5_write_round(); },
             .many_seconds = layout == layout::gzip},
            {.name = "copy:2", .round = [=] { return shared->copy_round(); }}};
    };
    return {.name = "write/" + name,
            .description = std::to_string(items * sizeof(key) >> 20) + " MiB of u64, " + name,
            .items = items,
            .item_bytes = sizeof(key),
            .prepare = prepare};
}

job process_job(const std::string& name, layout layout) {
    constexpr std::size_t items = std::size_t{1} << 28;
    const auto prepare = [=](const settings& settings) {
        const auto shared = std::make_shared<process_arena>(settings, layout, items);
        return std::vector<contestant>{{.name = "lookback:2",
                                        .round = [=] { return shared->lookback_round(); },
                                        .many_seconds = true,
                                        .absent = absent_program(settings.h5sort)},
                                       {.name = "h5py",
                                        .round = [=] { return shared->python_round(); },
                                        .many_seconds = true,
                                        .absent = absent_program(settings.python)}};
    };
    return {.name = "h5sort/" + name,
            .description = "2 GiB of u64, " + name + " in and out, whole process",
            .items = items,
            .item_bytes = sizeof(key),
            .prepare = prepare};
}

}  // namespace

std::vector<job> file_jobs() {
    constexpr std::size_t mebibyte = (std::size_t{1} << 20) / sizeof(key);
    return {read_job("gzip", layout::gzip, 512 * mebibyte),
            read_job("contiguous", layout::contiguous, 1024 * mebibyte),
            write_job("gzip", layout::gzip, 256 * mebibyte),
            write_job("contiguous", layout::contiguous, 512 * mebibyte),
            process_job("contiguous", layout::contiguous),
            process_job("gzip", layout::gzip)};
}

}  // namespace lookback::bench
