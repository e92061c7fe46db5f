import type { JsonValue } from '../../signal/attributes.js';
import { FIELDS, type Field, type Shape } from './conventions/convention.js';
import { usageInEvent, type Role } from './conventions/general.js';
import { fieldNumber, USES, type PrefixUse, type Use } from './conventions/sources.js';
import { unflatten } from './unflatten.js';
import type { Provenance } from './provenance.js';

const NONE = 255;
const INPUT = fieldNumber('input');
const OUTPUT = fieldNumber('output');
/** The source of messages assembled from events. */
const OF_EVENTS = 'gen_ai.*.message, gen_ai.choice (events)';

/** A payload that was found, not yet parsed. */
export interface FoundPayload {
  readonly value: JsonValue;
  readonly shape: Shape;
  /** {@link SpanReading.source} */
  readonly source: string;
}

interface Candidate extends FoundPayload {
  readonly rank: number;
}

/** Fields that fall back to the next source if the best one turns out to be empty. */
type Payload = 'input' | 'output';

/**
 * The values of one span's attributes. Each attribute is looked up once; for each field the best source is kept. One reading is
 * reused for all spans of a request.
 */
export class SpanReading {
  readonly #ranks = new Uint8Array(FIELDS.length).fill(NONE);
  readonly #values: JsonValue[] = FIELDS.map(() => null);
  readonly #shapes: Shape[] = FIELDS.map(() => 'whole');
  readonly #sources: string[] = FIELDS.map(() => '');
  /** Parts of lists and groups, by their field. */
  readonly #parts = new Map<PrefixUse, [path: string, value: JsonValue][]>();
  /** Inputs and outputs with a worse rank than the best. */
  readonly #outdone: Readonly<Record<Payload, Candidate[]>> = { input: [], output: [] };

  /** Receives the rules that set the values of a span. Undefined during ingestion. */
  readonly provenance: Provenance | undefined;

  constructor(provenance?: Provenance) {
    this.provenance = provenance;
  }

  /** Clears the previous span. */
  begin(): void {
    this.#ranks.fill(NONE);
    if (this.#parts.size > 0) this.#parts.clear();
    if (this.#outdone.input.length > 0) this.#outdone.input.length = 0;
    if (this.#outdone.output.length > 0) this.#outdone.output.length = 0;
  }

  /** @param role the attribute's, by its key */
  attribute(role: Role, value: JsonValue): void {
    if (role?.is === 'source') {
      for (const use of role.uses) this.#use(use, use.rank, value);
    } else if (role?.is === 'part') {
      const { use, path } = role;
      const parts = this.#parts.get(use);
      if (parts) parts.push([path, value]);
      else this.#parts.set(use, [[path, value]]);
    }
  }

  /** An attribute of an event that belongs to the span itself. @param rank overrides that of the source */
  eventAttribute(key: string, value: JsonValue, rank?: number): void {
    for (const use of USES.get(key) ?? usageInEvent(key)) this.#use(use, rank ?? use.rank, value);
  }

  /** Messages assembled from events. */
  messages(field: Payload, messages: JsonValue[], rank: number): void {
    this.#offer(fieldNumber(field), rank, messages, 'messages', OF_EVENTS);
  }

  /** Call after the last attribute: adds lists and groups as sources. */
  end(): void {
    for (const [use, parts] of this.#parts) {
      if (use.rank <= (this.#ranks[use.field] ?? NONE) || isPayload(use.field))
        this.#offer(use.field, use.rank, unflatten(parts), use.shape, use.key);
    }
  }

  has(field: Field): boolean {
    return this.#ranks[fieldNumber(field)] !== NONE;
  }

  text(field: Field): string | null {
    const value = this.value(field);
    return typeof value === 'string' ? value : null;
  }

  count(field: Field): number | null {
    const value = this.value(field);
    return typeof value === 'number' ? value : null;
  }

  value(field: Field): JsonValue {
    const number = fieldNumber(field);
    return this.#ranks[number] === NONE ? null : (this.#values[number] ?? null);
  }

  payload(field: Field): FoundPayload | undefined {
    const number = fieldNumber(field);
    if (this.#ranks[number] === NONE) return undefined;
    return this.#known(number);
  }

  /** The key of the attribute that sets a field, for a list in parts its prefix; empty if absent. */
  source(field: Field): string {
    const number = fieldNumber(field);
    return this.#ranks[number] === NONE ? '' : (this.#sources[number] ?? '');
  }

  /** All sources found for a payload, best first. */
  payloads(field: Payload): readonly FoundPayload[] {
    const best = this.payload(field);
    if (best === undefined) return [];
    const outdone = this.#outdone[field];
    return outdone.length === 0 ? [best] : [best, ...outdone.toSorted((a, b) => a.rank - b.rank)];
  }

  #use(use: Use, rank: number, value: JsonValue): void {
    if (rank > (this.#ranks[use.field] ?? NONE) && !isPayload(use.field)) return;
    const read = use.read(value);
    if (read !== undefined) this.#offer(use.field, rank, read, use.shape, use.key);
  }

  #known(field: number): FoundPayload {
    return {
      value: this.#values[field] ?? null,
      shape: this.#shapes[field] ?? 'whole',
      source: this.#sources[field] ?? '',
    };
  }

  #offer(field: number, rank: number, value: JsonValue, shape: Shape, source: string): void {
    const known = this.#ranks[field] ?? NONE;
    const outdone =
      field === INPUT ? this.#outdone.input : field === OUTPUT ? this.#outdone.output : undefined;
    if (rank > known) {
      outdone?.push({ rank, value, shape, source });
      return;
    }
    if (outdone !== undefined && known !== NONE) outdone.push({ rank: known, ...this.#known(field) });
    this.#ranks[field] = rank;
    this.#values[field] = value;
    this.#shapes[field] = shape;
    this.#sources[field] = source;
  }
}

function isPayload(field: number): boolean {
  return field === INPUT || field === OUTPUT;
}
