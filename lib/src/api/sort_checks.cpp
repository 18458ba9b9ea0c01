#include "api/sort_checks.hpp"

#include "api/context_state.hpp"
#include "cpu/gather.hpp"
#include "cpu/segmented_scan.hpp"

#include <lookback/error.hpp>

#include <functional>

namespace lookback {
namespace {

cuda::offset_facts facts_of(const context& context, const char* who,
                            std::span<const std::int64_t> offsets) {
    if (context.internal().device) {
        return cuda::look_at_offsets(*context.internal().device,
                                     (std::string(who) + ": offsets").c_str(), offsets.data(),
                                     offsets.size());
    }
    const std::size_t s = cpu::first_decrease(*context.internal().executor, offsets);
    cuda::offset_facts facts{offsets.front(), offsets.back(), s, 0, 0};
    if (s != offsets.size()) {
        facts.before = offsets[s - 1];
        facts.less = offsets[s];
    }
    return facts;
}

}  // namespace

void refuse(const char* who, const std::string& what) {
    throw error(error_kind::invalid_argument, std::string(who) + ": " + what);
}

void require_cpu(const context& context, const char* who) {
    if (context.active_backend() == backend::cpu) return;
    throw error(error_kind::backend_error,
                std::string(who) +
                    ": the CUDA backend cannot do this; use a context with "
                    "backend::cpu");
}

void check_keys(const char* who, std::span<const sort_key> keys, std::size_t rows) {
    if (keys.empty()) refuse(who, "no key is given; give at least one");
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const sort_key& key = keys[k];
        const std::string name = "key " + std::to_string(k);
        if (key.string_bytes == 0 && key.type > data_type::f64) {
            refuse(who,
                   name + " has the unknown type " + std::to_string(static_cast<int>(key.type)));
        }
        if (rows == 0) continue;
        if (key.data == nullptr) refuse(who, name + " has no data");
        const std::size_t item = key.string_bytes != 0 ? key.string_bytes : size_of(key.type);
        if (rows > SIZE_MAX / item) {
            refuse(who, name + " has more bytes than memory can: " + std::to_string(rows) +
                            " items of " + std::to_string(item) + " bytes");
        }
        if (key.string_bytes == 0 && reinterpret_cast<std::uintptr_t>(key.data) % item != 0) {
            refuse(who, name + " is not aligned to its type, " + std::string(name_of(key.type)));
        }
    }
}

void check_apart(const char* who, const char* a_name, const void* a, std::size_t a_bytes,
                 const char* b_name, const void* b, std::size_t b_bytes) {
    if (a_bytes == 0 || b_bytes == 0) return;
    const auto* x = static_cast<const std::byte*>(a);
    const auto* y = static_cast<const std::byte*>(b);
    const std::less<> before;
    if (before(x, y + b_bytes) && before(y, x + a_bytes)) {
        refuse(who, std::string(a_name) + " and " + b_name + " overlap");
    }
}

void check_offsets(const context& context, const char* who, std::span<const std::int64_t> offsets,
                   std::size_t size, const char* things) {
    if (offsets.empty()) refuse(who, "there are no offsets; give segments + 1 of them");
    const cuda::offset_facts facts = facts_of(context, who, offsets);
    if (facts.first != 0) {
        refuse(who, "offset 0 is " + std::to_string(facts.first) + "; it must be 0");
    }
    if (facts.decrease != offsets.size()) {
        refuse(who, "offset " + std::to_string(facts.decrease) + " is " +
                        std::to_string(facts.less) + ", less than the one before it, " +
                        std::to_string(facts.before));
    }
    if (static_cast<std::size_t>(facts.last) != size) {
        refuse(who, "the last offset, " + std::to_string(offsets.size() - 1) + ", is " +
                        std::to_string(facts.last) + "; it must be the number of " + things + ", " +
                        std::to_string(size));
    }
}

template <class Index>
void check_index(const context& context, const char* who, std::span<const Index> index,
                 std::size_t rows) {
    const auto& device = context.internal().device;
    const std::size_t at = device ? cuda::first_outside(*device, index, rows)
                                  : cpu::first_outside(*context.internal().executor, index, rows);
    if (at == index.size()) return;
    Index outside{};
    context.copy(&outside, &index[at], sizeof(outside));
    refuse(who, "index " + std::to_string(at) + " is " + std::to_string(outside) +
                    ", outside [0, " + std::to_string(rows) + ")");
}
template void check_index(const context&, const char*, std::span<const std::uint32_t>, std::size_t);
template void check_index(const context&, const char*, std::span<const std::int64_t>, std::size_t);

}  // namespace lookback
