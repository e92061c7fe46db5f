import type { Origin } from '../../signal/origin.js';
import { CONVENTIONS } from './clients/index.js';
import type { SpanType } from '../../signal/span.js';
import type { SpanReading } from './span-reading.js';

const SEPARATE_CACHES: ReadonlySet<unknown> = new Set(
  CONVENTIONS.flatMap(({ separateCaches }) => separateCaches ?? []),
);
const RUNNING_TOTALS: ReadonlySet<unknown> = new Set(
  CONVENTIONS.flatMap(({ runningTotals }) => runningTotals ?? []),
);

interface Tokens {
  readonly input: number | null;
  readonly output: number | null;
  /** If null, the store adds input and output. */
  readonly total: number | null;
}

/**
 * The tokens from attributes. Input is the total: cache reads and writes are added if a client counts them separately, as Anthropic
 * does.
 */
export function tokensOf(reading: SpanReading, { scope }: Origin, type: SpanType): Tokens {
  if (type === 'agent' && RUNNING_TOTALS.has(scope?.name)) return { input: null, output: null, total: null };
  const input = reading.count('input_tokens');
  const output = reading.count('output_tokens');
  const total = reading.count('total_tokens');
  if (input === null) return { input, output, total };
  const cached = (reading.count('cached_read') ?? 0) + (reading.count('cached_write') ?? 0);
  if (cached === 0) return { input, output, total };
  const sum = input + (output ?? 0);
  const isSeparate = cached > input || total === sum + cached || SEPARATE_CACHES.has(scope?.name);
  if (!isSeparate) return { input, output, total };
  reading.provenance?.decided('input_tokens', 'reported without cached tokens');
  return { input: input + cached, output, total: total === sum ? sum + cached : total };
}
