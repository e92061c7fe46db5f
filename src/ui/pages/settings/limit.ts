import { ApiError } from '../../api/client.js';

const UNITS = ['', 'k', 'm', 'g', 't'];

/**
 * Parses typed limits for a request body; empty input is left out.
 *
 * @param of.events digits, optionally grouped by spaces or commas
 * @param of.bytes the same, or a size such as `10 GB`, base 1024
 * @throws ApiError that names the invalid field
 */
export function limitsOf({ events, bytes }: { readonly events: string; readonly bytes: string }): {
  readonly monthly_event_limit?: number;
  readonly stored_bytes_limit?: number;
} {
  return {
    ...(events.trim() !== '' && {
      monthly_event_limit: readAs('monthly_event_limit', 'a whole number, such as 100000', wholeOf(events)),
    }),
    ...(bytes.trim() !== '' && {
      stored_bytes_limit: readAs('stored_bytes_limit', 'a size, such as 500 MB or 10 GB', bytesOf(bytes)),
    }),
  };
}

function wholeOf(typed: string): number | undefined {
  const digits = typed.replaceAll(/[\s,_]/g, '');
  const value = Number(digits);
  return /^\d+$/.test(digits) && Number.isSafeInteger(value) ? value : undefined;
}

function bytesOf(typed: string): number | undefined {
  const [, digits = '', unit = ''] = /^([\d\s,_]+)(?:([kmgt]?)i?b)?$/i.exec(typed.trim()) ?? [];
  const value = (wholeOf(digits) ?? NaN) * 1024 ** UNITS.indexOf(unit.toLowerCase());
  return Number.isSafeInteger(value) ? value : undefined;
}

/** @throws ApiError */
function readAs(field: string, expected: string, value: number | undefined): number {
  if (value !== undefined) return value;
  throw new ApiError(422, 'Invalid limit.', undefined, [
    { field: `/${field}`, message: `must be ${expected}` },
  ]);
}
