import { ApiError } from '../../api/client.js';

/**
 * A limit as somebody typed it, for the body of a request.
 *
 * @param typed digits, also apart by spaces or commas; empty where nothing is said
 * @throws ApiError that names the field where it is no whole number
 */
export function limitOf(typed: string): { readonly monthly_event_limit?: number } {
  const digits = typed.replaceAll(/[\s,_]/g, '');
  if (digits === '') return {};
  const limit = Number(digits);
  if (/^\d+$/.test(digits) && Number.isSafeInteger(limit)) return { monthly_event_limit: limit };
  const message = 'must be a whole number, such as 100000';
  throw new ApiError(422, 'The limit cannot be read.', undefined, [
    { field: '/monthly_event_limit', message },
  ]);
}
