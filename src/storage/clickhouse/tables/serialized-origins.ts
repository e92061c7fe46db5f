import { serializeJson } from '../../../signal/json.js';
import type { Origin } from '../../../signal/origin.js';
import type { ClickHouseColumn } from './table.js';

/** Resource and scope of a row, as JSON. */
export const ORIGIN: ClickHouseColumn = { name: 'origin', type: 'LowCardinality(String)' };

/** The origins of a batch, each serialized once. */
export class SerializedOrigins {
  readonly #printed = new Map<Origin, string>();

  of(origin: Origin): string {
    const known = this.#printed.get(origin);
    if (known !== undefined) return known;
    const { resource, scope } = origin;
    const printed = serializeJson({ resource, scope });
    this.#printed.set(origin, printed);
    return printed;
  }
}
