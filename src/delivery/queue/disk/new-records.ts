import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../signal/time.js';
import type { BatchLimits } from '../config.js';
import type { BatchCodec, KeptBatch } from './batch-codec.js';
import { frame, readHead, type Head } from './frame.js';

/** What a record says of its batch. */
export interface About {
  /** By which the receiver tells a repeat. */
  readonly id: string;
  readonly tenant: string;
  readonly receivedAt: Micros;
  readonly queuedAt: Micros;
}

/** A batch that is to be written. */
export interface Offer {
  readonly batch: KeptBatch;
  readonly receivedAt: Micros;
  readonly queuedAt: Micros;
  /** Where it has a name already; without one it may be put together with others. */
  readonly id?: string | undefined;
}

/** A record as it is about to be written. */
export interface NewRecord {
  readonly about: About;
  readonly items: unknown[];
  readonly pieces: readonly [Buffer, Uint8Array];
  readonly head: Head;
  readonly bytes: number;
}

/** What becomes one batch: those of one user that have no names of their own. */
export interface Unit<Member> {
  readonly offer: Offer;
  readonly members: readonly Member[];
}

/** Takes off the first ones that have up to so many items; the first in any case. */
export function takeGroup<Member extends { readonly offer: Offer }>(
  waiting: Member[],
  maxItems: number,
): readonly Member[] {
  let items = 0;
  const end = waiting.findIndex(({ offer }, index) => {
    items += offer.batch.items.length;
    return index > 0 && items > maxItems;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/** Puts batches together, up to a number of items. Their order among those of one user stays. */
export function together<Member extends { readonly offer: Offer }>(
  group: readonly Member[],
  maxItems: number,
): readonly Unit<Member>[] {
  const units: { offer: Offer; readonly members: Member[] }[] = [];
  const open = new Map<string, (typeof units)[number]>();
  for (const waiting of group) {
    const { offer } = waiting;
    const { tenant, items } = offer.batch;
    const unit = open.get(tenant);
    if (offer.id === undefined && unit && unit.offer.batch.items.length + items.length <= maxItems) {
      unit.offer = { ...unit.offer, batch: { tenant, items: [...unit.offer.batch.items, ...items] } };
      unit.members.push(waiting);
      continue;
    }
    const made = { offer, members: [waiting] };
    units.push(made);
    if (offer.id === undefined) open.set(tenant, made);
  }
  return units;
}

/** A batch as records: in parts where it is too large for one. Their names follow from its name, if it has one. */
export async function recordsOf(
  offer: Offer,
  codec: BatchCodec,
  limits: BatchLimits,
  part = '',
): Promise<readonly NewRecord[]> {
  const { tenant, items } = offer.batch;
  const plain = codec.serialize(items);
  if (items.length > 1 && (plain.length > limits.maxBytes || items.length > limits.maxItems)) {
    const middle = items.length >> 1;
    const halves = [items.slice(0, middle), items.slice(middle)];
    const parts: NewRecord[] = [];
    for (const [index, half] of halves.entries())
      parts.push(
        ...(await recordsOf({ ...offer, batch: { tenant, items: half } }, codec, limits, `${part}.${index}`)),
      );
    return parts;
  }
  const { content, packing } = await codec.pack(plain);
  const { receivedAt, queuedAt } = offer;
  const id = offer.id === undefined ? randomUUID() : `${offer.id}${part}`;
  const about: About = { id, tenant, receivedAt, queuedAt };
  const pieces = frame(about, content, { packing, items: items.length });
  const head = readHead(pieces[0], 0);
  if (head === undefined) throw new Error('a record was not made as it is read');
  return [{ about, items, pieces, head, bytes: plain.length }];
}
