import type { SentOrigin, SentSpan } from '../../signal/sent-span.js';
import { readSentOrigin } from '../map/span-metadata.js';
import { resourceSpansType } from '../wire/messages.js';
import { isPlainSpan } from '../wire/plain-span.js';
import { isAsSent } from './sent-span.js';
import type { KeptFields } from './span.js';

/** Tags of fields that hold messages: `resource_spans` of a request, `scope_spans` of those, `spans` of those. */
const RESOURCE_SPANS = 0x0a;
const SCOPE_SPANS = 0x12;
const SPANS = 0x12;

interface Group {
  readonly origin: SentOrigin;
  readonly pieces: Uint8Array[];
  /** Total size of the pieces. */
  bytes: number;
}

/**
 * The unchanged spans of a batch, as a part of a protobuf request: their bytes are neither decoded nor encoded again, which would take
 * ten times as long.
 */
export class VerbatimSpans {
  readonly #groups = new Map<string, Group>();
  readonly #byOrigin = new Map<SentOrigin, Group>();

  /** Adds a span if its bytes can be sent unchanged. @returns whether it was added */
  take(span: KeptFields, sent: SentSpan): boolean {
    if (!isAsSent(span, sent) || !isPlainSpan(sent.bytes)) return false;
    const group = this.#groupOf(sent.origin);
    const head = prefix(SPANS, sent.bytes.length);
    group.pieces.push(head, sent.bytes);
    group.bytes += head.length + sent.bytes.length;
    return true;
  }

  /** A request of the collected spans, in pieces; more pieces may be appended to it. */
  pieces(): readonly Uint8Array[] {
    return [...this.#groups.values()].flatMap(({ origin, pieces, bytes }) => {
      const { scopeSpans, ...resource } = readSentOrigin(origin.bytes);
      const resourceHead = resourceSpansType.encode(resource).finish();
      const scopeHead = inside(
        resourceSpansType.encode({ scopeSpans: [{ ...scopeSpans?.[0], spans: [] }] }).finish(),
      );
      const scope = prefix(SCOPE_SPANS, scopeHead.length + bytes);
      const length = resourceHead.length + scope.length + scopeHead.length + bytes;
      return [prefix(RESOURCE_SPANS, length), resourceHead, scope, scopeHead, ...pieces];
    });
  }

  #groupOf(origin: SentOrigin): Group {
    const known = this.#byOrigin.get(origin);
    if (known !== undefined) return known;
    const key = Buffer.from(origin.bytes).toString('latin1');
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = { origin, pieces: [], bytes: 0 }));
    this.#byOrigin.set(origin, group);
    return group;
  }
}

/** The tag and length before a nested message. */
function prefix(tag: number, length: number): Uint8Array {
  const bytes = [tag];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** The only field of a message, without its tag and its length. */
function inside(message: Uint8Array): Uint8Array {
  let at = 1;
  while ((message[at] ?? 0) >= 0x80) at++;
  return message.subarray(at + 1);
}
