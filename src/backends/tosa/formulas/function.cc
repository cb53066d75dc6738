#include <cmath>

#include "backends/tosa/formulas/formula.h"

namespace tare {
namespace {

constexpr double kPi = 3.14159265358979323846;

Node Polynomial(TensorMath& m, Node x, std::span<const double> coefficients) {
  Node sum = m.Mul(x, coefficients[0]);
  for (size_t i = 1; i < coefficients.size(); ++i) {
    sum = m.Add(sum, coefficients[i]);
    if (i + 1 < coefficients.size()) sum = m.Mul(sum, x);
  }
  return sum;
}

Node Choose(TensorMath& m, Node condition, Node a, double b) { return m.Select(condition, a, m.Number(a, b)); }

// Of |x| up to 1/2 a series, above by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
// `value`, which belongs to |x|, with the sign of x.
Node Odd(TensorMath& m, Node x, Node value) {
  const Node below = m.Less(x, 0), opposite = m.Mul(value, -1);
  return m.Select(below, opposite, value);
}

// Coefficients: Cephes library, single precision asinf.
Node Asin(TensorMath& m, Node x) {
  static constexpr double kSeries[] = {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2,
                                       1.6666752422e-1};
  const Node size = m.Unary("ABS", x), far = m.Greater(size, 0.5);
  const Node half = m.Mul(m.Sub(m.Number(size, 1), size), 0.5);
  const Node z = m.Select(far, half, m.Mul(x, x)), root = m.Select(far, m.Sqrt(half), size);
  const Node series = m.Add(m.Mul(m.Mul(Polynomial(m, z, kSeries), z), root), root);
  const Node value = m.Select(far, m.Add(m.Mul(series, -2), kPi / 2), series);
  return Odd(m, x, value);
}

// Arguments above tan(pi/8) and tan(3 pi/8) are turned by pi/4 and pi/2. Coefficients: Cephes, atanf.
Node Atan(TensorMath& m, Node x) {
  static constexpr double kSeries[] = {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1};
  const Node size = m.Unary("ABS", x), far = m.Greater(size, 2.414213562373095),
             middle = m.Greater(size, 0.4142135623730950);
  const Node less = m.Add(size, -1), turned = m.Mul(less, m.Unary("RECIPROCAL", m.Add(size, 1)));
  const Node inverse = m.Mul(m.Unary("RECIPROCAL", size), -1);
  const Node t = m.Select(far, inverse, m.Select(middle, turned, size));
  const Node right = m.Number(t, kPi / 2), less_far = Choose(m, middle, m.Number(t, kPi / 4), 0);
  const Node turn = m.Select(far, right, less_far);
  const Node z = m.Mul(t, t);
  const Node value = m.Add(turn, m.Add(m.Mul(m.Mul(Polynomial(m, z, kSeries), z), t), t));
  return Odd(m, x, value);
}

Node Log(TensorMath& m, Node x) { return m.Unary("LOG", x); }
Node Exp(TensorMath& m, Node x) { return m.Unary("EXP", x); }
Node Inverse(TensorMath& m, Node x) { return m.Unary("RECIPROCAL", x); }

Node Acosh(TensorMath& m, Node x) {
  const Node less = m.Sqrt(m.Add(x, -1)), more = m.Sqrt(m.Add(x, 1));
  return Log(m, m.Add(x, m.Mul(less, more)));
}

Node Asinh(TensorMath& m, Node x) {
  const Node size = m.Unary("ABS", x), value = Log(m, m.Add(size, m.Sqrt(m.Add(m.Mul(x, x), 1))));
  return Odd(m, x, value);
}

Node Atanh(TensorMath& m, Node x) {
  const Node more = m.Add(x, 1), less = m.Sub(m.Number(x, 1), x);
  return m.Mul(Log(m, m.Mul(more, Inverse(m, less))), 0.5);
}

// (exp(x) + sign * exp(-x)) / 2
Node Hyperbolic(TensorMath& m, Node x, double sign) {
  const Node growing = Exp(m, x), falling = m.Mul(Exp(m, m.Mul(x, -1)), sign);
  return m.Mul(m.Add(growing, falling), 0.5);
}

// Giles, "Approximating the erfinv function" (2010), single precision.
Node Erfinv(TensorMath& m, Node x) {
  static constexpr double kCentre[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                       -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                     -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const Node less = m.Sub(m.Number(x, 1), x), more = m.Add(x, 1);
  const Node w = m.Mul(Log(m, m.Mul(less, more)), -1);
  const Node centre = Polynomial(m, m.Add(w, -2.5), kCentre), tail = Polynomial(m, m.Add(m.Sqrt(w), -3), kTail);
  const Node value = m.Mul(m.Select(m.Less(w, 5), centre, tail), x);
  const Node end = m.Equal(m.Unary("ABS", x), 1), infinite = m.Mul(x, INFINITY);
  return m.Select(end, infinite, value);
}

Node Sign(TensorMath& m, Node x) {
  const Node above = m.Greater(x, 0), below = m.Less(x, 0), one = m.Number(x, 1), minus = m.Number(x, -1);
  return m.Select(above, one, Choose(m, below, minus, 0));
}

// Halves go to the even neighbour.
Node Round(TensorMath& m, Node x) {
  const Node up = m.Unary("FLOOR", m.Add(x, 0.5)), even = m.Mul(m.Unary("FLOOR", m.Mul(up, 0.5)), 2);
  const Node tie = m.Equal(m.Sub(up, x), 0.5), odd = m.Not(m.Binary("EQUAL", up, even));
  const Node down = m.Add(up, -1), near = m.Select(m.Binary("LOGICAL_AND", tie, odd), down, up);
  // From 2^23 on there are no fractions, and adding a half may round.
  return m.Select(m.Less(m.Unary("ABS", x), 8388608.0), near, x);
}

// log(z / (1 - z)), z kept within [eps, 1 - eps]
Node Logit(FormulaCall& c) {
  Node x = c.In("self");
  if (const std::optional<double> eps = c.node.number("eps")) x = c.m.Clamp(x, *eps, 1 - *eps);
  return Log(c.m, c.m.Mul(x, Inverse(c.m, c.m.Sub(c.m.Number(x, 1), x))));
}

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
Node Celu(FormulaCall& c) {
  const double alpha = c.node.number("alpha").value_or(1);
  const Node x = c.In("self"), below = c.m.Clamp(x, -INFINITY, 0);
  const Node above = c.m.Clamp(x, 0, INFINITY);
  return c.m.Add(above, c.m.Mul(c.m.Add(Exp(c.m, c.m.Mul(below, 1 / alpha)), -1), alpha));
}

Node IsNan(TensorMath& m, Node x) { return m.Not(m.Binary("EQUAL", x, x)); }

Node IsFinite(TensorMath& m, Node x) { return m.Less(m.Unary("ABS", x), INFINITY); }
Node IsInfinite(TensorMath& m, Node x) { return m.Equal(m.Unary("ABS", x), INFINITY); }
Node IsNegative(TensorMath& m, Node x) { return m.Equal(x, -INFINITY); }
Node IsPositive(TensorMath& m, Node x) { return m.Equal(x, INFINITY); }

Node NanToNum(FormulaCall& c) {
  if (c.dtype() != DType::kF32) return c.Refuse("numbers for what is no number, of another dtype than f32");
  const double largest = static_cast<double>(3.4028234663852886e38f);
  TensorMath& m = c.m;
  Node x = c.In("self");
  const auto replaced = [&](Node where, double number) {
    const Node value = m.Number(x, number);
    return m.Select(where, value, x);
  };
  x = replaced(IsNan(m, x), c.node.number("nan").value_or(0));
  x = replaced(m.Equal(x, INFINITY), c.node.number("posinf").value_or(largest));
  return replaced(m.Equal(x, -INFINITY), c.node.number("neginf").value_or(-largest));
}

// -log(1 + exp(-x)) without overflow
Node LogSigmoid(FormulaCall& c) {
  const Node x = c.In("self");
  const Node decay = Exp(c.m, c.m.Mul(c.m.Unary("ABS", x), -1));
  const Node below = c.m.Clamp(x, -INFINITY, 0), rest = Log(c.m, c.m.Add(decay, 1));
  return c.m.Sub(below, rest);
}

Node HardShrink(FormulaCall& c) {
  const Node x = c.In("self");
  return Choose(c.m, c.m.Greater(c.m.Unary("ABS", x), c.node.number("lambd").value_or(0.5)), x, 0);
}

Node SoftShrink(FormulaCall& c) {
  const double by = c.node.number("lambd").value_or(0.5);
  const Node x = c.In("self");
  return c.m.Sub(x, c.m.Clamp(x, -by, by));
}

Node Threshold(FormulaCall& c) {
  const Node x = c.In("self");
  return Choose(c.m, c.m.Greater(x, c.node.number("threshold").value_or(0)), x, c.node.number("value").value_or(0));
}

Node RoundDecimals(FormulaCall& c) {
  const double unit = std::pow(10.0, static_cast<double>(c.node.integer("decimals").value_or(0)));
  return c.m.Mul(Round(c.m, c.m.Mul(c.In("self"), unit)), 1 / unit);
}

// sin(pi x) / (pi x)
Node Sinc(FormulaCall& c) {
  const Node x = c.In("self"), angle = c.m.Mul(x, kPi);
  const Node none = c.m.Equal(x, 0), one = c.m.Number(x, 1), sine = c.m.Unary("SIN", angle);
  const Node quotient = c.m.Mul(sine, Inverse(c.m, angle));
  return c.m.Select(none, one, quotient);
}

Node BitwiseNot(FormulaCall& c) {
  const Node x = c.node.arg("self");
  return c.m.Unary(x.tensor().dtype == DType::kBool ? "LOGICAL_NOT" : "BITWISE_NOT", x);
}

Node LogicalNot(FormulaCall& c) { return c.m.Not(c.m.Convert(c.node.arg("self"), DType::kBool)); }

// Of an integer x there is nothing to round.
template <Node (*kFunction)(TensorMath&, Node)>
Node OfFraction(FormulaCall& c) {
  return IsFloating(c.dtype()) ? kFunction(c.m, c.In("self")) : c.In("self");
}
Node Floor(TensorMath& m, Node x) { return m.Unary("FLOOR", x); }
Node Ceil(TensorMath& m, Node x) { return m.Unary("CEIL", x); }
Node Truncate(TensorMath& m, Node x) { return m.Truncate(x); }

// A bool about a float.
template <Node (*kFunction)(TensorMath&, Node)>
Node About(FormulaCall& c) {
  const Node x = c.node.arg("self");
  return IsFloating(x.tensor().dtype) ? kFunction(c.m, x) : c.Refuse("no float is asked about");
}

template <Node (*kFunction)(TensorMath&, Node)>
Node Of(FormulaCall& c) {
  return kFunction(c.m, c.In("self"));
}

constexpr FormulaRow kRows[] = {
    {"aten.abs.default", [](FormulaCall& c) { return c.m.Unary("ABS", c.In("self")); }},
    {"aten.absolute.default", [](FormulaCall& c) { return c.m.Unary("ABS", c.In("self")); }},
    {"aten.acos.default", [](FormulaCall& c) { return c.m.Add(c.m.Mul(Asin(c.m, c.In("self")), -1), kPi / 2); }},
    {"aten.acosh.default", Of<Acosh>},
    {"aten.asin.default", Of<Asin>},
    {"aten.asinh.default", Of<Asinh>},
    {"aten.atan.default", Of<Atan>},
    {"aten.atanh.default", Of<Atanh>},
    {"aten.bitwise_not.default", BitwiseNot},
    {"aten.ceil.default", OfFraction<Ceil>},
    {"aten.celu.default", Celu},
    {"aten.cos.default", [](FormulaCall& c) { return c.m.Unary("COS", c.In("self")); }},
    {"aten.cosh.default", [](FormulaCall& c) { return Hyperbolic(c.m, c.In("self"), 1); }},
    {"aten.deg2rad.default", [](FormulaCall& c) { return c.m.Mul(c.In("self"), kPi / 180); }},
    {"aten.erf.default", [](FormulaCall& c) { return c.m.Unary("ERF", c.In("self")); }},
    {"aten.erfc.default", [](FormulaCall& c) { return c.m.Add(c.m.Mul(c.m.Unary("ERF", c.In("self")), -1), 1); }},
    {"aten.erfinv.default", Of<Erfinv>},
    {"aten.exp.default", Of<Exp>},
    {"aten.fix.default", OfFraction<Truncate>},
    {"aten.floor.default", OfFraction<Floor>},
    {"aten.frac.default",
     [](FormulaCall& c) {
       const Node x = c.In("self");
       return c.m.Sub(x, c.m.Truncate(x));
     }},
    {"aten.hardshrink.default", HardShrink},
    {"aten.isfinite.default", About<IsFinite>},
    {"aten.isinf.default", About<IsInfinite>},
    {"aten.isnan.default", About<IsNan>},
    {"aten.isneginf.default", About<IsNegative>},
    {"aten.isposinf.default", About<IsPositive>},
    {"aten.log.default", Of<Log>},
    {"aten.log_sigmoid.default", LogSigmoid},
    {"aten.log_sigmoid_forward.default",
     [](FormulaCall& c) { return c.index == 0 ? LogSigmoid(c) : c.Refuse("the buffer of the backward pass"); }},
    {"aten.logical_not.default", LogicalNot},
    {"aten.logit.default", Logit},
    {"aten.nan_to_num.default", NanToNum},
    {"aten.neg.default", [](FormulaCall& c) { return c.m.Unary("NEGATE", c.In("self")); }},
    {"aten.negative.default", [](FormulaCall& c) { return c.m.Unary("NEGATE", c.In("self")); }},
    {"aten.positive.default", [](FormulaCall& c) { return c.In("self"); }},
    {"aten.rad2deg.default", [](FormulaCall& c) { return c.m.Mul(c.In("self"), 180 / kPi); }},
    {"aten.reciprocal.default", Of<Inverse>},
    {"aten.round.decimals", RoundDecimals},
    {"aten.round.default", OfFraction<Round>},
    {"aten.rsqrt.default", [](FormulaCall& c) { return c.m.Unary("RSQRT", c.In("self")); }},
    {"aten.sgn.default", Of<Sign>},
    {"aten.sigmoid.default", [](FormulaCall& c) { return c.m.Unary("SIGMOID", c.In("self")); }},
    {"aten.sign.default", Of<Sign>},
    {"aten.sin.default", [](FormulaCall& c) { return c.m.Unary("SIN", c.In("self")); }},
    {"aten.sinc.default", Sinc},
    {"aten.sinh.default", [](FormulaCall& c) { return Hyperbolic(c.m, c.In("self"), -1); }},
    {"aten.softshrink.default", SoftShrink},
    {"aten.special_expm1.default", [](FormulaCall& c) { return c.m.Add(Exp(c.m, c.In("self")), -1); }},
    {"aten.sqrt.default", [](FormulaCall& c) { return c.m.Sqrt(c.In("self")); }},
    {"aten.square.default",
     [](FormulaCall& c) {
       const Node x = c.In("self");
       return c.m.Mul(x, x);
     }},
    {"aten.tan.default",
     [](FormulaCall& c) {
       const Node x = c.In("self");
       const Node sine = c.m.Unary("SIN", x), cosine = c.m.Unary("COS", x);
       return c.m.Mul(sine, Inverse(c.m, cosine));
     }},
    {"aten.tanh.default", [](FormulaCall& c) { return c.m.Unary("TANH", c.In("self")); }},
    {"aten.threshold.default", Threshold},
    {"aten.trunc.default", OfFraction<Truncate>},
};

}  // namespace

std::span<const FormulaRow> FunctionFormulas() { return kRows; }

}  // namespace tare
