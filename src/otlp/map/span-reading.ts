import type { JsonValue } from '../../signal/attributes.js';
import { FIELDS, type Field, type Shape } from './conventions/convention.js';
import type { Role } from './attribute-shapes.js';
import { fieldNumber, USES, type PrefixUse, type Use } from './conventions/sources.js';
import { unflatten } from './unflatten.js';

const NONE = 255;

/** A payload that was found, not yet parsed. */
export interface FoundPayload {
  readonly value: JsonValue;
  readonly shape: Shape;
}

/**
 * What the attributes of one span say. Each attribute is looked up once; of each field the best source is kept. One reading
 * serves all spans of a request, one after the other.
 */
export class SpanReading {
  readonly #ranks = new Uint8Array(FIELDS.length).fill(NONE);
  readonly #values: JsonValue[] = FIELDS.map(() => null);
  readonly #shapes: Shape[] = FIELDS.map(() => 'whole');
  /** Of lists and groups their parts, by what they are a part of. */
  readonly #parts = new Map<PrefixUse, [path: string, value: JsonValue][]>();
  /** Forgets the span before. */
  begin(): void {
    this.#ranks.fill(NONE);
    if (this.#parts.size > 0) this.#parts.clear();
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

  /** An attribute of an event that belongs to the span itself. Payloads and what goes with them count, as of that rank. */
  eventAttribute(key: string, value: JsonValue, rank: number): void {
    for (const use of USES.get(key) ?? []) this.#use(use, rank, value);
  }

  /** Messages that were put together from events. */
  messages(field: 'input' | 'output', messages: JsonValue[], rank: number): void {
    const number = fieldNumber(field);
    if (rank <= (this.#ranks[number] ?? NONE)) this.#take(number, rank, messages, 'messages');
  }

  /** To be called after the last attribute: lists and groups take part with the others. */
  end(): void {
    for (const [use, parts] of this.#parts)
      if (use.rank <= (this.#ranks[use.field] ?? NONE))
        this.#take(use.field, use.rank, unflatten(parts), use.shape);
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
    return { value: this.#values[number] ?? null, shape: this.#shapes[number] ?? 'whole' };
  }

  #use(use: Use, rank: number, value: JsonValue): void {
    if (rank > (this.#ranks[use.field] ?? NONE)) return;
    const read = use.read(value);
    if (read !== undefined) this.#take(use.field, rank, read, use.shape);
  }

  #take(field: number, rank: number, value: JsonValue, shape: Shape): void {
    this.#ranks[field] = rank;
    this.#values[field] = value;
    this.#shapes[field] = shape;
  }
}
