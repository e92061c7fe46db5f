import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../signal/time.js';
import type { BatchLimits } from '../config.js';
import { amountOf, itemCount, type Amount } from '../../../signal/amount.js';
import { joined, recordsOf, type AnyBatch, type RawRequest } from '../../../signal/raw-batch.js';
import type { BatchCodec, EncodedItems, ReadBatch } from './batch-codec.js';
import { frame, readHead, recordBytes, type Head } from './frame.js';

/** The description of a batch in its record. */
export interface About {
  /** Identifies a repeat for the receiver. */
  readonly id: string;
  readonly tenant: string;
  readonly receivedAt: Micros;
  readonly queuedAt: Micros;
  /** How many spans, points or records it has; absent if that is how many items. */
  readonly contents?: number;
}

/** The header of a record for a batch of this amount. */
export function aboutOf(batch: Omit<About, 'contents'>, { items, contents }: Amount): About {
  return contents === items ? batch : { ...batch, contents };
}

/** A batch that is to be written. */
export interface Offer {
  readonly batch: AnyBatch;
  readonly receivedAt: Micros;
  readonly queuedAt: Micros;
  /** Where it has a name already; without one it may be put together with others. */
  readonly id?: string | undefined;
}

/** A record to write. */
export interface NewRecord extends ReadBatch {
  readonly about: About;
  readonly pieces: readonly [Buffer, Uint8Array];
  readonly head: Head;
}

/** Groups offers to be merged: unnamed ones of one user. */
interface Unit<Member> {
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
    items += itemCount(offer.batch);
    return index > 0 && items > maxItems;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/** Batches of one user, ready to be written. */
export interface PackedUnit<Member> {
  /** The tenant of all items. */
  readonly tenant: string;
  readonly members: readonly Member[];
  readonly records: readonly NewRecord[];
  /** Of the records on disk. */
  readonly bytes: number;
}

/** Puts batches together, and packs them at the same time, since that is the work of other threads. */
export async function packed<Member extends { readonly offer: Offer }>(
  group: readonly Member[],
  codec: BatchCodec,
  limits: BatchLimits,
): Promise<readonly PackedUnit<Member>[]> {
  const units = together(group, limits).map(async ({ offer, members }) => {
    const records = await diskRecords(offer, codec, limits);
    return {
      tenant: offer.batch.tenant,
      members,
      records,
      bytes: records.reduce((sum, { head }) => sum + recordBytes(head), 0),
    };
  });
  return Promise.all(units);
}

/** Puts batches together, up to the limits. Their order among those of one user stays. */
function together<Member extends { readonly offer: Offer }>(
  group: readonly Member[],
  limits: BatchLimits,
): readonly Unit<Member>[] {
  const units: { readonly offers: Offer[]; readonly members: Member[]; items: number; bytes: number }[] = [];
  const open = new Map<string, (typeof units)[number]>();
  for (const waiting of group) {
    const { offer } = waiting;
    const { tenant } = offer.batch;
    const items = itemCount(offer.batch);
    // What items take shows when they are serialized; then they are parted again.
    const bytes = offer.batch.kind === 'raw' ? offer.batch.request.bytes.length : 0;
    const unit = open.get(tenant);
    const fits =
      unit !== undefined &&
      unit.offers[0]?.batch.kind === offer.batch.kind &&
      unit.items + items <= limits.maxItems &&
      unit.bytes + bytes <= limits.maxBytes;
    if (offer.id === undefined && fits) {
      unit.offers.push(offer);
      unit.members.push(waiting);
      unit.items += items;
      unit.bytes += bytes;
      continue;
    }
    const made = { offers: [offer], members: [waiting], items, bytes };
    units.push(made);
    if (offer.id === undefined) open.set(tenant, made);
  }
  return units.map(({ offers, members }) => ({ offer: oneOf(offers), members }));
}

/** @param offers of one user, and of one kind: at least one */
function oneOf(offers: readonly Offer[]): Offer {
  const [first, ...rest] = offers;
  if (first === undefined) throw new Error('nothing is to be put together');
  return { ...first, batch: joined([first.batch, ...rest.map(({ batch }) => batch)]) };
}

/** Splits a batch into records, several if it is too large for one. Their names derive from the batch's name, if it has one. */
async function diskRecords(
  offer: Offer,
  codec: BatchCodec,
  limits: BatchLimits,
  part = '',
): Promise<readonly NewRecord[]> {
  const { batch } = offer;
  const { tenant } = batch;
  if (batch.kind === 'raw' && fitsOne(batch.request, limits))
    return [recordOf(offer, codec, await codec.packRequest(tenant, batch.request), part)];
  const records = recordsOf(batch);
  const { items } = records;
  const plain = codec.serialize(items);
  if (items.length > 1 && (plain.length > limits.maxBytes || items.length > limits.maxItems)) {
    const middle = items.length >> 1;
    const halves = [items.slice(0, middle), items.slice(middle)];
    const parts: NewRecord[] = [];
    for (const [index, half] of halves.entries())
      parts.push(
        ...(await diskRecords(
          { ...offer, batch: { tenant, items: half } },
          codec,
          limits,
          `${part}.${index}`,
        )),
      );
    return parts;
  }
  return [recordOf(offer, codec, { ...codec.pack(plain), batch: records, bytes: plain.length }, part)];
}

/** Whether a request need not be decoded to be split. */
function fitsOne({ items, bytes }: RawRequest, { maxItems, maxBytes }: BatchLimits): boolean {
  return items === 1 || (items <= maxItems && bytes.length <= maxBytes);
}

function recordOf(
  offer: Offer,
  { signal }: BatchCodec,
  encoded: EncodedItems & ReadBatch,
  part: string,
): NewRecord {
  const { receivedAt, queuedAt } = offer;
  const { content, packing, batch, bytes } = encoded;
  const id = offer.id === undefined ? randomUUID() : `${offer.id}${part}`;
  const amount = amountOf(batch, signal);
  const about = aboutOf({ id, tenant: batch.tenant, receivedAt, queuedAt }, amount);
  const pieces = frame(about, content, { packing, items: amount.items });
  const head = readHead(pieces[0], 0);
  if (head === undefined) throw new Error('the head of a new record cannot be read back');
  return { about, batch, bytes, pieces, head };
}
