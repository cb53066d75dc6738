# Sums test cases over a testlog.json of Meson: one JSON object a line. A doctest program counts with
# its cases, any other test as one.
{
  ok = ($0 ~ /"result": "(OK|EXPECTEDFAIL)"/)
  if ($0 ~ /"result": "SKIP"/) next
  p = 0; f = 0
  if (match($0, /test cases: *[0-9]+ \| *[0-9]+ passed \| *[0-9]+ failed/)) {
    split(substr($0, RSTART, RLENGTH), part, "|")
    p = part[2] + 0; f = part[3] + 0
    if (!ok && f == 0) f = 1
  } else if (ok) p = 1
  else f = 1
  passed += p; failed += f
}
END { print passed + 0, failed + 0 }
