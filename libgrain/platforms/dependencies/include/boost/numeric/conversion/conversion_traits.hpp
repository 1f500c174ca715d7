// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's: of two number types the one that holds the other's values; a class before a built-in type.
#include <type_traits>

namespace boost::numeric {

template <typename A, typename B, bool built_in = std::is_arithmetic_v<A> &&std::is_arithmetic_v<B>> struct SuperType {
    using type = std::conditional_t<std::is_arithmetic_v<A>, B, A>;
};
template <typename A, typename B> struct SuperType<A, B, true> {
    using type = std::common_type_t<A, B>;
};
template <typename A> struct SuperType<A, A, true> {
    using type = A;
};

template <typename A, typename B> struct conversion_traits {
    using supertype = typename SuperType<A, B>::type;
};

} // namespace boost::numeric
