import type { Value } from '../connection.js';
import { literal } from '../database.js';

/** A text in quotes, or a parameter's place: texts hold question marks, too. */
const PARTS = /'(?:[^']|'')*'|\?/g;

/**
 * A statement with its values written into it, so that several can go to the database at once.
 *
 * @param sql with a `?` for each value
 * @returns null where a value cannot be written so: SQL text ends at U+0000
 */
export function withLiterals(sql: string, values: readonly Value[]): string | null {
  if (values.some((value) => typeof value === 'string' && value.includes('\0'))) return null;
  let next = 0;
  return sql.replace(PARTS, (part) => (part === '?' ? literalOf(values[next++] ?? null) : part));
}

function literalOf(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return literal(value);
  if (typeof value === 'boolean') return String(value);
  // A number with a point is a DECIMAL, which has fewer digits.
  return Number.isInteger(value) ? String(BigInt(value)) : `'${value}'::DOUBLE`;
}
