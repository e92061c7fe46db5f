import type { ErrorObject } from 'ajv';

/**
 * The requirement of a violated schema rule, as the rest of a sentence: `must not be empty`. Requests and files share these texts.
 *
 * @returns undefined for all other rules
 */
export function commonFormat({ keyword, params }: ErrorObject): string | undefined {
  const { limit, pattern } = params as Readonly<Record<string, unknown>>;
  switch (keyword) {
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must be at least ${String(limit)} characters long`;
    case 'minItems':
    case 'minProperties':
      return limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} entries`;
    case 'pattern':
      return `must be of the form ${String(pattern)}`;
    default:
      return undefined;
  }
}
