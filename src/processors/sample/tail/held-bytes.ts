import { approximateBytes } from '../../../delivery/queue/memory-size.js';
import { replaceSent, sentOf, type SentOrigin } from '../../../signal/sent-span.js';
import type { SpanRecord } from '../../../signal/span.js';
import type { TraceRecord } from '../../../signal/trace.js';

/** What else a record and its place in the lists take. */
const RECORD_BYTES = 400;

/** Roughly how much memory a part of a run takes while it is held. */
export function heldBytes({ trace, spans }: TraceRecord): number {
  return spans.reduce((sum, span) => sum + spanBytes(span), RECORD_BYTES + approximateBytes(trace));
}

function spanBytes(span: SpanRecord): number {
  const sent = sentOf(span);
  let bytes = RECORD_BYTES + (sent?.bytes.length ?? 0);
  for (const key of Object.keys(span) as (keyof SpanRecord)[])
    // Of what was sent it would be made only to be measured.
    if (key !== 'metadata' || sent === undefined) bytes += approximateBytes(span[key]);
  return bytes;
}

/** Copies what spans have of the requests that brought them, which would otherwise be kept as a whole for one of their spans. */
export class Unpinned {
  readonly #origins = new WeakMap<SentOrigin, SentOrigin>();

  take({ spans }: TraceRecord): void {
    for (const span of spans) {
      const sent = sentOf(span);
      if (sent === undefined) continue;
      replaceSent(span, { ...sent, bytes: copied(sent.bytes), origin: this.#origin(sent.origin) });
    }
  }

  #origin(origin: SentOrigin): SentOrigin {
    let known = this.#origins.get(origin);
    if (known === undefined) {
      known = { ...origin, bytes: copied(origin.bytes) };
      this.#origins.set(origin, known);
      this.#origins.set(known, known);
    }
    return known;
  }
}

/** Where it is a small part of something larger. */
function copied(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2 * bytes.length ? Uint8Array.from(bytes) : bytes;
}
