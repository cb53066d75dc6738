#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "absl/strings/charconv.h"
#include "ir/json_text.h"
#include "ir/notation.h"
#include "ir/status.h"

namespace tare {
namespace {

constexpr std::string_view kMemoryFormatNames[] = {"contiguous", "channels_last", "channels_last_3d", "preserve"};
constexpr std::string_view kLayoutNames[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                             "sparse_bsr", "sparse_bsc", "mkldnn"};
constexpr std::string_view kDeviceNames[] = {"cpu", "cuda", "meta", "other"};

template <typename Enum, size_t kSize>
std::optional<Enum> ByName(const std::string_view (&names)[kSize], std::string_view name) {
  for (size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view Name(MemoryFormat format) { return kMemoryFormatNames[static_cast<size_t>(format)]; }
std::string_view Name(Layout layout) { return kLayoutNames[static_cast<size_t>(layout)]; }
std::optional<MemoryFormat> MemoryFormatByName(std::string_view name) {
  return ByName<MemoryFormat>(kMemoryFormatNames, name);
}
std::optional<Layout> LayoutByName(std::string_view name) { return ByName<Layout>(kLayoutNames, name); }

std::string PrintDevice(Device device) {
  const std::string_view name = kDeviceNames[static_cast<size_t>(device.type)];
  return device.index < 0 ? std::string(name) : Cat(name, ":", static_cast<int>(device.index));
}

std::optional<Device> DeviceByName(std::string_view name) {
  Device device;
  const size_t colon = name.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, device.index);
    if (digits.empty() || error != std::errc() || stop != end || device.index < 0) return std::nullopt;
    name = name.substr(0, colon);
  }
  const std::optional<DeviceType> type = ByName<DeviceType>(kDeviceNames, name);
  if (!type) return std::nullopt;
  device.type = *type;
  return device;
}

std::string PrintDouble(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  TARE_CHECK(error == std::errc());
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<double> ParseDouble(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text == "nan") return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  if (text == "inf")
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = absl::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;  // out of range gives infinity or zero, as in Python
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const unsigned char c = static_cast<unsigned char>(text[0]);
    size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F || length == 0) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02x", c);
      out += escape;
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

std::string QuoteUnlessWord(std::string_view text) {
  if (text.empty()) return "\"\"";
  for (const char c : text) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!word) return Quote(text);
  }
  return std::string(text);
}

}  // namespace tare
