const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A duration with three significant digits or two units: `0.42 ms`, `340 ms`, `4.52 s`, `12 min`, `1 m 11
 * s`, `2 h 05 m`, `3 d 04 h`, `6 h`.
 *
 * @param ms milliseconds, at least 0
 */
export function formatDuration(ms: number): string {
  if (ms <= 0) return '0 ms';
  if (ms < 0.0095) return '<0.01 ms';
  if (ms < 9.995) return `${trimmed(ms)} ms`;
  if (ms < 999.5) return `${String(Math.round(ms))} ms`;
  if (ms < 59_995) return `${trimmed(ms / SECOND)} s`;
  if (ms < HOUR - SECOND / 2) return pair(ms, MINUTE, 'm', SECOND, 's');
  if (ms < DAY - MINUTE / 2) return pair(ms, HOUR, 'h', MINUTE, 'm');
  return pair(ms, DAY, 'd', HOUR, 'h');
}

/**
 * Two decimals below ten, one above. Trailing zeros mean the value was rounded: `42.0 s` is not exactly 42
 * s.
 */
function trimmed(value: number): string {
  const text = value.toFixed(value < 9.995 ? 2 : 1);
  return Number(text) === value ? String(value) : text;
}

function pair(ms: number, upper: number, upperName: string, lower: number, lowerName: string): string {
  const total = Math.round(ms / lower);
  const perUpper = upper / lower;
  const rest = total % perUpper;
  const whole = String(Math.floor(total / perUpper));
  if (rest === 0) return `${whole} ${upperName === 'm' ? 'min' : upperName}`;
  return `${whole} ${upperName} ${String(rest).padStart(2, '0')} ${lowerName}`;
}
