import type { CostPart, SummedPart, UsageParts } from './call-details.js';

/** The tokens of one call. Whole numbers. */
export interface Tokens {
  /** Including cached and audio tokens. */
  readonly input: number;
  /** Including reasoning and audio tokens. */
  readonly output: number;
  readonly cachedRead: number;
  /** Includes the writes of every lifetime. */
  readonly cachedWrite: number;
  readonly cachedWrite5m: number;
  readonly cachedWrite1h: number;
  readonly audioInput: number;
  readonly audioOutput: number;
}

/** The tokens that a span reports; null if not reported. */
export interface ReportedTokens {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
}

/**
 * The output tokens of a call including its reasoning. Gemini counts thoughts in addition to the output, all other providers within
 * it. Thoughts are counted in addition if the total is the sum of all three, or if they exceed the output.
 */
export function outputWithThoughts(
  { input_tokens: input, output_tokens: output, total_tokens: total }: ReportedTokens,
  reasoning: number | null | undefined,
): number | null {
  if (output === null || !reasoning) return output;
  const sum = (input ?? 0) + output;
  const isBeside = total === sum + reasoning || (reasoning > output && total !== sum);
  return isBeside ? output + reasoning : output;
}

/** The tokens of a call for pricing. A missing input or output is the total minus the other. */
export function tokensOfCall(
  { input_tokens, output_tokens, total_tokens }: ReportedTokens,
  usage: UsageParts | null,
): Tokens {
  const rest = (part: number) => Math.max(0, (total_tokens ?? 0) - part);
  const output = output_tokens ?? (input_tokens === null ? 0 : rest(input_tokens));
  return {
    input: input_tokens ?? rest(output),
    output,
    cachedRead: usage?.cached_read ?? 0,
    cachedWrite: usage?.cached_write ?? 0,
    cachedWrite5m: usage?.cached_write_5m ?? 0,
    cachedWrite1h: usage?.cached_write_1h ?? 0,
    audioInput: usage?.audio_input ?? 0,
    audioOutput: usage?.audio_output ?? 0,
  };
}

/** The input length, which selects the rates. Some clients report only the input outside the caches. */
export function inputLength({ input, cachedRead, cachedWrite }: Tokens): number {
  return Math.max(input, cachedRead + cachedWrite);
}

/**
 * Assigns every token to one part. Some clients report only the input outside the caches; then no uncached input remains here.
 */
export function summedTokens(tokens: Tokens): Record<SummedPart, number> {
  const { input, output, cachedRead, cachedWrite } = tokens;
  const fresh = Math.max(0, input - cachedRead - cachedWrite);
  // Cached audio costs the same as cached text.
  const audioInput = Math.min(tokens.audioInput, fresh);
  const audioOutput = Math.min(tokens.audioOutput, output);
  return {
    input: fresh - audioInput,
    cached_read: cachedRead,
    cached_write: cachedWrite,
    audio_input: audioInput,
    output: output - audioOutput,
    audio_output: audioOutput,
  };
}

/** The same parts with cache writes by lifetime: `cached_write` has the writes of unknown lifetime. */
export function tokensByPart(tokens: Tokens): Record<CostPart, number> {
  const { input, cached_read, cached_write, audio_input, output, audio_output } = summedTokens(tokens);
  const hour = Math.min(tokens.cachedWrite1h, cached_write);
  const minutes = Math.min(tokens.cachedWrite5m, cached_write - hour);
  return {
    input,
    cached_read,
    cached_write: cached_write - hour - minutes,
    cached_write_5m: minutes,
    cached_write_1h: hour,
    audio_input,
    output,
    audio_output,
  };
}
