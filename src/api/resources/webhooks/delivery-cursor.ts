import { validationProblem } from '../../../http/field-errors.js';
import { isUuid } from '../../../signal/ids.js';
import type { DeliveryPlace } from '../../../storage/delivery-queue.js';
import { printOpaque, readOpaque } from '../../support/opaque.js';

/** A place in a list of deliveries as an opaque text. */
export function printDeliveryPlace({ created_at, id }: DeliveryPlace): string {
  return printOpaque([created_at, id]);
}

/** @throws HttpProblem 422 where the text was not given by such a list */
export function readDeliveryPlace(text: string): DeliveryPlace {
  const parts = readOpaque(text);
  if (Array.isArray(parts) && parts.length === 2) {
    const [created_at, id] = parts as readonly unknown[];
    if (Number.isSafeInteger(created_at) && typeof id === 'string' && isUuid(id))
      return { created_at: created_at as number, id };
  }
  throw validationProblem('query', [
    { field: 'cursor', message: 'must be the next_cursor of an answer to the same list' },
  ]);
}
