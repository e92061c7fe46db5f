import type { Payload } from '../../src/runs/rules/payload.js';

/** A payload of JSON texts: input, output and metadata with tabs between them, each of them empty for null. */
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

/** What {@link payloadOf} was given. */
export function payloadText({ input, output, metadata }: Payload): string {
  return [input, output, metadata]
    .map((part) => (part === null ? '' : Buffer.from(part).toString()))
    .join('\t');
}
