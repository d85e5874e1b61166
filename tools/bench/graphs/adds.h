// Many tiny additions, `y = x + 1`, each in a scope of its own, so that they are not fused.
#pragma once

#include "ir/author/builder.h"

namespace dfc::bench {

/// x -> x + 1 + 1 …: each addition needs the one before; the last is the next x.
Result<Graph> dependentAdds(const std::string& device, int count);

/// `count` times x + 1, each kept in a parameter. Compile without the pass share_common_ops.
Result<Graph> independentAdds(const std::string& device, int count);

/// `chains` independent chains of `length` additions each.
Result<Graph> chainsOfAdds(const std::string& device, int chains, int length);

} // namespace dfc::bench
