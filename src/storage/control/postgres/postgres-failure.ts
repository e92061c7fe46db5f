import { DatabaseError } from 'pg';
import { DatabaseFailure } from '../database-failure.js';

/** Serialization failure, deadlock. */
const REPEAT = new Set(['40001', '40P01']);
/** Classes of SQLSTATE: a missing feature, data, constraints, the statement itself. */
const FAULTS = /^(0A|22|23|42)/;

/** Converts an error of `pg`, without the row values in PostgreSQL's messages. */
export function postgresFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  if (error instanceof DatabaseError) {
    const { code = 'unknown', constraint, table } = error;
    const at = constraint ?? table;
    const kind = REPEAT.has(code) ? 'repeat' : FAULTS.test(code) ? 'fault' : 'unavailable';
    return new DatabaseFailure(`PostgreSQL error ${code}${at === undefined ? '' : ` (${at})`}`, kind);
  }
  // Errors of the parsers.
  if (error instanceof RangeError) return new DatabaseFailure(error.message, 'fault');
  const text = error instanceof Error ? (codeOf(error) ?? error.message) : String(error);
  return new DatabaseFailure(`PostgreSQL is unreachable: ${text}`, 'unavailable');
}

/** Such as ECONNREFUSED. */
function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
