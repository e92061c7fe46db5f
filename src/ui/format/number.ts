/** How figures are shown, the same everywhere. Null is not shown here: `parts/Missing.tsx` shows a dash with its reason. */

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

/** From here on three digits say enough. */
const COMPACT_FROM = 100_000;
const SMALLEST_MONEY = 0.000_001;

/** `1,234`; `1.23M` from a hundred thousand on. */
export function formatCount(value: number): string {
  return Math.abs(value) >= COMPACT_FROM ? COMPACT.format(value) : WHOLE.format(value);
}

/** Every digit: `1,234,567`. */
export function formatExact(value: number): string {
  return WHOLE.format(value);
}

/** `1 run`, `2 runs`. @param plural where an `s` is not enough */
export function formatCounted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/**
 * US dollars with the digits that matter: cents from a dollar on, three digits below it, none from a thousand on. Zeros at
 * the end say that the amount was rounded to them: `$0.0500` is about five cents, `$0.05` just that.
 *
 * @param usd dollars; below a millionth there is only `<$0.000001`
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

/** Whether a text says less than its value, beyond what sums of decimals are off by. */
function isRounded(text: string, value: number): boolean {
  return Math.abs(Number(text) - value) > Math.abs(value) * 1e-9;
}

/** `0.3` as `0.30`; what is not just that, as `0.300`. */
function small(size: number): string {
  const text = SMALL.format(size);
  if (isRounded(text, size)) return SMALL_ROUNDED.format(size);
  return /\.\d$/.test(text) ? `${text}0` : text;
}

/** A share of 100: `12.5%`, `80%`, `80.0%` if rounded, `111%`. */
export function formatPercentage(percentage: number): string {
  if (percentage > 0 && percentage < 0.1) return '<0.1%';
  if (percentage < 100 && percentage > 99.9) return '>99.9%';
  if (Math.abs(percentage) >= 100) return `${formatCount(percentage)}%`;
  const text = percentage.toFixed(1);
  return `${isRounded(text, percentage) ? text : String(Number(text))}%`;
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** `512 B`, `64 KB`, `1.2 MB`, by 1024. */
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

/** A unit as people say it: `request` of `{request}`, `bytes` of `By`, nothing of `1`. @param unit UCUM, as OpenTelemetry writes it */
export function unitName(unit: string): string {
  if (unit === '1') return '';
  return unit === 'By' ? 'bytes' : unit.replace(/\{([^}]*)\}/g, '$1');
}

/**
 * A measured value with its unit as OpenTelemetry writes it (UCUM): `1.5 KB` of `By`, `12 request` of `{request}`.
 *
 * @param isRate whether it is of a second
 */
export function formatMeasured(value: number, unit: string, isRate = false): string {
  const number = Math.abs(value) >= COMPACT_FROM ? COMPACT.format(value) : MEASURED.format(value);
  const name = unitName(unit);
  if (unit === 'By' && value >= 0) return `${formatBytes(value)}${isRate ? '/s' : ''}`;
  return `${number}${name === '' ? '' : ` ${name}`}${isRate ? '/s' : ''}`;
}
