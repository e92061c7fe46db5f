import type { Payload } from '../../src/runs/rules/payload.js';

/** Encodes input, output and metadata as JSON texts separated by tabs; null is empty. */
export function payloadOf(text: string): Payload {
  const [input, output, metadata] = [0, 1, 2].map((i) => {
    const part = text.split('\t')[i] ?? '';
    return part === '' ? null : new Uint8Array(Buffer.from(part));
  });
  return {
    input: input ?? null,
    output: output ?? null,
    metadata: metadata ?? null,
    sent: null,
    origin: null,
  };
}

/** The input of {@link payloadOf}. */
export function payloadText({ input, output, metadata }: Payload): string {
  return [input, output, metadata]
    .map((part) => (part === null ? '' : Buffer.from(part).toString()))
    .join('\t');
}
