import { InvalidArgumentError } from 'commander';
import { isUuid } from '../signal/ids.js';

/**
 * Parses an argument that is an id.
 *
 * @throws InvalidArgumentError
 */
export function readId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be an id (a UUID), as the list shows it.');
  return text.toLowerCase();
}
