import type { FieldError } from '../component/http.js';
import type { Operation } from '../component/operation.js';
import { UsageError } from './usage-error.js';

/**
 * What a daemon says about the fields of a request, in the words of the command line that they came from: an option is
 * named like its field, `--expires-at`, an argument like the placeholder of the path, `<user>`.
 */
export function usageError(operation: Operation, errors: readonly FieldError[]): UsageError {
  const lines = errors.map(({ field, message }) => `${place(operation, field)} ${message}`);
  return new UsageError([...new Set(lines)].join('\njackdaw: '));
}

function place(operation: Operation, field: string): string {
  const [name = ''] = field.replace(/^\//, '').split('/');
  if (name === '') return 'what was given';
  const isArgument = Object.hasOwn(operation.params?.properties ?? {}, name);
  // `user_id` is given as the id or the address of a user, wherever it is an option or an argument.
  const word = name.replace(/_id$/, '').replaceAll('_', '-');
  return isArgument ? `<${word}>` : `--${word}`;
}
