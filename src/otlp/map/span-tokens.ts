import { outputWithThoughts } from '../../signal/call-tokens.js';
import type { Origin } from '../../signal/origin.js';
import { cachedWrites } from './call-details.js';
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

const NONE: Tokens = { input: null, output: null, total: null };

/**
 * The tokens from attributes. Input is the total: cache reads and writes are added if a client counts them separately, as Anthropic
 * does. Output includes thoughts, which Gemini counts separately.
 */
export function tokensOf(reading: SpanReading, origin: Origin, type: SpanType): Tokens {
  if (repeatsUsage(reading, origin, type)) return NONE;
  const tokens = withCaches(reading, origin);
  const output = withThoughts(tokens, reading);
  if (output === tokens.output) return tokens;
  reading.provenance?.decided('output_tokens', 'reported without thoughts');
  return { ...tokens, output };
}

/** Whether the usage of a span is that of other spans, or of all runs of its agent so far. */
export function repeatsUsage(reading: SpanReading, { scope }: Origin, type: SpanType): boolean {
  return reading.has('repeats_usage') || (type === 'agent' && RUNNING_TOTALS.has(scope?.name));
}

const GEMINI = /gemini/i;

function withThoughts({ input, output, total }: Tokens, reading: SpanReading): number | null {
  const reasoning = reading.count('reasoning');
  const missing = total === null || input === null || output === null ? 0 : total - input - output;
  // Thoughts are all that is missing in a total of Gemini, unless they are reported and tools had a prompt as well.
  if (missing > 0 && missing >= (reasoning ?? 0) && GEMINI.test(reading.text('model') ?? ''))
    return (output ?? 0) + (reasoning ?? missing);
  return outputWithThoughts({ input_tokens: input, output_tokens: output, total_tokens: total }, reasoning);
}

function withCaches(reading: SpanReading, { scope }: Origin): Tokens {
  const input = reading.count('input_tokens');
  const output = reading.count('output_tokens');
  const total = reading.count('total_tokens');
  if (input === null) return { input, output, total };
  const cached = (reading.count('cached_read') ?? 0) + (cachedWrites(reading) ?? 0);
  if (cached === 0) return { input, output, total };
  const sum = input + (output ?? 0);
  const isSeparate = cached > input || total === sum + cached || SEPARATE_CACHES.has(scope?.name);
  if (!isSeparate) return { input, output, total };
  reading.provenance?.decided('input_tokens', 'reported without cached tokens');
  return { input: input + cached, output, total: total === sum ? sum + cached : total };
}
