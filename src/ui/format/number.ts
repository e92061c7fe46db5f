/** Number formats of all pages. Missing values are shown by `parts/Missing.tsx`. */

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const CENTS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const SMALL = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3, maximumFractionDigits: 20 });
const SMALL_ROUNDED = new Intl.NumberFormat('en-US', {
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
  maximumFractionDigits: 20,
});
const ONE_DECIMAL = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** Larger numbers are shortened to three digits. */
const COMPACT_FROM = 100_000;
const SMALLEST_MONEY = 0.000_001;

/** `1,234`; `1.23M` from a hundred thousand. */
export function formatCount(value: number): string {
  return Math.abs(value) >= COMPACT_FROM ? COMPACT.format(value) : WHOLE.format(value);
}

/** All digits: `1,234,567`. */
export function formatExact(value: number): string {
  return WHOLE.format(value);
}

/** `1 run`, `2 runs`. @param plural for irregular plurals */
export function formatCounted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/**
 * US dollars: cents from a dollar, three significant digits below, whole dollars from a thousand. Trailing
 * zeros mean the amount was rounded: `$0.0500` is about five cents, `$0.05` exactly five.
 *
 * @param usd dollars; below a millionth it returns `<$0.000001`
 */
export function formatMoney(usd: number): string {
  const size = Math.abs(usd);
  const sign = usd < 0 ? '−' : '';
  if (size === 0) return '$0';
  if (size < SMALLEST_MONEY) return `${sign}<$0.000001`;
  if (size < 0.9995) return `${sign}$${small(size)}`;
  if (size < 999.995) return `${sign}$${CENTS.format(size)}`;
  return `${sign}$${size >= COMPACT_FROM ? COMPACT.format(size) : WHOLE.format(size)}`;
}

/** Whether the text is rounded, ignoring floating-point error. */
function isRounded(text: string, value: number): boolean {
  return Math.abs(Number(text) - value) > Math.abs(value) * 1e-9;
}

/** `0.3` becomes `0.30`; rounded values `0.300`. */
function small(size: number): string {
  const text = SMALL.format(size);
  if (isRounded(text, size)) return SMALL_ROUNDED.format(size);
  return /\.\d$/.test(text) ? `${text}0` : text;
}

/** A percentage: `12.5%`, `80%`, `80.0%` if rounded, `111%`. */
export function formatPercentage(percentage: number): string {
  if (percentage > 0 && percentage < 0.1) return '<0.1%';
  if (percentage < 100 && percentage > 99.9) return '>99.9%';
  if (Math.abs(percentage) >= 100) return `${formatCount(percentage)}%`;
  const text = percentage.toFixed(1);
  return `${isRounded(text, percentage) ? text : String(Number(text))}%`;
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** `512 B`, `64 KB`, `1.2 MB` (base 1024). */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1023.95 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? WHOLE.format(value) : ONE_DECIMAL.format(value)} ${BYTE_UNITS[unit] ?? 'TB'}`;
}

const MEASURED = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

/**
 * A unit for display: `request` for `{request}`, `bytes` for `By`, nothing for `1`.
 *
 * @param unit UCUM, as in OpenTelemetry
 */
export function unitName(unit: string): string {
  if (unit === '1') return '';
  return unit === 'By' ? 'bytes' : unit.replace(/\{([^}]*)\}/g, '$1');
}

/**
 * A value with its unit (UCUM): `1.5 KB` for `By`, `12 requests` for `{request}`.
 *
 * @param isRate whether it is per second
 */
export function formatMeasured(value: number, unit: string, isRate = false): string {
  const number = Math.abs(value) >= COMPACT_FROM ? COMPACT.format(value) : MEASURED.format(value);
  const isPlural = value !== 1 && /^\{[a-z_ ]*[a-rt-z]\}$/i.test(unit);
  const name = `${unitName(unit)}${isPlural ? 's' : ''}`;
  if (unit === 'By' && value >= 0) return `${formatBytes(value)}${isRate ? '/s' : ''}`;
  return `${number}${name === '' ? '' : ` ${name}`}${isRate ? '/s' : ''}`;
}
