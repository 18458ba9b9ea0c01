// Apps: from a type known at run time to a C++ type.
#pragma once

#include <lookback/types.hpp>

#include <cstdint>

namespace lookback::apps {

/// body.template operator()<T>() for the type that `type` stands for.
template <class Body>
decltype(auto) visit_type(data_type type, const Body& body) {
    switch (type) {
        case data_type::i8:
            return body.template operator()<std::int8_t>();
        case data_type::i16:
            return body.template operator()<std::int16_t>();
        case data_type::i32:
            return body.template operator()<std::int32_t>();
        case data_type::i64:
            return body.template operator()<std::int64_t>();
        case data_type::u8:
            return body.template operator()<std::uint8_t>();
        case data_type::u16:
            return body.template operator()<std::uint16_t>();
        case data_type::u32:
            return body.template operator()<std::uint32_t>();
        case data_type::u64:
            return body.template operator()<std::uint64_t>();
        case data_type::f16:
            return body.template operator()<float16>();
        case data_type::f32:
            return body.template operator()<float>();
        case data_type::f64:
            break;
    }
    return body.template operator()<double>();
}

}  // namespace lookback::apps
