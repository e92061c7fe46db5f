import { InvalidArgumentError } from 'commander';
import { isUuid, uuidOfDigits } from '../signal/ids.js';

/**
 * Parses an argument that is an id.
 *
 * @throws InvalidArgumentError
 */
export function readId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be an id (a UUID), as the list shows it.');
  return text.toLowerCase();
}

/**
 * Parses an argument that is the id of a run, in any of its forms.
 *
 * @returns a UUID
 * @throws InvalidArgumentError
 */
export function readTraceId(text: string): string {
  const digits = text.toLowerCase().replaceAll('-', '');
  if (/^[0-9a-f]{32}$/.test(digits)) return uuidOfDigits(digits);
  throw new InvalidArgumentError('It must be the id of a run: a UUID, or 32 hexadecimal digits.');
}
