import type { FieldError } from '../component/http.js';
import type { Operation } from '../component/operation.js';
import { UsageError } from './usage-error.js';

/**
 * Translates a daemon's field errors to the command line. An option has the name of its field (`--expires-at`), an argument that
 * of the path placeholder (`<user>`).
 */
export function usageError(operation: Operation, errors: readonly FieldError[]): UsageError {
  const lines = errors.map(({ field, message }) => `${place(operation, field)} ${message}`);
  return new UsageError([...new Set(lines)].join('\njackdaw: '));
}

function place(operation: Operation, field: string): string {
  const [name = ''] = field.replace(/^\//, '').split('/');
  if (name === '') return 'the input';
  const isArgument = Object.hasOwn(operation.params?.properties ?? {}, name);
  // `user_id` is the field of both `--user` and `<user>`, `evaluators` that of `--evaluator`, which is repeated.
  const word = name.replace(/_id$|(?<=^evaluator)s$/, '').replaceAll('_', '-');
  return isArgument ? `<${word}>` : `--${word}`;
}
